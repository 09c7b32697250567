/** The daemon under a service manager: what it is told, over a real socket, by the real program. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { aProcess } from "../fixtures/a-process.ts";
import { audit } from "../fixtures/auditor.ts";
import { pdfOf } from "../fixtures/documents.ts";
import { until } from "../fixtures/until.ts";
import { aWorld } from "../fixtures/world.ts";

function has(program: string): boolean {
  return spawnSync(program, ["--version"], { stdio: "ignore" }).status === 0;
}

/** Node has no such sockets, so another program listens: a line for each message. */
const LISTENER = `
import socket, sys
manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
manager.bind(sys.argv[1])
print("listening", flush=True)
while True:
    # What comes with a message is closed at once: the sender waits for that.
    print(manager.recv(4096).decode().replace(chr(10), " "), flush=True)
`;

/** A service manager that keeps what it is told. */
class Manager implements AsyncDisposable {
  readonly dir = mkdtempSync(join(tmpdir(), "scanferry-manager-"));
  readonly socket = join(this.dir, "notify");
  readonly #listener: ChildProcess;
  #heard = "";

  constructor() {
    this.#listener = spawn("python3", ["-c", LISTENER, this.socket], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    this.#listener.stdout?.on("data", (chunk: Buffer) => {
      this.#heard += chunk.toString();
    });
  }

  get heard(): string[] {
    return this.#heard.trim().split("\n");
  }

  /** Waits for a message like this, after the first `after` messages. */
  async hears(what: RegExp, after = 0): Promise<number> {
    const at = await until(`the message ${what}; heard: ${this.#heard}`, () => {
      const found = this.heard.findIndex((line, index) => index >= after && what.test(line));
      return found < 0 ? undefined : found + 1;
    });
    return at;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listener.kill("SIGKILL");
    rmSync(this.dir, { recursive: true, force: true });
  }
}

test.runIf(has("systemd-notify") && has("python3"))(
  "ready, what goes on, pings, reloads good and bad, and the end",
  async () => {
    await using manager = new Manager();
    await manager.hears(/^listening$/);
    await using world = await aWorld();
    const config = world.configFile();
    const env = { NOTIFY_SOCKET: manager.socket, WATCHDOG_USEC: "600000" };
    await using daemon = aProcess(["--config", config, "run"], env);
    let heard = await manager.hears(/^READY=1$/);
    heard = await manager.hears(/^WATCHDOG=1 STATUS=idle; 0 converted$/, heard);
    world.write("scan.pdf", pdfOf(1));
    heard = await manager.hears(/^WATCHDOG=1 STATUS=idle; 1 converted$/, heard);

    writeFileSync(config, "archive: {", { mode: 0o600 });
    daemon.child.kill("SIGHUP");
    heard = await manager.hears(/^RELOADING=1 MONOTONIC_USEC=\d+$/, heard);
    heard = await manager.hears(/^READY=1$/, heard);
    heard = await manager.hears(/^WATCHDOG=1 STATUS=.*; the new config is refused$/, heard);

    world.configFile("log: { level: debug }");
    daemon.child.kill("SIGHUP");
    heard = await manager.hears(/^RELOADING=1/, heard);
    heard = await manager.hears(/^READY=1$/, heard);
    heard = await manager.hears(/^WATCHDOG=1 STATUS=idle; 1 converted$/, heard);

    expect(await daemon.end("SIGTERM")).toBe(0);
    await manager.hears(/^STOPPING=1 STATUS=stopping$/, heard);
    expect(await audit(world)).toEqual([]);
  },
);

test.for([
  ["exit 1", "it refuses"],
  ["exec sleep 600", "it hangs"],
  [undefined, "it is not installed"],
] as const)("a notifier like %o hurts nobody, although %s", async ([script]) => {
  await using world = await aWorld();
  const program = join(world.dir, "systemd-notify");
  if (script !== undefined) {
    writeFileSync(program, `#!/bin/sh\n${script}\n`);
    chmodSync(program, 0o755);
  }
  const PATH = script === undefined ? world.dir : `${world.dir}:${process.env["PATH"]}`;
  const env = { PATH, NOTIFY_SOCKET: join(world.dir, "nobody"), WATCHDOG_USEC: "600000" };
  await using daemon = aProcess(["--config", world.configFile(), "run"], env);
  await daemon.says(/"started"/);
  world.write("scan.pdf", pdfOf(1));
  await until("the scan", () => world.archive.documents().length === 1);
  await daemon.says(/the service manager cannot be told/);
  expect(await daemon.end("SIGTERM")).toBe(0);
  expect(daemon.output.stdout.match(/cannot be told/g)).toHaveLength(1);
});

test("a config that is good but cannot be run with gives way to the old one", async () => {
  await using world = await aWorld();
  const config = world.configFile();
  const taken = createServer().listen(0, "127.0.0.1");
  await until("a port", () => taken.listening);
  const { port } = taken.address() as { port: number };
  await using daemon = aProcess(["--config", config, "run"]);
  await daemon.says(/"started"/);
  const text = readFileSync(config, "utf8");
  writeFileSync(config, text.replace("web: off", `web: { listen: "127.0.0.1:${port}" }`));
  daemon.child.kill("SIGHUP");
  await daemon.says(/going on with the old one[\s\S]*"started"/);
  taken.close();
  world.write("scan.pdf", pdfOf(1));
  await until("the scan", () => world.archive.documents().length === 1);
  expect(await daemon.end("SIGTERM")).toBe(0);
  expect(await audit(world)).toEqual([]);
});
