/** The law of `after`: no local file disappears whose bytes the archive did not confirm. */
import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { Archive } from "../../../src/archive/archive.ts";
import { rawOfText } from "../../../src/std/raw-path.ts";
import { adopting } from "../../../src/sync/adopter.ts";
import { vouching } from "../../../src/sync/look-in-archives.ts";
import { AfterLoop } from "../../../src/sync/after-loop.ts";
import { Poller } from "../../../src/sync/poller.ts";
import type { DocumentDetail } from "../../../src/wire/shapes.ts";
import { ScriptedArchive } from "../../fakes/scripted-archive.ts";
import { HOUR, SyncDesk } from "./desk.ts";

/** What a wrong answer says of a document, where that is what proves it, and elsewhere. */
const PROOFS = {
  id: fc.integer({ min: 1, max: 99 }),
  status: fc.constantFrom("UPLOADED", "FAILED", ""),
  filename: fc.constantFrom("other.pdf", "SCAN.PDF", ""),
  folderId: fc.constantFrom(1, 98, 99),
  filesize: fc.oneof(fc.constantFrom(0, 17, 999, 1_001), fc.nat()).filter((size) => size !== 1_000),
};
const REST = {
  documentName: fc.string(),
  pages: fc.nat(),
  digidoc: fc.constant(false),
  createdDate: fc.nat(),
  uploadedDate: fc.nat(),
};
type Lie = Partial<DocumentDetail>;
const lie = (fields: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<Lie> =>
  fc.constantFrom(...Object.keys(fields)).chain((field) => {
    return (fields[field] as fc.Arbitrary<unknown>).map((value) => ({ [field]: value }));
  });

/** How a row came by its document. */
const CAME = ["sent", "adopted", "vouched"] as const;

const situations = fc.record({
  came: fc.constantFrom(...CAME),
  polled: fc.oneof(fc.constant({}), lie({ ...PROOFS, ...REST })),
  asked: fc.oneof(fc.constant({}), lie(PROOFS), lie(REST)),
  after: fc.constantFrom({ kind: "delete" } as const, { kind: "move", to: "/srv/done" } as const),
});

/** Its answers about a document are wrong in one field. */
class LyingArchive extends ScriptedArchive {
  lie: Lie = {};

  override async document(...asked: Parameters<Archive["document"]>) {
    return { ...(await super.document(...asked)), ...this.lie };
  }
}

test("whatever field of its answers is wrong, only a confirmed file is moved or deleted", async () => {
  await fc.assert(
    fc.asyncProperty(situations, async ({ came, polled, asked, after }) => {
      const archive = new LyingArchive();
      const desk = await SyncDesk.open({ mirrors: [{ after }], archive });
      const folderId = archive.addFolder("Scans");
      const filename = "scan.pdf";
      const documentId = archive.addDocument({ folderId, filename, status: "CONVERTED" });
      const now = desk.clock.now();
      const known = { documentId, folderId, uploadedAt: now };
      const path = `2026/${filename}`;
      if (came === "sent") desk.put({ path, state: "uploaded", ...known });
      else {
        const document = desk.pending({ path });
        const candidate = {
          id: documentId,
          folderId,
          filename,
          uploadedDate: now,
          filesize: 1_000,
        };
        const taken = { ...candidate, status: "CONVERTED" };
        const claimed = adopting(
          { document, isFiled: false, taken, unclear: [], writtenAt: 0 },
          now,
        );
        const vouched = came === "vouched" ? [vouching(document, true, now)] : [];
        await desk.journal.apply([...claimed, ...vouched]);
      }
      archive.lie = polled;
      await desk.run(new Poller(desk.context, await desk.keeper()));
      archive.lie = asked;
      await desk.run(new AfterLoop(desk.context));
      await desk.advance(HOUR);
      desk.stop();

      const { acted } = desk.reader;
      const isConfirmed = !Object.keys(asked).some((field) => Object.hasOwn(PROOFS, field));
      expect(acted).toEqual(isConfirmed && came !== "adopted" ? [rawOfText(path)] : []);
    }),
    { numRuns: 300 },
  );
});
