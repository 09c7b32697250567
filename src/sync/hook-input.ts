/** What hooks find on their standard input: one JSON object. Its keys stay; more may come. */
import type { Document } from "../domain/document.ts";
import { metadataOf } from "../domain/attributes.ts";
import type { OutboxEntry } from "../journal/outbox-entry.ts";
import type { Decided } from "../rules/apply-rules.ts";
import { bytesOf, joinRaw, type RawPath, shown, textOf } from "../std/raw-path.ts";
import type { Whole } from "./prepare.ts";
import type { LiveMirror } from "./context.ts";
import { recordOf } from "./record.ts";

/** The version of both forms. */
const VERSION = 1;

/** For a `before` hook: the file, and what the rules decided. */
export function questionOf(
  { settings }: Pick<LiveMirror, "settings">,
  document: Pick<Document, "dir" | "name">,
  { digest, seen }: Whole,
  { rule, folder, name, attributes }: Decided,
): string {
  return written({
    version: VERSION,
    hook: "before",
    mirror: settings.name,
    ...fileOf(settings.source, joinRaw(document.dir, document.name)),
    sha256: digest,
    size: seen.sizeBytes,
    modifiedAt: seen.modifiedAt,
    decided: {
      rule,
      folder,
      name: name.name,
      metadata: metadataOf(attributes),
      expires: attributes?.expiry
        ? new Date(attributes.expiry.at).toISOString().slice(0, 10)
        : null,
    },
  });
}

/**
 * For an `after` hook: the outcome, and the document as `list --json` has it. `document` is the row
 * as it is now, undefined when it is gone: it knows where the file is.
 */
export function newsOf(
  { settings }: LiveMirror,
  outboxEntry: OutboxEntry,
  document: Document | undefined,
): string {
  const { number, at, outcome } = outboxEntry;
  const record = recordOf(outboxEntry.document, settings.name);
  return written({
    version: VERSION,
    hook: "after",
    id: `${at}-${number}`,
    outcome,
    at,
    reason: record.error?.message ?? record.remark,
    ...whereabouts(settings.source, outboxEntry.document, document),
    document: record,
  });
}

/** Where the file is: where it was seen, where an after-action moved it, or nobody knows. */
function whereabouts(source: string, then: Document, now: Document | undefined) {
  const path = joinRaw(then.dir, then.name);
  const moved = now && movedTo(now);
  if (moved?.startsWith("/")) return { ...fileOf(source, path), file: moved, fileBase64: null };
  const isThere = now !== undefined && now.after !== "done" && now.goneAt === null;
  const file = fileOf(source, path);
  return isThere ? file : { ...file, file: null, fileBase64: null };
}

/** The first of what an after-action says; behind it stands what stayed next to, `; d/a.pdf.yaml stayed: …`. */
function movedTo({ dir, name, after, afterMessage }: Document): string | undefined {
  const marker = `; ${shown(joinRaw(dir, name))}.`;
  return after === "done" ? afterMessage?.split(marker)[0] : undefined;
}

/** Names are bytes: `file` is null where they are not text. */
function fileOf(source: string, path: RawPath) {
  const text = textOf(path);
  const bytes = Buffer.concat([Buffer.from(`${source}/`), bytesOf(path)]);
  return {
    path: shown(path),
    file: text === undefined ? null : `${source}/${text}`,
    fileBase64: bytes.toString("base64"),
  };
}

function written(value: object): string {
  return `${JSON.stringify(value)}\n`;
}
