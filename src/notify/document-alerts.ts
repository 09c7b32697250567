import { failureOf } from "../domain/failure.ts";
import type { Group } from "./situation.ts";
import type { Alert } from "./alert.ts";

/** Held for what is told about by itself, or for what the configuration asks to wait for. */
const TOLD_ELSEWHERE: readonly string[] = [
  "QUOTA_LIMIT",
  "CREDENTIALS_REFUSED",
  "ARCHIVE_CHANGED",
  "SAME_CODE_REPEATS",
  "SOURCE_OFFLINE",
  "FILE_YOUNG",
];

/** Documents that failed, are held for long, or are not converted: an alert for each code. */
export function documentAlerts(groups: readonly Group[], heldAfterMs: number): Alert[] {
  return groups
    .filter(({ state, code }) => state !== "held" || !TOLD_ELSEWHERE.includes(code))
    .flatMap((group) => alertOf(group, heldAfterMs));
}

function alertOf(group: Group, heldAfterMs: number): Alert[] {
  const { state, code, documents, first } = group;
  const many = documents === 1 ? "1 document" : `${documents} documents`;
  const about = {
    detail: `${first.path}: ${first.message}${documents === 1 ? "" : `\nand ${documents - 1} more.`}`,
    hint: failureOf(code).hint,
    size: documents,
    mark: "",
    afterMs: 0,
  };
  if (state === "failed") {
    const title = `${many} failed: ${code}`;
    const over = `No document is failed any more: ${code}`;
    return [{ ...about, kind: "failed", cause: `failed:${code}`, title, over }];
  }
  if (state === "held") {
    const title = `${many} held for long: ${code}`;
    const over = `No document is held any more: ${code}`;
    // `incomplete` was waited for already, and each of them waits for a person.
    if (code === "FILE_INCOMPLETE")
      return [{ ...about, kind: "held", cause: `held:${code}`, title, over }];
    // Another document at the head of the queue: the queue moves. More of them are no news.
    const patience = { mark: `${first.id}`, afterMs: heldAfterMs, size: 1 };
    return [{ ...about, ...patience, kind: "held", cause: `held:${code}`, title, over }];
  }
  if (state !== "uploaded" || code !== "CONVERSION_STUCK") return [];
  const title = `${many} not converted for long`;
  const over = "Every document that was stuck is converted";
  return [{ ...about, kind: "stuck", cause: "stuck", title, over }];
}
