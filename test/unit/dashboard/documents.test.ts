import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { Journal } from "../../../src/journal/journal.ts";
import { rawOf } from "../../../src/std/raw-path.ts";
import { systemClock } from "../../../src/std/clock.ts";
import { ask, openDashboard } from "./open-dashboard.ts";
import { documentOf, scriptedJournal } from "./scripted-journal.ts";

const HOSTILE = [
  "<script>alert(1)</script>.pdf",
  '"><img src=x onerror=alert(1)>.pdf',
  "a\r\nset-cookie: x=1\r\n\r\n.pdf",
  "\nevent: status\ndata: {}\n\n.pdf",
  "\u202egpj.exe",
  "</title>&amp;'`${7*7}.pdf",
];

async function found(path: string, rows: Parameters<typeof scriptedJournal>[0]) {
  await using opened = await openDashboard({ rows });
  const { status, headers, body } = await ask({ port: opened.port, path });
  return { status, headers, answer: JSON.parse(body) };
}

test("the latest documents come first, as `list --json` has them", async () => {
  const { answer } = await found("/api/documents", [
    documentOf({ id: 1, name: "old.pdf", state: "converted", convertedAt: 90 }),
    documentOf({ id: 2, name: "later.pdf", state: "converted", convertedAt: 20 }),
    documentOf({ id: 3, name: "new.pdf", state: "settling" }),
  ]);
  const paths = answer.documents.map(({ path }: { path: string }) => path);
  expect(paths).toEqual(["new.pdf", "later.pdf", "old.pdf"]);
  expect(answer.complete).toBe(true);
  expect(answer.documents[1]).toMatchObject({ mirror: "scans", state: "converted", error: null });
});

describe("filters", () => {
  const rows = [
    documentOf({
      id: 1,
      name: "Müller.pdf",
      state: "held",
      firstSeenAt: 5_000,
      problem: { code: "FOLDER_MISSING", message: "no folder" },
    }),
    documentOf({ id: 2, name: "Invoice.pdf", state: "failed", firstSeenAt: 6_000 }),
    documentOf({ id: 3, name: "invoice 2.pdf", state: "converted", firstSeenAt: 7_000 }),
  ];
  test.for([
    // query, ids, because
    ["", [1, 2, 3], "no filter"],
    ["?q=INVOICE", [2, 3], "either case"],
    ["?q=mu%CC%88ller", [1], "a mark of its own is the same letter"],
    ["?q=%20pdf%20", [1, 2, 3], "blanks around are typed by accident"],
    ["?state=held", [1], "one state"],
    ["?state=held,failed", [1, 2], "several states"],
    ["?state=", [1, 2, 3], "the empty choice of a form"],
    ["?state=converted&q=invoice", [3], "both"],
    ["?limit=1", [3], "the latest"],
    ["?q=.*", [], "no pattern"],
    ["?code=FOLDER_MISSING", [1], "one reason"],
    ["?state=failed&code=FOLDER_MISSING", [], "a reason in another state"],
    ["?mirror=scans&state=failed", [2], "a mirror"],
    ["?mirror=scans&code=", [1, 2, 3], "every state of a mirror"],
    ["?mirror=other", [], "no such mirror"],
    ["?from=5000&to=6000", [1], "a time, its end not included"],
    ["?from=5001&to=7001", [2, 3], "to the end"],
    ["?to=5000", [], "earlier than all"],
    ["?from=7001", [], "later than all"],
    ["?from=5001&to=7000&sort=name", [2], "in another order"],
    ["?from=5000&to=7000&sort=state", [1, 2], "in another order"],
  ] as const)("%s finds %j: %s", async ([query, ids]) => {
    const { answer } = await found(`/api/documents${query}`, rows);
    const sorted = answer.documents.map(({ id }: { id: number }) => id).toSorted();
    expect(sorted).toEqual(ids);
  });

  test.for([
    ["?state=lost", "not a state"],
    ["?limit=0", "nothing is no answer"],
    ["?limit=201", "more than a page takes"],
    ["?limit=-1", "not a count"],
    ["?limit=1e3", "not a plain number"],
    ["?limit=5&limit=6", "twice"],
    ["?code=a-b", "no code has such a character"],
    ["?from=yesterday", "not a time"],
    ["?after=5.1", "not a place"],
    ["?after=lost.1", "not a state"],
    ["?sort=size", "not an order"],
    ["?sort=name&after=9", "what is gone has no place by its name"],
    [`?q=${"x".repeat(201)}`, "longer than any search"],
  ] as const)("%s is refused: %s", async ([query]) => {
    const { status, answer } = await found(`/api/documents${query}`, rows);
    expect([status, answer.error.code]).toEqual([400, "BAD_QUERY"]);
  });
});

test.for([
  // parameters, ids, because
  ["", [7, 6, 5, 4, 3, 2, 1], "the latest first"],
  ["&state=pending", [7, 5, 3, 1], "some of them"],
  ["&q=scan", [7, 6, 5, 4, 3, 2, 1], "each is looked at"],
  ["&from=2&to=6", [5, 4, 3, 2], "a time"],
  ["&sort=name", [1, 2, 3, 4, 5, 6, 7], "by name"],
  ["&sort=state", [7, 5, 3, 1, 6, 4, 2], "by state"],
  ["&sort=state&state=failed,pending&to=6", [5, 3, 1, 4, 2], "by state, of a time"],
] as const)("page by page%s every document comes once: %s", async ([parameters, ids]) => {
  const rows = Array.from({ length: 7 }, (_, n) => {
    const state = n % 2 === 0 ? "pending" : "failed";
    return documentOf({ id: n + 1, name: `scan ${n}.pdf`, firstSeenAt: n + 1, state });
  });
  await using opened = await openDashboard({ rows });
  const seen: number[] = [];
  for (let after = "", pages = 0; after !== "null"; pages++) {
    expect(pages).toBeLessThan(5);
    const place = after === "" ? "" : `&after=${after}`;
    const path = `/api/documents?limit=2${parameters}${place}`;
    const { documents, next } = JSON.parse((await ask({ port: opened.port, path })).body);
    seen.push(...documents.map(({ id }: { id: number }) => id));
    after = String(next);
  }
  expect(seen).toEqual(ids);
});

test("hostile file names come out as data", async () => {
  const { headers, answer } = await found(
    "/api/documents",
    HOSTILE.map((name, id) => documentOf({ id, name })),
  );
  expect(headers["content-type"]).toBe("application/json; charset=utf-8");
  expect(headers["set-cookie"]).toBeUndefined();
  const paths: string[] = answer.documents.map(({ path }: { path: string }) => path);
  expect(paths.toReversed()).toEqual([
    HOSTILE[0],
    HOSTILE[1],
    String.raw`a\x0d\x0aset-cookie: x=1\x0d\x0a\x0d\x0a.pdf`,
    String.raw`\x0aevent: status\x0adata: {}\x0a\x0a.pdf`,
    String.raw`\u202egpj.exe`,
    HOSTILE[5],
  ]);
});

test("a name that is not UTF-8 is shown escaped", async () => {
  const name = rawOf(Buffer.from("M\xfcller.pdf", "latin1"));
  const { answer } = await found("/api/documents?q=ller", [{ ...documentOf(), name }]);
  expect(answer.documents[0].path).toBe(String.raw`M\xfcller.pdf`);
});

describe("a large journal", () => {
  /** A million documents that are all alike; tells how many looks were taken. */
  function journalOf(size: number) {
    let looks = 0;
    const listPage: Journal["listPage"] = async ({ after = size + 1, rows = 500 }) => {
      looks++;
      const ids = Array.from({ length: Math.min(rows, after - 1) }, (_, n) => after - 1 - n);
      const documents = ids.map((id) => documentOf({ id, firstSeenAt: id, state: "converted" }));
      return { documents, last: documents.length < rows ? null : (ids.at(-1) ?? null) };
    };
    const journal = Object.assign(Object.create(scriptedJournal([])), { listPage });
    return { journal, looks: () => looks };
  }

  test.for([
    ["", 1, "the latest"],
    ["&after=500000", 1, "some in its middle"],
    ["&from=400000&to=400100", 22, "a day of long ago"],
    ["&state=converted", 1, "those of a state"],
  ] as const)("%s takes %i looks at most: %s", async ([parameters, most]) => {
    const { journal, looks } = journalOf(1_000_000);
    await using opened = await openDashboard({ journal });
    const path = `/api/documents?limit=25${parameters}`;
    const { documents } = JSON.parse((await ask({ port: opened.port, path })).body);
    expect(documents).toHaveLength(25);
    expect(looks()).toBeLessThanOrEqual(most);
  });

  test("is looked at for a short time, and the next question goes on there", async () => {
    const { journal, looks } = journalOf(4_000);
    let now = 0;
    const clock = { ...systemClock, monotonic: () => (now += 20) };
    await using opened = await openDashboard({ journal, clock });
    const at = async (after: string) => {
      const path = `/api/documents?q=nothing${after}`;
      return JSON.parse((await ask({ port: opened.port, path })).body);
    };
    const first = await at("");
    expect(first).toEqual({ documents: [], complete: false, next: "2001" });
    expect(looks()).toBe(4);
    expect(await at("&after=2001")).toMatchObject({ complete: false });
    expect(await at("&after=301")).toEqual({ documents: [], complete: true, next: null });
  });

  test("being searched leaves the event loop its turns", async () => {
    const { journal, looks } = journalOf(20_000);
    const timeless = { ...systemClock, monotonic: () => 0 };
    await using opened = await openDashboard({ journal, clock: timeless });
    let turns = 0;
    const done = new AbortController();
    const search = ask({ port: opened.port, path: "/api/documents?q=nothing" });
    const counting = (async () => {
      for (; !done.signal.aborted; turns++) await nextTurn();
    })();
    await search;
    done.abort();
    await counting;
    expect(turns).toBeGreaterThan(looks());
  });
});
