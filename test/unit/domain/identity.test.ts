import { describe, expect, test } from "vitest";
import {
  type KnownAnswer,
  type KnownIdentity,
  otherArchive,
} from "../../../src/domain/archive-identity.ts";
import {
  anotherDocument,
  isKeptDate,
  type Likeness,
  type ReportedDocument,
} from "../../../src/domain/another-document.ts";
import { inState } from "../../fixtures/a-document.ts";

describe("archive identity", () => {
  const KNOWN: KnownIdentity = {
    url: "https://archive",
    key: "4e1f",
    rootCreatedAt: 1_600_000_000_000,
    isConfirmed: false,
  };
  const CONFIRMED = { isConfirmed: true };
  const ELSEWHERE = { url: "https://other" };
  const OTHER_KEY = { key: "77aa" };
  const OTHER_ROOT = { rootCreatedAt: 1_700_000_000_000 };
  const NO_ROOT = { rootCreatedAt: null };

  type Set = Partial<KnownIdentity>;

  describe("whether it is another archive", () => {
    test.for<[string, Set | null, Set, KnownAnswer[], boolean, string]>([
      ["as ever", {}, {}, ["ours"], false, "all fits"],
      ["a rotated key, ours answer", {}, OTHER_KEY, ["ours"], false, "no question"],
      ["another address, ours answer", {}, ELSEWHERE, ["missing", "ours"], false, "no question"],
      ["a root that is dated again each time", {}, OTHER_ROOT, ["ours"], false, "odd, and ours"],
      ["nothing sent yet", {}, { ...ELSEWHERE, ...OTHER_ROOT }, [], false, "nothing to lose"],
      ["nothing remembered", null, {}, ["missing"], false, "an upgrade, and one was removed"],
      [
        "nothing remembered, all others",
        null,
        {},
        ["other", "other", "other"],
        true,
        "it was exchanged",
      ],
      ["last night's backup", {}, {}, ["missing", "other"], false, "each is looked for on its own"],
      ["old ones cleared away", {}, {}, ["missing", "missing", "missing"], false, "people may"],
      ["an old backup", {}, {}, ["other", "other", "other"], true, "for a person to say"],
      ["another root", {}, OTHER_ROOT, ["missing"], true, "another archive"],
      ["another root, none tells", {}, OTHER_ROOT, ["unclear"], true, "nothing speaks for it"],
      ["another key, none there", {}, OTHER_KEY, ["missing"], true, "trial and real"],
      ["another key, none tells", {}, OTHER_KEY, ["unclear"], false, "the root is the same"],
      [
        "another address, no root, none tells",
        NO_ROOT,
        ELSEWHERE,
        ["unclear"],
        true,
        "nothing speaks for it",
      ],
      ["no root any more", {}, NO_ROOT, ["missing"], false, "no contradiction"],
      ["whole seconds", { rootCreatedAt: 1_600_000_000_400 }, {}, ["missing"], false, "rounded"],
      ["confirmed by a person", CONFIRMED, {}, ["other", "other", "other"], false, "it was said"],
      [
        "confirmed, then elsewhere",
        CONFIRMED,
        ELSEWHERE,
        ["missing"],
        true,
        "that was said of another",
      ],
      ["confirmed, then another root", CONFIRMED, OTHER_ROOT, ["missing"], true, "likewise"],
    ])("%s: because $5", ([, known, now, answers, isOther]) => {
      const was = known && { ...KNOWN, ...known };
      const why = otherArchive(was, { ...KNOWN, ...now }, answers);
      if (isOther)
        expect(why).toMatch(/does not look like the archive that documents were sent to: /);
      else expect(why).toBeUndefined();
    });

    test("it says what differs, and never the key", () => {
      const now = { ...KNOWN, ...OTHER_KEY, ...OTHER_ROOT };
      expect(otherArchive(KNOWN, now, ["other", "missing"])).toBe(
        "https://archive does not look like the archive that documents were sent to: the account key was changed; " +
          "its root folder is of 2023-11-14T22:13:20.000Z, not of 2020-09-13T12:26:40.000Z; of 2 documents that " +
          "were sent, it has others under the ids of 1, and none of ours",
      );
      expect(otherArchive(KNOWN, { ...KNOWN, ...ELSEWHERE }, ["missing"])).toMatch(
        /the address was changed; of 1 documents that were sent, it has none$/,
      );
    });
  });
});

describe("another document", () => {
  const SENT = 1_700_000_000_123;
  const DAY = 24 * 3_600_000;
  const LATER = SENT + DAY;
  const ODD: Likeness = { toleranceMs: 60_000, keepsDates: false, storedSize: "same" };
  const KEPT: Likeness = { ...ODD, keepsDates: true };
  const ANY: Likeness = { ...KEPT, storedSize: "any" };

  const ours = (set: Parameters<typeof inState>[1] = {}) =>
    inState("uploaded", {
      documentId: 9,
      sentName: "scan.pdf",
      sentBytes: 1_000,
      sentAt: SENT - 2_000,
      sentArchiveAt: SENT - 2_000,
      uploadedAt: SENT,
      archiveUploadedAt: SENT,
      ...set,
    });

  const told = (set: Partial<ReportedDocument> = {}): ReportedDocument => ({
    filename: "scan.pdf",
    uploadedDate: SENT,
    filesize: 1_000,
    status: "CONVERTED",
    ...set,
  });

  const OTHER_SIZE = { filesize: 90_050 };
  const OTHER_NAME = { filename: "letter.pdf" };
  const BEFORE = { archiveUploadedAt: null };
  const LARGE = { sentAt: SENT - 600_000 };

  describe("what the archive has under our id", () => {
    test.for<
      [string, Parameters<typeof ours>[0], Partial<ReportedDocument>, Likeness, boolean, string]
    >([
      ["as it was sent", {}, {}, KEPT, false, "all fits"],
      ["whole seconds", {}, { uploadedDate: SENT - 123 }, KEPT, false, "archives may round"],
      ["renamed", {}, OTHER_NAME, KEPT, false, "a person may"],
      ["renamed, stored smaller", {}, { ...OTHER_NAME, filesize: 7 }, KEPT, false, "the same date"],
      [
        "of another size",
        {},
        OTHER_SIZE,
        KEPT,
        false,
        "that is remarked, and never moved or deleted",
      ],
      ["a day later", {}, { uploadedDate: LATER }, KEPT, true, "the next day's scan of one size"],
      ["a day later", {}, { uploadedDate: LATER }, ODD, false, "its lists may date otherwise"],
      ["later, other size", {}, { uploadedDate: LATER, ...OTHER_SIZE }, ODD, true, "two differ"],
      [
        "later, not converted",
        {},
        { uploadedDate: LATER, filesize: 0, status: "UPLOADED" },
        ODD,
        false,
        "0 is no size yet",
      ],
      ["later, other name", {}, { uploadedDate: LATER, ...OTHER_NAME }, ODD, true, "two differ"],
      [
        "later, any size",
        {},
        { uploadedDate: LATER, ...OTHER_SIZE },
        { ...ANY, keepsDates: false },
        false,
        "sizes say nothing there",
      ],
      ["later, any size", {}, { uploadedDate: LATER, ...OTHER_SIZE }, ANY, true, "but dates do"],
      [
        "a little later",
        {},
        { uploadedDate: SENT + 5_000 },
        KEPT,
        false,
        "one thing, and not by much",
      ],
      [
        "a little later, other size",
        {},
        { uploadedDate: SENT + 5_000, ...OTHER_SIZE },
        KEPT,
        true,
        "it would keep the date",
      ],
      [
        "before its last byte",
        LARGE,
        { uploadedDate: SENT - 590_000 },
        KEPT,
        false,
        "dated when it began to come",
      ],
      [
        "no date",
        {},
        { uploadedDate: 0, ...OTHER_NAME, ...OTHER_SIZE },
        KEPT,
        false,
        "nothing is said",
      ],
      [
        "decomposed",
        { sentName: "M\u00fcller.pdf" },
        { filename: "Mu\u0308ller.pdf" },
        KEPT,
        false,
        "one name",
      ],
      ["unknown, other name", BEFORE, OTHER_NAME, KEPT, false, "a person may"],
      [
        "unknown, same day",
        BEFORE,
        { ...OTHER_NAME, ...OTHER_SIZE },
        KEPT,
        false,
        "it may be ours",
      ],
      [
        "unknown, later, other size",
        BEFORE,
        { uploadedDate: SENT + 2 * DAY, ...OTHER_SIZE },
        KEPT,
        true,
        "two differ",
      ],
      [
        "unknown, later",
        BEFORE,
        { uploadedDate: SENT + 2 * DAY },
        KEPT,
        false,
        "by our clocks alone",
      ],
      [
        "never sent from here",
        { ...BEFORE, sentAt: null, sentArchiveAt: null },
        { uploadedDate: LATER, ...OTHER_NAME },
        KEPT,
        false,
        "nobody knows its date",
      ],
    ])("%s: because $5", ([, set, item, likeness, isAnother]) => {
      const why = anotherDocument(ours(set), told(item), likeness);
      if (isAnother) expect(why).toMatch(/^document 9 is now another one: /);
      else expect(why).toBeUndefined();
    });

    test("a date that no time can be is shown as it is", () => {
      const uploadedDate = Number.MAX_SAFE_INTEGER;
      expect(anotherDocument(ours(), told({ uploadedDate }), KEPT)).toContain(String(uploadedDate));
    });

    test("only a date of less than whole minutes shows that an archive keeps them", () => {
      const of = (archiveUploadedAt: number | null, uploadedDate: number) =>
        isKeptDate({ archiveUploadedAt }, { uploadedDate });
      expect(of(SENT, SENT)).toBe(true);
      expect(of(SENT, SENT - 123)).toBe(true);
      expect(of(SENT, SENT + 1), "another's, a moment later").toBe(false);
      expect(of(SENT, SENT - 123 + 2_000)).toBe(false);
      expect(of(null, SENT)).toBe(false);
      expect(of(60_000, 60_000), "or by the day").toBe(false);
    });
  });
});
