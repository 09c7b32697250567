import { execFileSync } from "node:child_process";
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, test } from "vitest";
import { storageFault } from "../../../src/journal/journal-fault.ts";
import { networkFileSystem } from "../../../src/journal/room.ts";
import { takeOwnerLock } from "../../../src/journal/owner-lock.ts";
import { SCHEMA_VERSION } from "../../../src/journal/schema.ts";
import { SqliteJournal } from "../../../src/journal/sqlite-journal.ts";
import { Desk } from "../../contract/journal-desk.ts";
import { asNobody } from "../source/as-nobody.ts";
import { can, smallDisk } from "../../fixtures/small-disk.ts";
import { scratch } from "./scratch.ts";

const ROLES = ["owner", "guest", "reader"] as const;

/** A closed journal of some pages. */
async function journalAt(path: string): Promise<void> {
  await using journal = await SqliteJournal.open({ path, role: "owner" });
  const desk = await Desk.at(journal);
  for (let n = 0; n < 200; n++) await desk.add(`${n}-${"x".repeat(100)}`);
}

function edit(path: string, sql: string): void {
  const db = new Database(path);
  db.exec(sql);
  db.close();
}

test("the journal and its directory are their owner's alone, whatever the umask", async () => {
  using directory = scratch();
  const path = join(directory.path, "deep", "er", "journal.db");
  const umask = process.umask(0);
  try {
    await using journal = await SqliteJournal.open({ path, role: "owner" });
    expect(journal.isNew).toBe(true);
    await journal.setPaused(true);
    const backup = join(directory.path, "backup.db");
    await journal.backup(backup);
    for (const file of [path, `${path}-wal`, `${path}-shm`, `${path}.lock`, backup]) {
      expect([file, statSync(file).mode & 0o777]).toEqual([file, 0o600]);
    }
    expect(statSync(join(directory.path, "deep")).mode & 0o777).toBe(0o700);
  } finally {
    process.umask(umask);
  }
});

test("its log stays below 16 MB, however much is written", async () => {
  using directory = scratch();
  const path = join(directory.path, "journal.db");
  await using journal = await SqliteJournal.open({ path, role: "owner" });
  const desk = await Desk.at(journal);
  const names = Array.from({ length: 300 }, (_, n) => `${n}-${"x".repeat(100)}`);
  const rows = await Promise.all(names.map((name) => desk.add(name)));
  let most = 0;
  for (let at = 1; at <= 120; at++) {
    const why = `round ${at} ${"y".repeat(300)}`;
    await journal.apply(rows.map(({ id }) => ({ type: "note", id, at, why, set: { dueAt: at } })));
    most = Math.max(most, statSync(`${path}-wal`).size);
  }
  expect(most).toBeGreaterThan(8_000_000);
  expect(most).toBeLessThan(16_000_000);
});

test("a journal that others could read is closed to them", async () => {
  using directory = scratch();
  const path = join(directory.path, "journal.db");
  await journalAt(path);
  chmodSync(path, 0o644);
  await using _ = await SqliteJournal.open({ path, role: "owner" });
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

const SPOILT = {
  "a newer schema": (path: string) => edit(path, `PRAGMA user_version = ${SCHEMA_VERSION + 1}`),
  "another program's database": (path: string) => edit(path, "PRAGMA application_id = 7"),
  "not a database": (path: string) => writeFileSync(path, "archive:\n  url: x\n".repeat(50)),
  "an empty file": (path: string) => truncateSync(path),
  "a file with pages overwritten": (path: string) => {
    const file = openSync(path, "r+");
    for (let at = 3; at < 40; at++) writeSync(file, Buffer.alloc(2048, 0x5a), 0, 2048, at * 4096);
    closeSync(file);
  },
  "a file cut short": (path: string) => truncateSync(path, 4096 * 5),
} as const;

test.for([
  ["a newer schema", "JOURNAL_NEWER", "the same columns may mean other things by then"],
  ["another program's database", "JOURNAL_FOREIGN", "its tables are someone else's"],
  ["not a database", "JOURNAL_CORRUPT", "a path may be mistyped"],
  ["an empty file", "JOURNAL_CORRUPT", "a new journal over a lost one would send all again"],
] as const)("%s is %s to every role, and left alone: %s", async ([what, code]) => {
  using directory = scratch();
  const path = join(directory.path, "journal.db");
  await journalAt(path);
  SPOILT[what](path);
  const before = readFileSync(path);
  for (const role of ROLES) {
    await expect(SqliteJournal.open({ path, role })).rejects.toMatchObject({
      code,
      hint: expect.stringMatching(/\.$/),
    });
  }
  expect(readFileSync(path).equals(before)).toBe(true);
});

test.for(["a file with pages overwritten", "a file cut short"] as const)(
  "%s is not opened by the daemon, and left alone",
  async (what) => {
    using directory = scratch();
    const path = join(directory.path, "journal.db");
    await journalAt(path);
    SPOILT[what](path);
    const before = readFileSync(path);
    await expect(SqliteJournal.open({ path, role: "owner" })).rejects.toMatchObject({
      code: "JOURNAL_CORRUPT",
      hint: expect.stringContaining("adopt"),
    });
    expect(readFileSync(path).equals(before)).toBe(true);
  },
);

test("a log whose journal is gone is not played into a new one", async () => {
  using directory = scratch();
  const path = join(directory.path, "journal.db");
  await journalAt(path);
  rmSync(path);
  writeFileSync(`${path}-wal`, "frames");
  await expect(SqliteJournal.open({ path, role: "owner" })).rejects.toMatchObject({
    code: "JOURNAL_CORRUPT",
  });
  expect(existsSync(path)).toBe(false);
});

test("only the daemon makes a journal", async () => {
  using directory = scratch();
  for (const role of ["guest", "reader"] as const) {
    for (const path of ["journal.db", "none/journal.db"]) {
      const opening = SqliteJournal.open({ path: join(directory.path, path), role });
      await expect(opening).rejects.toMatchObject({ code: "JOURNAL_MISSING" });
    }
  }
  expect(existsSync(join(directory.path, "none"))).toBe(false);
});

const NO_FILES: readonly [what: string, make: (path: string) => void, hint: string][] = [
  ["a directory", (path) => mkdirSync(path), "Set `journal` to a file in it."],
  ["no regular file", (path) => execFileSync("mkfifo", [path]), "Set `journal` to another file."],
  [
    "a symbolic link to /srv/gone.db",
    (path) => symlinkSync("/srv/gone.db", path),
    "Set `journal` to that file.",
  ],
];

test.for(NO_FILES)(
  "%s in the journal's place is told as what it is",
  async ([what, make, hint]) => {
    using directory = scratch();
    const path = join(directory.path, "state");
    make(path);
    for (const role of ROLES) {
      await expect(SqliteJournal.open({ path, role }), role).rejects.toMatchObject({
        code: "JOURNAL_FOREIGN",
        message: `journal ${path}: is ${what}`,
        hint,
      });
    }
  },
);

test("a link to a journal leaves no lock next to itself", async () => {
  using directory = scratch();
  const link = join(directory.path, "link.db");
  const path = join(directory.path, "journal.db");
  await journalAt(path);
  symlinkSync(path, link);
  await expect(SqliteJournal.open({ path: link, role: "owner" })).rejects.toThrow(
    `is a symbolic link to ${path}`,
  );
  expect(readdirSync(directory.path).sort()).toEqual(["journal.db", "journal.db.lock", "link.db"]);
});

test.runIf(process.getuid?.() === 0).for(["journal.db.lock", "journal.db"])(
  "%s of another user is named, although the directory can be written",
  async (name) => {
    using directory = scratch();
    const path = join(directory.path, "journal.db");
    await journalAt(path);
    chmodSync(directory.path, 0o777);
    for (const file of ["journal.db", "journal.db.lock"])
      if (file !== name) chmodSync(join(directory.path, file), 0o666);
    const script = `
      import "src/../test/unit/journal/load-sqlite.ts";
      import { SqliteJournal } from "src/journal/sqlite-journal.ts";
      const opening = SqliteJournal.open({ path: process.argv[1], role: "owner" });
      await opening.catch(({ code, message, hint }) => console.log(code, message, hint));
    `;
    expect(asNobody(script, path)).toBe(
      `JOURNAL_UNWRITABLE journal ${path}: ${name} cannot be read and written by this user Give the journal's ` +
        "files and directory to the daemon's user (chown), or run this as the user who has them.",
    );
  },
);

test("a directory that cannot be written is named", async () => {
  using directory = scratch();
  const closed = join(directory.path, "closed");
  mkdirSync(closed, { mode: 0o500 });
  // Root may write anywhere but in the kernel's own file systems.
  const path = process.getuid?.() === 0 ? "/proc/none/journal.db" : join(closed, "journal.db");
  await expect(SqliteJournal.open({ path, role: "owner" })).rejects.toMatchObject({
    code: "JOURNAL_UNWRITABLE",
    message: expect.stringContaining(path),
  });
});

test("a backup is a journal", async () => {
  using directory = scratch();
  const path = join(directory.path, "journal.db");
  const copy = join(directory.path, "copy.db");
  await journalAt(path);
  await using journal = await SqliteJournal.open({ path, role: "owner" });
  writeFileSync(copy, "yesterday's");
  const late = journal.setPaused(true);
  await journal.backup(copy);
  await late;
  await using restored = await SqliteJournal.open({ path: copy, role: "owner" });
  expect(await restored.paused()).toBe(true);
  expect(await restored.counts()).toEqual(await journal.counts());
  expect(existsSync(`${copy}.partial`)).toBe(false);
  const nowhere = journal.backup(join(directory.path, "none", "copy.db"));
  const hint = expect.stringMatching(/^Name a place/);
  await expect(nowhere).rejects.toMatchObject({ code: "JOURNAL_UNWRITABLE", hint });
});

test("a backup has an end while a daemon writes", async () => {
  using directory = scratch();
  const path = join(directory.path, "journal.db");
  const copy = join(directory.path, "copy.db");
  await journalAt(path);
  // Many pieces of a copy, between which others write.
  const large = new Database(path);
  large.exec("CREATE TABLE filler AS SELECT zeroblob(60000000) AS bytes");
  large.close();
  await using journal = await SqliteJournal.open({ path, role: "owner" });
  await using reader = await SqliteJournal.open({ path, role: "reader" });
  const copying = { ended: false };
  const backup = reader.backup(copy).finally(() => (copying.ended = true));
  for (let n = 0; !copying.ended && n < 500; n++) await journal.setPaused(n % 2 === 0);
  expect(copying.ended).toBe(true);
  await backup;
});

test.for([
  [0x6969, "NFS", "locks and shared memory end at the host"],
  [0xff534d42, "CIFS", "as above"],
  [0xff534d42 | 0, "CIFS", "the same number, read as a signed one"],
  [0xfe534d42, "SMB2", "as above"],
  [0x65735546, "FUSE", "what stands behind it cannot be known"],
  [0x01021997, "9P", "a host's directory in a virtual machine"],
  [0x00c36400, "Ceph", "as above"],
  [0xef53, undefined, "ext4 is local"],
  [0x58465342, undefined, "XFS is local"],
  [0x9123683e, undefined, "btrfs is local"],
  [0x01021994, undefined, "tmpfs is local"],
] as const)("file system %i is %s: %s", ([type, name]) => {
  expect(networkFileSystem(type)).toBe(name);
});

test.for([
  ["SQLITE_FULL", "JOURNAL_FULL", "room may be made"],
  ["SQLITE_IOERR_FSYNC", "JOURNAL_BROKEN", "nobody knows what reached the disk"],
  ["SQLITE_IOERR_WRITE", "JOURNAL_BROKEN", "the same"],
  ["SQLITE_CORRUPT_INDEX", "JOURNAL_CORRUPT", "extended codes mean the same"],
  ["SQLITE_NOTADB", "JOURNAL_CORRUPT", "someone wrote over it"],
  ["SQLITE_READONLY_DBMOVED", "JOURNAL_READ_ONLY", "writing on would write into nothing"],
  ["SQLITE_BUSY_SNAPSHOT", "JOURNAL_BUSY", "it passes"],
  ["EROFS", "JOURNAL_READ_ONLY", "the disk was remounted"],
  ["ENOSPC", "JOURNAL_FULL", "making the directory may fail so too"],
  ["SQLITE_CONSTRAINT_UNIQUE", undefined, "a breach of our own rules is a bug"],
  ["ERR_INVALID_ARG_TYPE", undefined, "so is this"],
] as const)("%s is %s: %s", ([code, fault]) => {
  const error = Object.assign(new Error("x"), { code });
  expect(storageFault(error, "/j.db")?.code).toBe(fault);
});

test.for([
  ["x".repeat(252), "ENAMETOOLONG", "its log would have a longer name still"],
  [`${"x".repeat(245)}.db`, "ENAMETOOLONG", "the longest of the files next to it has no place"],
  ["a-file/journal.db", "ENOTDIR", "a file is no directory"],
  ["a-loop/journal.db", "ELOOP", "a link to itself leads nowhere"],
] as const)("%s is the place of no journal, to every role (%s): %s", async ([name, why]) => {
  using directory = scratch();
  writeFileSync(join(directory.path, "a-file"), "");
  symlinkSync("a-loop", join(directory.path, "a-loop"));
  for (const role of ROLES)
    await expect(
      SqliteJournal.open({ path: join(directory.path, name), role }),
    ).rejects.toMatchObject({
      code: "JOURNAL_UNWRITABLE",
      message: expect.stringContaining(why),
      hint: expect.stringContaining("Set `journal` to a file in a directory"),
    });
});

test.runIf(can("unshare", "-m", "true"))(
  "a disk with room and without inodes is full, where a journal is opened or made",
  async () => {
    using directory = scratch();
    const point = join(directory.path, "disk");
    using _disk = smallDisk(point, "40m,nr_inodes=5");
    const path = join(point, "journal.db");
    const full = {
      code: "JOURNAL_FULL",
      message: expect.stringContaining("no inode left") as string,
      hint: expect.stringContaining("df -i") as string,
    };
    await journalAt(path);
    for (const name of ["one", "two"]) writeFileSync(join(point, name), "");
    for (const role of ["owner", "guest"] as const)
      await expect(SqliteJournal.open({ path, role })).rejects.toMatchObject(full);
    const other = SqliteJournal.open({ path: join(point, "other.db"), role: "owner" });
    await expect(other).rejects.toMatchObject(full);
  },
);

test.runIf(can("unshare", "-m", "true"))(
  "a closed journal on a read-only disk can be read and copied, and takes nothing",
  async () => {
    using directory = scratch();
    const point = join(directory.path, "disk");
    using disk = smallDisk(point, "40m");
    const path = join(point, "journal.db");
    await journalAt(path);
    expect(existsSync(`${path}-wal`)).toBe(false);
    disk.remount("ro");
    const copy = join(directory.path, "copy.db");
    {
      await using journal = await SqliteJournal.open({ path, role: "reader" });
      expect(await Array.fromAsync(journal.list({}))).toHaveLength(200);
      await expect(journal.setPaused(true)).rejects.toMatchObject({ code: "JOURNAL_READ_ONLY" });
      await journal.backup(copy);
      await journal.backup(copy);
    }
    await using copied = await SqliteJournal.open({ path: copy, role: "owner" });
    expect(await Array.fromAsync(copied.list({}))).toHaveLength(200);
    for (const role of ["guest", "owner"] as const)
      await expect(SqliteJournal.open({ path, role })).rejects.toMatchObject({
        code: "JOURNAL_READ_ONLY",
      });
  },
);

test.runIf(can("unshare", "-m", "true"))(
  "who would write is told that the disk of a journal in use became read-only",
  async () => {
    using directory = scratch();
    const point = join(directory.path, "disk");
    using disk = smallDisk(point, "40m");
    const path = join(point, "journal.db");
    const owner = await SqliteJournal.open({ path, role: "owner" });
    const [log, shared] = [`${path}-wal`, `${path}-shm`].map((file) => readFileSync(file));
    await owner.close();
    writeFileSync(`${path}-wal`, log ?? "");
    writeFileSync(`${path}-shm`, shared ?? "");
    disk.remount("ro");
    await using reader = await SqliteJournal.open({ path, role: "reader" });
    expect(await reader.mirrors()).toEqual([]);
    await expect(SqliteJournal.open({ path, role: "guest" })).rejects.toMatchObject({
      code: "JOURNAL_READ_ONLY",
    });
  },
);

describe("a reader of a journal", () => {
  test("that is at rest makes no file next to it", async () => {
    using directory = scratch();
    const path = join(directory.path, "journal.db");
    await journalAt(path);
    const before = readdirSync(directory.path);
    {
      await using reader = await SqliteJournal.open({ path, role: "reader" });
      expect(await Array.fromAsync(reader.list({}))).toHaveLength(200);
      expect(readdirSync(directory.path)).toEqual(before);
    }
    expect(readdirSync(directory.path)).toEqual(before);
  });

  test.for(["owner", "guest"] as const)("that an %s has open sees what comes", async (role) => {
    using directory = scratch();
    const path = join(directory.path, "journal.db");
    await journalAt(path);
    await using writer = await SqliteJournal.open({ path, role });
    await using reader = await SqliteJournal.open({ path, role: "reader" });
    await writer.setPaused(true);
    expect(await reader.paused()).toBe(true);
  });

  test.for([
    ["that a daemon is about to open", (path: string) => takeOwnerLock(path)],
    ["that is large", (path: string) => edit(path, "CREATE TABLE x AS SELECT zeroblob(65e6)")],
  ] as const)("%s sees what comes, too", async ([, prepare]) => {
    using directory = scratch();
    const path = join(directory.path, "journal.db");
    await journalAt(path);
    const held = prepare(path);
    await using reader = await SqliteJournal.open({ path, role: "reader" });
    {
      await using guest = await SqliteJournal.open({ path, role: "guest" });
      await guest.setPaused(true);
    }
    expect(await reader.paused()).toBe(true);
    held?.close();
  });
});
