/** The journal and the configuration must speak of the same archives before anything is sent. */
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Config, Mirror } from "../../../src/config/config.ts";
import { bindArchives } from "../../../src/daemon/bind-archives.ts";
import { SqliteJournal } from "../../../src/journal/sqlite-journal.ts";
import { systemClock } from "../../../src/std/clock.ts";
import { silentLog } from "../../../src/std/log.ts";
import { Desk } from "../../contract/journal-desk.ts";
import { MemoryCluster } from "../../fakes/memory-cluster.ts";
import { MemoryJournal } from "../../fakes/memory-journal.ts";
import { MemoryStore } from "../../fakes/memory-store.ts";
import { aConfig, aMirror } from "../../fixtures/a-config.ts";
import { scratch } from "../journal/scratch.ts";

const A = "https://a.example.com";
const B = "https://b.example.com";
const C = "https://c.example.com";

/** A configuration of archives at these addresses. */
function configOf(urls: Record<string, string>, mirrors: readonly Partial<Mirror>[] = []): Config {
  const usual = aConfig();
  const archives = Object.entries(urls).map(([name, url]) => ({ ...usual.archive, name, url }));
  const [archive = usual.archive, ...furtherArchives] = archives;
  return { ...usual, archive, furtherArchives, mirrors: mirrors.map(aMirror) };
}

test.for([
  [{ main: A, legal: B }, { main: A, legal: B }, undefined, "nothing has changed"],
  [{ main: A }, { main: B }, undefined, "a host may move"],
  [{ main: A, legal: B }, { main: C, legal: B }, undefined, "one of them moved"],
  [{ main: A, legal: A }, { main: B, legal: B }, undefined, "two accounts of one host moved"],
  [{ main: A, legal: B }, { main: B, legal: C }, undefined, "one took the other's old place"],
  [{ main: A, legal: B }, { main: B, legal: A }, "ARCHIVES_EXCHANGED", "the names were mixed up"],
  [{ main: A }, { hq: A }, undefined, "another name is another archive"],
] as const)("%o then %o: %s, as %s", async ([before, after, code]) => {
  const journal = new MemoryJournal();
  await bindArchives(configOf(before), journal, silentLog);
  const binding = bindArchives(configOf(after), journal, silentLog);
  if (code !== undefined) {
    await expect(binding).rejects.toMatchObject({ code });
    expect((await journal.archives()).map(({ url }) => url)).toEqual(Object.values(before));
    return;
  }
  const rows = await binding;
  expect([...rows.values()].map(({ name, url }) => [name, url])).toEqual(Object.entries(after));
});

test("a mirror under another name is the same by its source; one of another archive is not", async () => {
  const journal = new MemoryJournal();
  const bind = (mirrors: readonly Partial<Mirror>[]) =>
    bindArchives(configOf({ main: A, legal: B }, mirrors), journal, silentLog);
  const named = async () => (await journal.mirrors()).map(({ id, name }) => `${id} ${name}`).sort();
  await bind([{ name: "scans", source: "/in", archive: "main" }]);
  await new Desk(journal, 1).uploaded("a.pdf", 501);
  await bind([{ name: "office", source: "/in", archive: "main" }]);
  expect(await named()).toEqual(["1 office"]);
  await bind([{ name: "contracts", source: "/in", archive: "legal" }]);
  expect(await named(), "its files are for another archive").toEqual(["1 office", "2 contracts"]);
  await bind([
    { name: "office", source: "/elsewhere", archive: "main" },
    { name: "scans", source: "/in", archive: "main" },
  ]);
  expect(await named(), "the source counts").toEqual(["1 scans", "2 contracts", "3 office"]);
});

test.for<[string, [string, string][], string[], string]>([
  [
    "a second one took its default name",
    [
      ["scans", "/b/scans"],
      ["office", "/a/scans"],
      ["test", "/t"],
    ],
    ["1 office", "2 test", "3 scans"],
    "",
  ],
  [
    "one after another",
    [
      ["scans", "/t"],
      ["office", "/a/scans"],
    ],
    ["1 office", "2 scans"],
    "",
  ],
  [
    "exchanged",
    [
      ["scans", "/t"],
      ["test", "/a/scans"],
    ],
    ["1 scans", "2 test"],
    "MIRRORS_EXCHANGED",
  ],
  [
    "moved",
    [
      ["scans", "/new"],
      ["test", "/t"],
    ],
    ["1 scans", "2 test"],
    "",
  ],
  [
    "one took the other's old place",
    [
      ["scans", "/t"],
      ["test", "/new"],
    ],
    ["1 scans", "2 test"],
    "",
  ],
])("names of mirrors, %s: %j is %j", async ([, mirrors, rows, code]) => {
  // Whether others share a journal is for the journal itself to say.
  using directory = scratch();
  const path = join(directory.path, "journal.db");
  await using journal = await SqliteJournal.open({ path, role: "owner" });
  const bind = (those: readonly (readonly [string, string])[]) => {
    const configured = those.map(([name, source]) => ({ name, source, archive: "main" }));
    return bindArchives(configOf({ main: A }, configured), journal, silentLog);
  };
  await bind([
    ["scans", "/a/scans"],
    ["test", "/t"],
  ]);
  const binding = bind(mirrors);
  if (code === "") await binding;
  else await expect(binding).rejects.toMatchObject({ code });
  const named = (await journal.mirrors()).map(({ id, name }) => `${id} ${name}`);
  expect(named.sort()).toEqual(rows);
});

test("one of several daemons takes no mirror of another name for its own", async () => {
  const store = new MemoryStore();
  const cluster = MemoryCluster.join(store, { name: "pc2", clock: systemClock });
  const journal = new MemoryJournal({ store, cluster });
  for (const name of ["pc1", "pc2"]) {
    const config = configOf({ main: A }, [{ name, source: "/srv/scans", archive: "main" }]);
    await bindArchives(config, journal, silentLog);
  }
  expect((await journal.mirrors()).map(({ name }) => name)).toEqual(["pc1", "pc2"]);
});

test("every mirror is bound to its own; one that has sent something stays", async () => {
  const journal = new MemoryJournal();
  const urls = { main: A, legal: B };
  const bind = (scans: string, contracts: string) => {
    const mirrors = [
      { name: "scans", archive: scans },
      { name: "contracts", archive: contracts },
    ];
    return bindArchives(configOf(urls, mirrors), journal, silentLog);
  };
  const bound = async () => (await journal.mirrors()).map(({ archiveId }) => archiveId);
  await bind("main", "legal");
  expect(await bound()).toEqual([1, 2]);
  await bind("legal", "legal");
  expect(await bound()).toEqual([2, 2]);
  await new Desk(journal, 1).uploaded("a.pdf", 501);
  await expect(bind("main", "legal")).rejects.toMatchObject({ code: "ARCHIVE_CHANGED" });
  expect(await bound()).toEqual([2, 2]);
});
