import { describe, expect, test } from "vitest";
import { ArchiveUnderTest, outcomeOf } from "../../contract/conformance/archive-under-test.ts";
import { asiceOf, pdfOf, pngOf } from "../../fixtures/documents.ts";

const pdf = pdfOf(1);

describe("how large a document may be", () => {
  const limits = {
    maxFileSizeBytes: 2_000,
    maxFileSizeByKind: { pdf: pdf.length, text: 5_000, digidoc: 10 },
  };
  test.for([
    ["a.pdf", pdf, "OK", "at the limit of its kind"],
    ["a.pdf", Buffer.concat([pdf, Buffer.from("\n")]), "FILE_SIZE_TOO_BIG", "a byte more"],
    ["a.txt", Buffer.alloc(5_000, "x"), "OK", "the kind's limit is above the general one"],
    ["a.txt", Buffer.alloc(5_001, "x"), "FILE_SIZE_TOO_BIG", "a byte more"],
    ["a.asice", asiceOf({ "a.txt": "a" }), "FILE_SIZE_TOO_BIG", "smaller than its head"],
    ["a.png", pngOf(), "OK", "a kind without a limit of its own"],
    ["a.bin", Buffer.alloc(2_001), "FILE_SIZE_TOO_BIG", "the same, too large"],
    [
      "a.txt",
      Buffer.concat([pdf, Buffer.from("\n")]),
      "FILE_SIZE_TOO_BIG",
      "the content says what it is",
    ],
  ] as [string, Buffer, string, string][])(
    "%s gives %#: %s",
    async ([filename, bytes, expected]) => {
      await using under = await ArchiveUnderTest.open(limits);
      expect(outcomeOf(await under.upload({ filename }, bytes))).toBe(expected);
      expect(under.archive.documents()).toHaveLength(expected === "OK" ? 1 : 0);
    },
  );

  test("a kind's limit alone leaves the others without one", async () => {
    await using under = await ArchiveUnderTest.open({ maxFileSizeByKind: { pdf: 1 } });
    expect(outcomeOf(await under.upload({ filename: "a.txt" }, "x".repeat(100_000)))).toBe("OK");
    expect(outcomeOf(await under.upload({ filename: "a.pdf" }, pdf))).toBe("FILE_SIZE_TOO_BIG");
  });
});
