import * as fc from "fast-check";
import { type Document, STATES } from "../../../src/domain/document.ts";
import { ORIGINS, type Attributes } from "../../../src/domain/attributes.ts";
import { rawOf } from "../../../src/std/raw-path.ts";

const text = fc.string();
const count = fc.nat();
const time = fc.double({ noNaN: true, noDefaultInfinity: true });
const maybe = <T>(values: fc.Arbitrary<T>) => fc.option(values, { nil: null });
const path = fc.uint8Array({ minLength: 1, maxLength: 20 }).map(rawOf);

const attributes: fc.Arbitrary<Attributes> = fc.record(
  {
    rule: text,
    metadata: fc.record({ title: fc.record({ value: text, from: fc.constantFrom(...ORIGINS) }) }),
    expiry: fc.record({
      at: count,
      sent: fc.oneof(count, text),
      from: text,
      withoutPlugin: fc.constantFrom("hold", "upload-without"),
    }),
    withoutExpiry: fc.constant(true),
  },
  { requiredKeys: [] },
);

/** Any document that a row can hold, likely or not. */
export const documents: fc.Arbitrary<Document> = fc.record({
  id: count,
  mirrorId: count,
  dir: path,
  name: path,
  state: fc.constantFrom(...STATES),
  seen: fc.record({ sizeBytes: count, modifiedAt: time, stamp: text }),
  firstSeenAt: time,
  changedAt: time,
  dueAt: maybe(time),
  digest: maybe(text),
  sentName: maybe(text),
  targetPath: maybe(text),
  settledAt: maybe(time),
  attributes: maybe(attributes),
  remark: maybe(text),
  batch: maybe(text),
  folderId: maybe(count),
  attempts: count,
  sentAt: maybe(time),
  sentArchiveAt: maybe(time),
  doubtAt: maybe(time),
  looks: count,
  documentId: maybe(count),
  archiveStatus: maybe(text),
  uploadedAt: maybe(time),
  archiveUploadedAt: maybe(time),
  polls: count,
  convertedAt: maybe(time),
  pages: maybe(count),
  archiveBytes: maybe(count),
  estimate: maybe(count),
  charge: maybe(count),
  ignoredDigest: maybe(text),
  sentBytes: maybe(count),
  digidoc: fc.boolean(),
  problem: maybe(fc.record({ code: text, message: text })),
  consecutiveFailures: count,
  duplicateOf: maybe(count),
  current: fc.boolean(),
  supersedes: maybe(count),
  goneAt: maybe(time),
  movedFrom: maybe(text),
  movedAt: maybe(time),
  after: maybe(fc.constantFrom("due", "done", "refused")),
  afterMessage: maybe(text),
  ordinary: fc.boolean(),
});
