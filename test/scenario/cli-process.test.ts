/** The command line in a process of its own: exit codes, signals, pipes. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { aProcess, BIN, BUILT } from "../fixtures/a-process.ts";
import { pdfOf } from "../fixtures/documents.ts";
import { freePort } from "../fixtures/free-port.ts";
import { until } from "../fixtures/until.ts";
import { aWorld, type World } from "../fixtures/world.ts";
import { linesOf } from "../unit/cli/in-process.ts";

class Folder {
  readonly path = mkdtempSync(join(tmpdir(), "scanferry-cli-"));

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

test("a configuration with three mistakes: three lines with file, key and fix, and 2", async () => {
  using folder = new Folder();
  const config = join(folder.path, "bad.yaml");
  const text = `archive: { url: "http://127.0.0.1:9", accountKey: k, signing: { secret: s } }
mirrors: [{ source: /srv/scans, target: /Scans, settel: 3s }]
upload: { concurrency: many }
log: { level: loud }
`;
  writeFileSync(config, text, { mode: 0o600 });
  for (const command of ["run", "check"]) {
    await using process = aProcess(["--config", config, command]);
    expect(await process.ended).toBe(2);
    const lines = linesOf(process.output.stderr);
    expect(lines).toHaveLength(3);
    expect(lines[0]).toMatch(
      /bad\.yaml:2: mirrors\[0\]\.settel: unknown key; did you mean settle\?$/,
    );
    expect(process.output.stdout).toBe("");
  }
});

test("the configuration is found in the working directory and in $SCANFERRY_CONFIG", async () => {
  await using world = await aWorld();
  const config = world.configFile();
  await using named = aProcess(["status", "--json"], { SCANFERRY_CONFIG: config });
  expect(await named.ended).toBe(0);
  expect(JSON.parse(named.output.stdout)).toMatchObject({ running: false });
});

test("a pass that waits for a document which is never converted does not call itself done", async () => {
  await using world = await aWorld();
  world.archive.setFaults([{ on: "upload", do: "convert", afterMs: "never" }]);
  world.write("scan.pdf", pdfOf(1));
  const config = world.configFile();
  const text = readFileSync(config, "utf8");
  const conversion = "conversion: { poll: { initial: 100ms, max: 500ms }";
  writeFileSync(config, text.replace(conversion, `${conversion}, stuckAfter: 1s`));
  await using sent = aProcess(["--config", config, "sync", "--no-wait"]);
  expect(await sent.ended, "it was to be uploaded, and is").toBe(0);
  await using pass = aProcess(["--config", config, "sync"]);
  expect(await pass.ended).toBe(3);
  expect(linesOf(pass.output.stdout)).toEqual([
    expect.stringMatching(/^The archive has not converted 1 document since .* document 1, /),
    "sent 0, converted 0, 1 not CONVERTED yet, held 0, failed 0",
  ]);
  await using told = aProcess(["--config", config, "sync", "--json"]);
  expect(await told.ended).toBe(3);
  expect(JSON.parse(told.output.stdout)).toMatchObject({
    problems: [{ state: "uploaded", code: "CONVERSION_STUCK", documents: 1 }],
  });
});

test.for([
  ["a download that is over", (world: World) => rmSync(join(world.source, "scan.pdf.aria2"))],
  ["a user who wants it sent as it is", (world: World) => retryAnyway(world)],
] as const)("the next pass looks at an unfinished file again: %s", async ([, finish]) => {
  await using world = await aWorld();
  world.write("scan.pdf", pdfOf(1));
  world.write("scan.pdf.aria2", "control");
  const config = world.configFile();
  await using unfinished = aProcess(["--config", config, "sync"]);
  expect(await unfinished.ended).toBe(3);
  expect(unfinished.output.stdout).toContain("scan.pdf.aria2 stands next to it");
  await finish(world);
  await using pass = aProcess(["--config", config, "sync"]);
  expect(await pass.ended, pass.output.stdout).toBe(0);
  expect(world.archive.documents()).toHaveLength(1);
});

async function retryAnyway(world: World): Promise<void> {
  await using retry = aProcess(["--config", world.configFile(), "retry", "--anyway"]);
  expect(await retry.ended).toBe(0);
}

test("a pass does not wait until a file is as old as `minAge`", async () => {
  await using world = await aWorld();
  world.write("scan.pdf", pdfOf(1));
  await using pass = aProcess(["--config", world.configFile("", "    minAge: 7d"), "sync"]);
  expect(await pass.ended).toBe(3);
  expect(pass.output.stdout).toContain("FILE_YOUNG");
});

test("a name whose bytes are no text is found as a shell hands it over", async () => {
  await using world = await aWorld();
  const name = Buffer.concat([
    Buffer.from(`${world.source}/bad`),
    Buffer.of(0xff),
    Buffer.from(".txt"),
  ]);
  writeFileSync(name, "no text in its name");
  const config = world.configFile();
  await using sync = aProcess(["--config", config, "sync"]);
  expect(await sync.ended).toBe(0);
  for (const command of ["list --json", "explain"]) {
    const glob = ["sh", "-c", `exec "$@" ${command} ${world.source}/bad*`, "sh"];
    await using process = aProcess(["--config", config], {}, glob);
    expect(await process.ended).toBe(0);
    expect(process.output.stdout).toContain(
      command === "explain" ? "bad\\xff.txt" : "bad\\\\xff.txt",
    );
    expect(process.output.stdout).toContain("converted");
  }
});

test("it starts through a link to itself, and through one to its directory", () => {
  using folder = new Folder();
  symlinkSync(BIN, join(folder.path, "scanferry"));
  symlinkSync(dirname(BIN), join(folder.path, "bin"));
  for (const command of ["scanferry", "bin/scanferry"]) {
    const { stdout, stderr } = spawnSync(join(folder.path, command), ["--version"]);
    expect([command, stderr.toString()]).toEqual([command, ""]);
    expect(stdout.toString()).toMatch(/^\d+\.\d+\.\d+\n$/);
  }
});

test("init writes a starter that only its owner reads, and overwrites nothing unasked", async () => {
  using folder = new Folder();
  const config = join(folder.path, "new", "scanferry.yaml");
  const words = ["--config", config, "init", "--source", "/srv/in", "--url", "https://a.example"];
  await using first = aProcess(words);
  expect(await first.ended).toBe(0);
  expect(statSync(config).mode & 0o777).toBe(0o600);
  const written = readFileSync(config, "utf8");
  expect(written).toMatch(/url: https:\/\/a\.example[\s\S]*source: \/srv\/in/);
  writeFileSync(config, "mine");
  await using second = aProcess(words);
  expect(await second.ended).toBe(2);
  expect(linesOf(second.output.stderr)).toEqual([
    expect.stringMatching(/exists; --force overwrites/),
  ]);
  expect(readFileSync(config, "utf8")).toBe("mine");
  await using forced = aProcess([...words, "--force"]);
  expect(await forced.ended).toBe(0);
  expect(readFileSync(config, "utf8")).toBe(written);
});

/** Has a process send itself this signal while its program is loaded. */
function signalWhileLoading(signal: NodeJS.Signals): NodeJS.ProcessEnv {
  const preload = `import { registerHooks } from "node:module";
    let sent = false;
    registerHooks({ resolve(word, context, next) {
      if (!sent && context.parentURL?.endsWith("/main.js")) {
        sent = true;
        process.kill(process.pid, "${signal}");
      }
      return next(word, context);
    } });`;
  return { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(preload)}` };
}

test.for([
  ["SIGTERM", "run", 0, "nothing is in flight yet"],
  ["SIGINT", "run", 0, "the same"],
  ["SIGTERM", "sync", "SIGTERM", "what was asked for was not done"],
] as const)(
  "%s while the program of `%s` is loaded ends it with %s: %s",
  async ([signal, command, expected]) => {
    await using world = await aWorld();
    const env = signalWhileLoading(signal);
    await using process = aProcess(["--config", world.configFile(), command], env);
    expect(await process.ended).toBe(expected);
    expect(process.output).toEqual({ stdout: "", stderr: "" });
  },
);

test("SIGHUP while the daemon is loaded changes nothing: it reads the configuration anyway", async () => {
  await using world = await aWorld();
  const env = signalWhileLoading("SIGHUP");
  await using process = aProcess(["--config", world.configFile(), "run"], env);
  await process.says(/"running"|"started"|watching/);
  expect(await process.end("SIGTERM")).toBe(0);
});

test.for([
  ["#!/bin/sh\nexit 1\n", 0o755, "too old"],
  ["", 0o644, "no program"],
] as const)(
  "a $SCANFERRY_NODE of no use (%j, mode %o) is told of, and another one runs: %s",
  ([text, mode]) => {
    using folder = new Folder();
    const node = join(folder.path, "node");
    writeFileSync(node, text, { mode });
    const env = { ...process.env, SCANFERRY_NODE: node };
    const { status, stdout, stderr } = spawnSync(BIN, ["--version"], { env, encoding: "utf8" });
    expect([status, stdout]).toEqual([0, expect.stringMatching(/^\d+\.\d+\.\d+\n$/)]);
    expect(linesOf(stderr)).toEqual([
      expect.stringContaining(`SCANFERRY_NODE is ${node}, which is no Node`),
    ]);
  },
);

test.for(["SIGTERM", "SIGINT"] as const)(
  "serve-archive says where it listens; %s ends it with 0, and it keeps what it has",
  async (signal) => {
    using folder = new Folder();
    const words = [
      "serve-archive",
      "--data",
      join(folder.path, "data"),
      "--listen",
      "127.0.0.1:0",
      "--account",
      "k:s",
    ];
    let first = "";
    for (const more of [["--folder", "/A/B"], []]) {
      await using process = aProcess([...words, ...more]);
      await process.says(/listening on http:\/\/127\.0\.0\.1:\d+\n/);
      const [, url = ""] = /listening on (\S+)/.exec(process.output.stdout) ?? [];
      const config = join(folder.path, "c.yaml");
      writeFileSync(config, `archive: { url: "${url}", accountKey: k, signing: { secret: s } }\n`, {
        mode: 0o600,
      });
      await using folders = aProcess(["--config", config, "archive", "folders", "--json"]);
      expect(await folders.ended, folders.output.stderr).toBe(0);
      first ||= folders.output.stdout;
      expect(folders.output.stdout).toBe(first);
      expect(first).toContain('"name":"A"');
      expect(await process.end(signal)).toBe(0);
      expect(process.output.stderr).toBe("");
    }
  },
);

test("a port that is taken: one line, 1", async () => {
  await using world = await aWorld();
  const { host } = new URL(world.archive.url);
  await using process = aProcess([
    "serve-archive",
    "--data",
    join(world.dir, "other"),
    "--listen",
    host,
  ]);
  expect(await process.ended).toBe(1);
  expect(linesOf(process.output.stderr)).toEqual([
    expect.stringMatching(/EADDRINUSE.*port 0 takes any/),
  ]);
});

test("what cannot be written is a fault", async () => {
  await using world = await aWorld();
  const config = world.configFile();
  await using pass = aProcess(["--config", config, "sync"]);
  expect(await pass.ended).toBe(0);
  for (const [word, to] of [
    ["status", ">&-"],
    ["status", ">/dev/full"],
    ["--help", ">/dev/full"],
    ["--version", ">&-"],
  ] as const) {
    const words = ["-c", `exec "$0" "$@" ${to}`, BIN, "--config", config, word];
    const { status, stderr } = spawnSync("sh", words, { encoding: "utf8" });
    expect([word, stderr, status]).toEqual([
      word,
      expect.stringContaining("scanferry: cannot write the output"),
      1,
    ]);
  }
});

test("a reader that leaves early ends a long list quietly", async () => {
  await using world = await aWorld();
  const config = world.configFile();
  for (let n = 0; n < 40; n++)
    world.write(`a-rather-long-name-${n}-${"x".repeat(180)}.txt`, `${n}`);
  await using sync = aProcess(["--config", config, "sync"]);
  expect(await sync.ended).toBe(0);
  const child = spawn(process.execPath, [BUILT, "--config", config, "list", "--json"], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stderr = "";
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  // The pipe is closed before anything is read: the first write fails.
  child.stdout.destroy();
  const [code] = (await once(child, "close")) as [number];
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
});

test("Ctrl-C ends a sync that waits, with 130, one line and nothing half done", async () => {
  await using world = await aWorld({ convertDelayMs: 60_000 });
  world.write("scan.pdf", pdfOf(1));
  await using sync = aProcess(["--config", world.configFile(), "sync"]);
  await sync.says(/^uploaded +scan\.pdf/m);
  expect(await sync.end("SIGINT")).toBe(130);
  expect(linesOf(sync.output.stderr)).toEqual([
    expect.stringMatching(/stopped before everything was done/),
  ]);
});

test("status --watch goes on until it is asked to stop, and that is no failure", async () => {
  await using world = await aWorld();
  const config = world.configFile();
  await using watch = aProcess(["--config", config, "status", "--watch", "--json"]);
  await watch.says(/"held":0/);
  await using pause = aProcess(["--config", config, "pause"]);
  expect(await pause.ended).toBe(0);
  await watch.says(/"paused":true/);
  expect(await watch.end("SIGINT")).toBe(0);
});

test("a status next to a running daemon names its process; retry reaches it", async () => {
  await using world = await aWorld();
  const config = world.configFile();
  world.write("New/scan.pdf", pdfOf(1));
  await using daemon = aProcess(["--config", config, "run"]);
  await daemon.says(/"held/);
  await using status = aProcess(["--config", config, "status"]);
  expect(await status.ended).toBe(0);
  expect(status.output.stdout).toMatch(
    new RegExp(`^scanferry is running \\(pid ${daemon.child.pid}`, "m"),
  );
  expect(status.output.stdout).toMatch(/\/Scans\/New \(1 document\)/);
  // Before the folder is there: the daemon may find it on its own.
  await using retry = aProcess(["--config", config, "retry"]);
  expect(await retry.ended).toBe(0);
  expect(retry.output.stdout).not.toMatch(/not running/);
  world.archive.createFolder("/Scans/New");
  await using again = aProcess(["--config", config, "retry"]);
  await again.ended;
  await until("the document", () => world.archive.documents().length === 1);
  expect(await daemon.end("SIGTERM")).toBe(0);
});

test("a status next to a daemon that stands still says so, first", async () => {
  await using world = await aWorld();
  const config = world.configFile();
  const page = { SCANFERRY_WEB: `127.0.0.1:${await freePort()}` };
  await using daemon = aProcess(["--config", config, "run"], page);
  await daemon.says(/"started/);
  daemon.child.kill("SIGSTOP");
  await using status = aProcess(["--config", config, "status"], page);
  expect(await status.ended).toBe(0);
  expect(linesOf(status.output.stdout).slice(0, 2)).toEqual([
    "Nothing is sent",
    "  the daemon has not answered for 10 seconds.",
  ]);
  expect(status.output.stdout).toMatch(/^scanferry is running \(pid/m);
  daemon.child.kill("SIGCONT");
  await using later = aProcess(["--config", config, "status"], page);
  expect(await later.ended).toBe(0);
  expect(later.output.stdout).not.toMatch(/has not answered/);
  expect(await daemon.end("SIGTERM")).toBe(0);
});

test("demo goes on watching: a file that is dropped goes too, a new folder's is held; Ctrl-C ends it with 0", async () => {
  using folder = new Folder();
  const data = join(folder.path, "kept");
  await using demo = aProcess(["demo", "--data", data, "--port", "0"]);
  await demo.says(/Ctrl-C/);
  writeFileSync(join(data, "scans", "dropped.pdf"), pdfOf(3, { seed: 99 }));
  await demo.says(/^CONVERTED +dropped\.pdf +document \d+, 3 pages$/m);
  mkdirSync(join(data, "scans", "New"));
  writeFileSync(join(data, "scans", "New", "late.pdf"), pdfOf(1, { seed: 98 }));
  await demo.says(/^held +New\/late\.pdf +FOLDER_MISSING: .*scanferry demo --data/m);
  expect(await demo.end("SIGINT")).toBe(0);
  expect(demo.output.stderr).toBe("");

  // As the line said: a demonstration that starts over this directory has the folder.
  await using again = aProcess(["demo", "--data", data, "--port", "0", "--once"]);
  expect(await again.ended, again.output.stdout).toBe(0);
  expect(again.output.stdout).toMatch(/^CONVERTED +New\/late\.pdf/m);
});
