/** Rules tried on a path: what would be decided, without a look at the journal or the archive. */
import type { Mirror } from "../config/config.ts";
import { type FailureCode, failureOf } from "../domain/failure.ts";
import { METADATA_FIELDS } from "../domain/attributes.ts";
import { decide, type Decided } from "../rules/apply-rules.ts";
import { dirOf, nameOf, shown } from "../std/raw-path.ts";
import type { Facts } from "../rules/values.ts";
import { clause } from "../std/wording.ts";
import { ANSWER_BYTES_MAX, answerOf } from "../rules/answer.ts";
import { questionOf } from "../sync/hook-input.ts";
import type { StatReader } from "./stat-reader.ts";

/** What came of a trial, as `--json` prints it. */
export type Trial = {
  readonly mirror: string;
  /** The archive that the mirror is carried into. */
  readonly archive: string;
  readonly path: string;
  /** Null: the mirror's own settings. */
  readonly rule: string | null;
  readonly folder: string | null;
  readonly sentName: string | null;
  readonly metadata: Readonly<Record<string, { value: string; from: string; cut?: true }>>;
  /** `at` is the day, `sent` what is sent to the archive. */
  readonly expires: { at: string; sent: number | string; from: string } | null;
  /** Why it would not be sent. */
  readonly error: { code: string; message: string; hint: string } | null;
  /** Worth knowing: that it is left out, or what could not be looked at. */
  readonly notes: readonly string[];
};

type Trying = {
  readonly mirror: Mirror;
  readonly facts: Facts;
  readonly notes?: readonly string[];
};

/** Tries the rules of a mirror on a path. */
export function trialOf({ mirror, facts, notes = [] }: Trying): Trial {
  const decision = decide(mirror.rules, mirror.target, facts);
  const base = { mirror: mirror.name, archive: mirror.archive, path: shown(facts.path), notes };
  if ("problem" in decision) {
    const { code, message } = decision.problem;
    return {
      ...base,
      rule: null,
      folder: null,
      sentName: null,
      metadata: {},
      expires: null,
      error: { code, message, hint: failureOf(code).hint },
    };
  }
  const { rule, folder, name, attributes } = decision.decided;
  return {
    ...base,
    rule,
    folder,
    sentName: name.name,
    metadata: attributes?.metadata ?? {},
    expires: expiresOf(attributes),
    error: null,
  };
}

/** The expiry date as people read it. */
export function expiresOf(attributes: Decided["attributes"]): Trial["expires"] {
  const { expiry } = attributes ?? {};
  if (!expiry) return null;
  const { at, sent, from } = expiry;
  return { at: new Date(at).toISOString().slice(0, 10), sent, from };
}

/** A trial for people, a line each; of several archives it is said which one. */
export function trialLines(trial: Trial, hasSeveral: boolean): string[] {
  const lines = [`${trial.mirror}: ${trial.path}`];
  const add = (name: string, text: string) => lines.push(`  ${name.padEnd(12)} ${text}`);
  for (const note of trial.notes) add("note", note);
  if (trial.error) {
    add("held", `${trial.error.code}: ${trial.error.message}; ${clause(trial.error.hint)}`);
    return lines;
  }
  add("rule", trial.rule ?? "none, the mirror's own settings");
  if (hasSeveral) add("archive", trial.archive);
  add("folder", trial.folder ?? "");
  add("sent as", trial.sentName ?? "");
  for (const field of METADATA_FIELDS) {
    const { value, from, cut } = trial.metadata[field] ?? {};
    if (value !== undefined) add(field, `${value} (${from}${cut ? ", cut" : ""})`);
  }
  const { expires } = trial;
  add("expires", expires ? `${expires.at} (${expires.from}), sent as ${expires.sent}` : "never");
  return lines;
}

/** The trial as the hook leaves it; as it is where there is no hook, or nothing to ask about. */
export async function askedHook(
  statReader: StatReader,
  mirror: Mirror,
  facts: Facts,
  trial: Trial,
): Promise<Trial> {
  const hook = mirror.hooks?.before;
  const decision = decide(mirror.rules, mirror.target, facts);
  if (!hook || "problem" in decision) return trial;
  const noted = (note: string): Trial => ({ ...trial, notes: [...trial.notes, note] });
  const { path } = facts;
  const files = [{ path, seen: null }];
  const [found] = await statReader.reader.inspect(statReader.mirrorId, files, { pages: false });
  if (found?.kind !== "whole") return noted("the hook did not run: the file is not complete");
  const place = { dir: dirOf(path), name: nameOf(path) };
  const ended = await statReader.reader.hook({
    command: hook.command,
    timeoutMs: hook.timeoutMs,
    input: questionOf({ settings: mirror }, place, found, decision.decided),
    outputBytesMax: ANSWER_BYTES_MAX,
  });
  const read = "failure" in ended ? { fault: ended.failure } : answerOf(ended.output);
  if ("fault" in read) {
    const message = `the before hook failed: ${read.fault}`;
    return hook.onFailure === "send" ? noted(message) : held(trial, "HOOK_FAILED", message);
  }
  const { answer } = read;
  if (answer.veto !== undefined) return held(trial, "VETOED", answer.veto);
  return trialOf({ mirror, facts: { ...facts, answer }, notes: trial.notes });
}

function held(trial: Trial, code: FailureCode, message: string): Trial {
  return { ...trial, error: { code, message, hint: failureOf(code).hint } };
}
