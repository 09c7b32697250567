/**
 * What stands against the daemon on its own host and passes: it stays up, sends nothing meanwhile, tells
 * everybody who asks, and continues automatically.
 */
import { execFileSync, spawn } from "node:child_process";
import {
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { once } from "node:events";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test, vi } from "vitest";
import { aProcess, type Running } from "../fixtures/a-process.ts";
import { audit } from "../fixtures/auditor.ts";
import { pdfOf } from "../fixtures/documents.ts";
import { freePort } from "../fixtures/free-port.ts";
import { hookServer } from "../fixtures/hook-server.ts";
import { can, smallBtrfs, smallDisk } from "../fixtures/small-disk.ts";
import { until } from "../fixtures/until.ts";
import { type World, aWorld } from "../fixtures/world.ts";
import { scanferry } from "../unit/cli/in-process.ts";

// Every step is a process, some wait for a backoff.
vi.setConfig({ testTimeout: 120_000 });

const mounts = can("unshare", "-m", "true");
const WAIT_MS = 30_000;
const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** A scanferry whose page listens at a port that is known. */
async function aHost(host = "127.0.0.1") {
  const world = await aWorld();
  const port = await freePort();
  const web = `http://${host}:${port}`;
  const file = world.configFile();
  const text = readFileSync(file, "utf8").replace(
    "web: off",
    `web: { listen: "${host}:${port}", token: 0123456789abcdef }`,
  );
  writeFileSync(file, text);
  const health = async () => {
    const since = performance.now();
    const signal = AbortSignal.timeout(5_000);
    const headers = { authorization: "Bearer 0123456789abcdef" };
    const reply = await fetch(`${web}/healthz`, { signal, headers });
    const { why } = (await reply.json()) as { why: string };
    return { status: reply.status, why, tookMs: performance.now() - since };
  };
  return {
    world,
    port,
    file,
    health,
    start(more = "") {
      writeFileSync(file, `${text}${more}`);
      return aProcess(["--config", file, "run"]);
    },
    async status(...options: string[]) {
      const { stdout, stderr } = await scanferry(["--config", file, "status", ...options]);
      return stdout + stderr;
    },
    /** Waits until the daemon says on its page that it waits for this. */
    waitsFor(code: string, daemon: Running) {
      const look = async () => {
        const now = await health().catch(() => undefined);
        return now?.status === 503 && now.why.includes(code);
      };
      return until(`healthz says ${code}`, look, WAIT_MS, () => daemon.output);
    },
    archived(documents: number, daemon: Running) {
      const look = () => world.archive.documents().length === documents;
      return until(`${documents} archived`, look, WAIT_MS, () => daemon.output);
    },
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  };
}

type Host = Awaited<ReturnType<typeof aHost>>;

function drop(world: World, n: number): void {
  world.write(`scan-${n}.pdf`, pdfOf(1, { seed: n }));
}

/** Another process that holds a database, by the real library. */
async function locker(path: string, statement: string): Promise<Disposable> {
  const script = `
    const db = new (require("better-sqlite3"))(process.argv[1]);
    db.exec(process.argv[2]);
    console.log("locked");
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ["-e", script, path, statement], {
    cwd: ROOT,
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout, "data");
  return { [Symbol.dispose]: () => void child.kill("SIGKILL") };
}

/** Fills a disk to its end. */
function fill(point: string): Disposable {
  const path = join(point, "ballast");
  const file = openSync(path, "w");
  const bytes = [1_000_000, 4_096, 1];
  for (const size of bytes) {
    try {
      for (;;) writeSync(file, Buffer.alloc(size, 1));
    } catch {
      // Full.
    }
  }
  closeSync(file);
  return {
    [Symbol.dispose]() {
      rmSync(path, { force: true });
      // btrfs gives room back with its next transaction.
      execFileSync("sync", ["-f", point]);
    },
  };
}

type Obstacle = {
  readonly code: string;
  readonly possible: boolean;
  readonly disk?: boolean;
  readonly begin: (host: Host) => Disposable | Promise<Disposable>;
};

const BUSY: Obstacle = {
  code: "JOURNAL_BUSY",
  possible: true,
  begin: ({ world }) => locker(world.journal, "BEGIN EXCLUSIVE"),
};

/** Locked between two documents, of which one is archived. */
async function busyAmid(host: Host, daemon: ReturnType<Host["start"]>): Promise<Disposable> {
  drop(host.world, 1);
  await host.archived(1, daemon);
  const lock = await BUSY.begin(host);
  drop(host.world, 2);
  await host.waitsFor("JOURNAL_BUSY", daemon);
  return lock;
}

const FULL: Obstacle = {
  code: "JOURNAL_FULL",
  possible: mounts,
  disk: true,
  begin: ({ world }) => fill(dirname(world.journal)),
};

/** Nothing is open for writing any more, so that the kernel lets it be remounted. */
const READ_ONLY: Obstacle = {
  code: "JOURNAL_READ_ONLY",
  possible: mounts,
  disk: true,
  begin({ world }) {
    const remount = (how: string) =>
      execFileSync("mount", ["-o", `remount,${how}`, dirname(world.journal)]);
    remount("ro");
    return { [Symbol.dispose]: () => void remount("rw") };
  },
};

const LOCKED: Obstacle = {
  code: "JOURNAL_LOCKED",
  possible: true,
  begin: ({ world }) => locker(`${world.journal}.lock`, "BEGIN EXCLUSIVE"),
};

describe("a journal that cannot be used for a while", () => {
  test.for([BUSY, FULL])(
    "$code while it runs",
    async ({ code, possible, disk, begin }, { skip }) => {
      if (!possible) skip("not possible on this machine");
      await using host = await aHost();
      const { world } = host;
      using _disk = disk ? smallDisk(dirname(world.journal), "64m") : undefined;
      drop(world, 1);
      await using daemon = host.start();
      await host.archived(1, daemon);
      {
        using _obstacle = await begin(host);
        drop(world, 2);
        await host.waitsFor(code, daemon);
        const asked = [await host.health(), await host.health(), await host.health()];
        expect(Math.min(...asked.map(({ tookMs }) => tookMs))).toBeLessThan(100);
        expect(await host.status()).toContain(code);
        expect(JSON.parse(await host.status("--json"))).toMatchObject({
          running: true,
          documents: { settling: expect.any(Number) as number },
          health: { healthy: false },
        });
        expect(world.archive.documents()).toHaveLength(1);
      }
      await host.archived(2, daemon);
      // An answer may be a moment old.
      await until("it is healthy again", async () => (await host.health()).status === 200);
      expect(await daemon.end("SIGTERM")).toBe(0);
      expect(await audit(world)).toEqual([]);
    },
  );

  test.for([BUSY, FULL, READ_ONLY, LOCKED])(
    "$code at the start",
    async ({ code, possible, disk, begin }, { skip }) => {
      if (!possible) skip("not possible on this machine");
      await using host = await aHost();
      const { world } = host;
      mkdirSync(dirname(world.journal), { recursive: true });
      using _disk = disk ? smallDisk(dirname(world.journal), "64m") : undefined;
      drop(world, 1);
      {
        await using first = host.start();
        await host.archived(1, first);
        await first.end("SIGTERM");
      }
      drop(world, 2);
      await using daemon = await (async () => {
        using _obstacle = await begin(host);
        const waiting = host.start();
        await host.waitsFor(code, waiting);
        const asked = [await host.health(), await host.health(), await host.health()];
        expect(Math.min(...asked.map(({ tookMs }) => tookMs))).toBeLessThan(100);
        expect(await host.status()).toContain(code);
        return waiting;
      })();
      await host.archived(2, daemon);
      expect((await host.health()).status).toBe(200);
      expect(await daemon.end("SIGTERM")).toBe(0);
      expect(await audit(world)).toEqual([]);
    },
  );

  test("is told to people, and a daemon that waits for it ends when it is asked to", async ({
    skip,
  }) => {
    if (!mounts) skip("not possible on this machine");
    await using host = await aHost();
    await using hook = await hookServer();
    using _disk = smallDisk(dirname(host.world.journal), "64m");
    {
      using _full = fill(dirname(host.world.journal));
      await using daemon = host.start(`notify: { webhook: [{ url: ${hook.url} }] }\n`);
      const [call] = await hook.got(1);
      expect(JSON.parse(call?.body ?? "")).toMatchObject({
        events: [{ event: "disk", title: expect.stringContaining("JOURNAL_FULL") as string }],
      });
      expect(await daemon.end("SIGTERM")).toBe(0);
    }
  });

  test("a full btrfs kills nobody: there SQLite's shared memory cannot be written", async ({
    skip,
  }) => {
    if (!mounts || !can("mkfs.btrfs", "--version")) skip("not possible on this machine");
    await using host = await aHost();
    const { world } = host;
    using _disk = smallBtrfs(dirname(world.journal));
    drop(world, 1);
    await using daemon = host.start();
    await host.archived(1, daemon);
    for (let n = 2; n < 5; n++) {
      using _full = fill(dirname(world.journal));
      drop(world, n);
      await host.waitsFor("JOURNAL_FULL", daemon);
      expect(await host.status()).toContain("JOURNAL_FULL");
      expect(world.archive.documents()).toHaveLength(n - 1);
      _full[Symbol.dispose]();
      await host.archived(n, daemon);
    }
    using _full = fill(dirname(world.journal));
    drop(world, 5);
    await host.waitsFor("JOURNAL_FULL", daemon);
    expect(await daemon.end("SIGTERM")).toBe(0);
  });

  test("BUSY does not keep a daemon that runs from ending within `shutdown`", async () => {
    await using host = await aHost();
    await using daemon = host.start();
    using _lock = await busyAmid(host, daemon);
    const since = performance.now();
    expect(await daemon.end("SIGTERM")).toBe(0);
    expect(performance.now() - since).toBeLessThan(12_000);
  });

  test("BUSY does not keep it from using another journal after a reload", async () => {
    await using host = await aHost();
    await using daemon = host.start();
    using _lock = await busyAmid(host, daemon);
    const { file } = host;
    const other = `${host.world.journal}.other`;
    writeFileSync(file, readFileSync(file, "utf8").replace(host.world.journal, other));
    daemon.child.kill("SIGHUP");
    await daemon.says(/read again[\s\S]*"started"/);
    const healthy = async () => (await host.health()).status === 200;
    await until("it is healthy again", healthy, WAIT_MS, () => daemon.output);
    expect(await daemon.end("SIGTERM")).toBe(0);
  });
});

test("an address for the page that comes later keeps nothing else from beginning", async ({
  skip,
}) => {
  const address = "198.51.100.47";
  const word = (what: string) => ["addr", what, `${address}/32`, "dev", "lo"];
  if (!can("ip", ...word("add"))) skip("no addresses can be given here");
  execFileSync("ip", word("del"));
  using given = new DisposableStack();
  await using host = await aHost(address);
  drop(host.world, 1);
  await using daemon = host.start();
  await host.archived(1, daemon);
  expect(daemon.output.stdout).toContain("this host has no such address");
  execFileSync("ip", word("add"));
  given.defer(() => void execFileSync("ip", word("del")));
  await until(
    "the page",
    () => host.health().catch(() => undefined),
    WAIT_MS,
    () => daemon.output,
  );
  expect(await host.status()).toContain(`page at http://${address}:${host.port}`);
});

describe("under `ulimit -n 40`", () => {
  const few = ["sh", "-c", 'ulimit -n 40; exec "$@"', "sh"];
  const needs = "the limit of open files is 40, 128 are needed";

  test.each(["run", "sync", "plan"])(
    "%s names the limit and what it should be",
    async (command) => {
      await using host = await aHost();
      await using few40 = aProcess(["--config", host.world.configFile(), command], {}, few);
      expect(await few40.ended).toBe(1);
      expect(few40.output.stderr).toContain(
        `scanferry: ${needs}; allow 1024 or more: \`ulimit -n\``,
      );
      expect(few40.output.stdout + few40.output.stderr).not.toMatch(/a bug|EMFILE|"level"/);
    },
  );

  test("`check` finds it, and ends; what opens little is done", async () => {
    await using host = await aHost();
    const file = host.world.configFile();
    await using check = aProcess(["--config", file, "check"], {}, few);
    expect(await check.ended).toBe(1);
    expect(check.output.stdout).toMatch(new RegExp(`^FAIL +${needs} — allow 1024 or more`, "m"));
    await using status = aProcess(["--config", file, "status"], {}, few);
    expect([await status.ended, status.output.stderr]).toEqual([0, ""]);
  });

  test("what meets the limit in the middle says so", async () => {
    await using host = await aHost();
    await using demo = aProcess(
      ["demo", "--once", "--data", join(host.world.dir, "demo")],
      {},
      few,
    );
    expect(await demo.ended).toBe(1);
    expect(demo.output.stderr).toContain(
      "too many files are open in this process, 40 may be (EMFILE)",
    );
  });
});
