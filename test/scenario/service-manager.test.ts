/** The daemon under a service manager: what it is told, over a real socket, by the real program. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ownerOf } from "../../src/journal/owner-lock.ts";
import { aProcess } from "../fixtures/a-process.ts";
import { audit } from "../fixtures/auditor.ts";
import { pdfOf } from "../fixtures/documents.ts";
import { until } from "../fixtures/until.ts";
import { aWorld, SECRET } from "../fixtures/world.ts";

function has(program: string): boolean {
  return spawnSync(program, ["--version"], { stdio: "ignore" }).status === 0;
}

/** Node has no such sockets, so another program listens: a line for each message, and whose it is. */
const LISTENER = `
import socket, struct, sys
manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
manager.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
manager.bind(sys.argv[1])
print("0 listening", flush=True)
while True:
    # No room for a descriptor that comes with a message: it is closed at once, which the sender waits for.
    text, told, _, _ = manager.recvmsg(4096, socket.CMSG_SPACE(12))
    pid = next(struct.unpack("3i", data)[0] for _, kind, data in told if kind == socket.SCM_CREDENTIALS)
    print(pid, text.decode().replace(chr(10), " "), flush=True)
`;

/** Starts a program as a manager does that knows `OpenFile=`: with its own socket open. */
const HAND_OVER = `
import os, socket, sys
manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
manager.connect(sys.argv[1])
os.dup2(manager.fileno(), 3)
os.set_inheritable(3, True)
os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="1", LISTEN_FDNAMES="notify")
os.execv(sys.argv[2], sys.argv[2:])
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
    return this.#lines.map((line) => line.replace(/^\d+ /, ""));
  }

  /** The processes that told it something, each once. */
  get senders(): number[] {
    return [...new Set(this.#lines.map((line) => Number.parseInt(line, 10)))].filter(Boolean);
  }

  get #lines(): string[] {
    return this.#heard.trim().split("\n");
  }

  /** What a program is started by that gets the socket with its start. */
  get handsOver(): string[] {
    return ["python3", "-c", HAND_OVER, this.socket];
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

test.runIf(has("systemd-notify") && has("python3")).for([
  ["itself, over the socket that it was given", true],
  ["by systemd-notify", false],
] as const)(
  "ready, what goes on, pings, reloads good and bad, and the end, told %s",
  async ([, handsOver]) => {
    await using manager = new Manager();
    await manager.hears(/^listening$/);
    await using world = await aWorld();
    const config = world.configFile();
    const env = { NOTIFY_SOCKET: manager.socket, WATCHDOG_USEC: "600000" };
    const within = handsOver ? manager.handsOver : [];
    await using daemon = aProcess(["--config", config, "run"], env, within);
    if (handsOver) await manager.hears(/^NOTIFYACCESS=main$/);
    let heard = await manager.hears(/^READY=1$/);
    heard = await manager.hears(/^WATCHDOG=1 STATUS=idle; 0 converted$/, heard);
    world.write("scan.pdf", pdfOf(1));
    heard = await manager.hears(/^WATCHDOG=1 STATUS=idle; 1 converted$/, heard);

    writeFileSync(config, "archive: {", { mode: 0o600 });
    daemon.child.kill("SIGHUP");
    heard = await manager.hears(/^RELOADING=1 MONOTONIC_USEC=\d+$/, heard);
    heard = await manager.hears(/^READY=1$/, heard);
    heard = await manager.hears(/^WATCHDOG=1 STATUS=The new configuration has errors; /, heard);

    world.configFile("log: { level: debug }");
    daemon.child.kill("SIGHUP");
    heard = await manager.hears(/^RELOADING=1/, heard);
    heard = await manager.hears(/^READY=1$/, heard);
    heard = await manager.hears(/^WATCHDOG=1 STATUS=idle; 1 converted$/, heard);

    expect(await daemon.end("SIGTERM")).toBe(0);
    await manager.hears(/^STOPPING=1 STATUS=stopping$/, heard);
    if (handsOver) expect(manager.senders).toEqual([daemon.child.pid]);
    expect(await audit(world)).toEqual([]);
  },
);

test.runIf(has("python3"))(
  "while uploads are finished, manager and monitoring are told that it stops",
  async () => {
    await using manager = new Manager();
    await manager.hears(/^listening$/);
    await using world = await aWorld({ faults: [{ on: "upload", do: "delay", ms: 4000 }] });
    world.write("scan.pdf", pdfOf(1));
    const told = { NOTIFY_SOCKET: manager.socket, WATCHDOG_USEC: "600000" };
    const env = { ...told, SCANFERRY_WEB: "127.0.0.1:0", SCANFERRY_SHUTDOWN: "20s" };
    await using daemon = aProcess(["--config", world.configFile(), "run"], env, manager.handsOver);
    await manager.hears(/STATUS=1 uploading/);
    const { web = "" } = (await ownerOf(world.journal)) ?? {};
    daemon.child.kill("SIGTERM");
    await manager.hears(/^WATCHDOG=1 STATUS=stopping; 1 uploading/);
    const ready = await fetch(`${web}/readyz`);
    expect([ready.status, await ready.json()]).toEqual([503, { ready: false, why: "stopping" }]);
    expect((await fetch(`${web}/healthz`)).status).toBe(200);
    expect(await daemon.ended).toBe(0);
    expect(await audit(world)).toEqual([]);
  },
);

/** Writes down what it was started with, and tells the manager a lie where it can. */
const spyAs = (name: string, dir: string) => `#!/bin/sh
{ env; ls -l /proc/self/fd; } >${dir}/${name}.tmp
[ -z "$NOTIFY_SOCKET" ] || systemd-notify STATUS=forged
mv ${dir}/${name}.tmp ${dir}/${name}.seen
echo '{}'
`;

/** Signs for the world's archive, and does as the others do. */
const SPYING_MODULE = `import { createHmac } from "node:crypto";
import { spawnSync } from "node:child_process";
spawnSync(new URL("./module-spy", import.meta.url).pathname, { stdio: "inherit" });
export default (fields) => {
  const text = [...fields].sort(([a], [b]) => (a < b ? -1 : 1)).map(([n, v]) => n + "=" + v).join("&");
  return createHmac("sha256", "${SECRET}").update(text).digest("base64");
};`;

test.runIf(has("systemd-notify") && has("python3"))(
  "hooks, notification programs and what a signing module starts cannot speak for the daemon",
  async () => {
    await using manager = new Manager();
    await manager.hears(/^listening$/);
    await using world = await aWorld();
    const spies = ["before", "after", "program", "module"];
    for (const name of spies) {
      const program = join(world.dir, `${name}-spy`);
      writeFileSync(program, spyAs(name, world.dir), { mode: 0o755 });
    }
    writeFileSync(join(world.dir, "sign.mjs"), SPYING_MODULE);
    const run = (name: string) => `["${join(world.dir, `${name}-spy`)}"]`;
    const hooks = `    hooks: { before: { command: ${run("before")} }, after: { command: ${run("after")} } }`;
    const notify = `notify: { command: [{ run: ${run("program")}, events: [batch] }] }`;
    const config = world.configFile(notify, hooks);
    const text = readFileSync(config, "utf8");
    const signing = "signing: { scheme: module, module: ./sign.mjs }";
    writeFileSync(config, text.replace(/signing: .*/, signing));
    const env = { NOTIFY_SOCKET: manager.socket, WATCHDOG_USEC: "600000" };
    await using daemon = aProcess(["--config", config, "run"], env, manager.handsOver);
    world.write("scan.pdf", pdfOf(1));
    for (const name of spies) {
      const seen = join(world.dir, `${name}.seen`);
      await until(`what ${name} saw`, () => existsSync(seen));
      const saw = readFileSync(seen, "utf8");
      expect(saw, name).toContain("PATH=");
      expect(saw, name).not.toMatch(/NOTIFY_SOCKET|WATCHDOG_|LISTEN_/);
      expect(saw, `${name}, the daemon's own socket`).not.toMatch(/ 3 -> socket/);
    }
    await manager.hears(/^WATCHDOG=1 STATUS=idle; 1 converted/);
    expect(manager.senders).toEqual([daemon.child.pid]);
    expect(manager.heard.join()).not.toContain("forged");
    expect(await daemon.end("SIGTERM")).toBe(0);
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
  await daemon.says(/cannot notify the service manager/);
  expect(await daemon.end("SIGTERM")).toBe(0);
  expect(daemon.output.stdout.match(/cannot notify the service manager/g)).toHaveLength(1);
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
  await daemon.says(/the old one stays in use[\s\S]*"started"/);
  taken.close();
  world.write("scan.pdf", pdfOf(1));
  await until("the scan", () => world.archive.documents().length === 1);
  expect(await daemon.end("SIGTERM")).toBe(0);
  expect(await audit(world)).toEqual([]);
});
