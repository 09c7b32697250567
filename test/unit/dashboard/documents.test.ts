import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, test } from "vitest";
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
    documentOf({ id: 1, name: "old.pdf", changedAt: 10, state: "converted", convertedAt: 20 }),
    documentOf({ id: 2, name: "just converted.pdf", state: "converted", convertedAt: 90 }),
    documentOf({ id: 3, name: "new.pdf", firstSeenAt: 50, state: "settling" }),
  ]);
  const paths = answer.documents.map(({ path }: { path: string }) => path);
  expect(paths).toEqual(["just converted.pdf", "new.pdf", "old.pdf"]);
  expect(answer.complete).toBe(true);
  expect(answer.documents[0]).toMatchObject({ mirror: "scans", state: "converted", error: null });
});

describe("filters", () => {
  const rows = [
    documentOf({
      id: 1,
      name: "Müller.pdf",
      state: "held",
      changedAt: 5_000,
      problem: { code: "FOLDER_MISSING", message: "no folder" },
    }),
    documentOf({ id: 2, name: "Invoice.pdf", state: "failed" }),
    documentOf({ id: 3, name: "invoice 2.pdf", state: "converted" }),
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
    ["?from=5000&to=5001", [1], "a time, its end not included"],
    ["?from=5001", [], "later than all"],
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
    ["?after=5", "not a place"],
    [`?q=${"x".repeat(201)}`, "longer than any search"],
  ] as const)("%s is refused: %s", async ([query]) => {
    const { status, answer } = await found(`/api/documents${query}`, rows);
    expect([status, answer.error.code]).toEqual([400, "BAD_QUERY"]);
  });
});

test.for([[""], ["&state=pending"], ["&q=scan"]] as const)(
  "page by page%s every document comes once, also of one moment",
  async ([filter]) => {
    const rows = Array.from({ length: 7 }, (_, n) => documentOf({ id: n + 1, changedAt: n >> 1 }));
    await using opened = await openDashboard({ rows });
    const seen: number[] = [];
    for (let after = "", pages = 0; after !== "null"; pages++) {
      expect(pages).toBeLessThan(4);
      const place = after === "" ? "" : `&after=${after}`;
      const path = `/api/documents?limit=2${filter}${place}`;
      const { documents, next } = JSON.parse((await ask({ port: opened.port, path })).body);
      seen.push(...documents.map(({ id }: { id: number }) => id));
      after = String(next);
    }
    expect(seen).toEqual([7, 6, 5, 4, 3, 2, 1]);
  },
);

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
  function journalOf(size: number) {
    let read = 0;
    const journal = scriptedJournal([]);
    async function* list({ state = "converted" }: Parameters<typeof journal.list>[0]) {
      const rows = state === "converted" ? size : state === "held" ? 5 : 0;
      for (let id = 1; id <= rows; id++) {
        read++;
        yield documentOf({ id, state, changedAt: state === "held" ? 1 : 0 });
      }
    }
    return { journal: Object.assign(Object.create(journal), { list }), read: () => read };
  }

  /** Time stands still: the rows alone are bounded. */
  const timeless = { ...systemClock, monotonic: () => 0 };

  test("is not read to its end, and what is going on is found all the same", async () => {
    const { journal, read } = journalOf(1_000_000);
    await using opened = await openDashboard({ journal, clock: timeless });
    const { body } = await ask({
      port: opened.port,
      path: "/api/documents?state=held,converted&limit=200",
    });
    const { documents, complete } = JSON.parse(body);
    expect(documents.filter(({ state }: { state: string }) => state === "held")).toHaveLength(5);
    expect([documents.length, complete]).toEqual([200, false]);
    expect(read()).toBeLessThan(20_100);
  });

  test("is not walked at all for the latest documents", async () => {
    const { journal, read } = journalOf(1_000_000);
    await using opened = await openDashboard({ journal });
    const { body } = await ask({ port: opened.port, path: "/api/documents" });
    expect([JSON.parse(body).complete, read()]).toEqual([true, 0]);
  });

  test("is looked at for half a second at most", async () => {
    const { journal, read } = journalOf(10_000);
    let now = 0;
    const clock = { ...systemClock, monotonic: () => (now += 1) };
    await using opened = await openDashboard({ journal, clock });
    const { body } = await ask({ port: opened.port, path: "/api/documents?state=converted" });
    expect(JSON.parse(body).complete).toBe(false);
    expect(read()).toBeLessThan(600);
  });

  test("is searched further for a name that someone typed", async () => {
    const { journal, read } = journalOf(50_000);
    await using opened = await openDashboard({ journal, clock: timeless });
    const { body } = await ask({ port: opened.port, path: "/api/documents?q=nothing" });
    expect([read(), JSON.parse(body)]).toEqual([
      50_000,
      { documents: [], complete: true, next: null },
    ]);
  });

  test("being searched leaves the event loop its turns", async () => {
    const { journal } = journalOf(20_000);
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
    expect(turns).toBeGreaterThan(150);
  });
});
