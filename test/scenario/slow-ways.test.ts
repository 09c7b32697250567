import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { dial } from "../../src/network/dial.ts";
import { systemClock } from "../../src/std/clock.ts";

const v4 = (...addresses: string[]) => addresses.map((address) => ({ address, family: 4 }));

/** Dials a host that has these addresses. */
function dialTo(
  addresses: { address: string; family: number }[],
  port: number,
  timeoutMs = 10_000,
) {
  const lookup = async () => addresses;
  const options = { timeoutMs, clock: systemClock, stepwise: false, lookup };
  return dial({ host: "archive.example.com", port }, options);
}

/** A port that takes no connection until `wake` is called: its process stands still, and its queue is full. */
async function sluggish(): Promise<{ port: number; wake: () => void }> {
  const program = `require("node:net").createServer((s) => s.resume()).listen({ port: 0, host: "127.0.0.1", backlog: 1 },
    function () { console.log(this.address().port); });`;
  const child: ChildProcess = spawn(process.execPath, ["-e", program], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [said] = (await once(child.stdout!, "data")) as [Buffer];
  const port = Number(said);
  child.kill("SIGSTOP");
  const waiting: Socket[] = [];
  onTestFinished(() => waiting.forEach((socket) => socket.destroy()));
  for (let at = 0; at < 8; at++) waiting.push(connect(port, "127.0.0.1").on("error", () => {}));
  await Promise.all(waiting.slice(0, 2).map((socket) => once(socket, "connect")));
  return { port, wake: () => child.kill("SIGCONT") };
}

test("the first address that answers is taken, whatever the others do", async () => {
  const server = createServer((socket) => socket.end()).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const ipv6 = { address: "fe80::1", family: 6 };
  const socket = await dialTo([ipv6, ...v4("127.0.0.2", "127.0.0.1")], port);
  expect(socket.remoteAddress).toBe("127.0.0.1");
  socket.destroy();
});

test("a way that takes a second is waited for, also where there are two", {
  timeout: 20_000,
}, async () => {
  const { port, wake } = await sluggish();
  // Refused at once, as where a host has no IPv6.
  const dialling = dialTo([{ address: "::1", family: 6 }, ...v4("127.0.0.1")], port);
  const cancel = systemClock.alarm(600, wake);
  const begunAt = systemClock.monotonic();
  const socket = await dialling;
  cancel();
  expect(systemClock.monotonic() - begunAt).toBeGreaterThan(500);
  socket.destroy();
});

test("each address is told, with what it came to and its time", async () => {
  const { port } = await sluggish();
  const error = await dialTo(v4("127.0.0.2", "127.0.0.1"), port, 600).catch((e: unknown) => e);
  expect(error).toMatchObject({
    problem: "unreachable",
    code: "ETIMEDOUT",
    message: expect.stringMatching(
      new RegExp(
        `^no connection to archive\\.example\\.com:${port}: 127\\.0\\.0\\.2: ECONNREFUSED after \\d+ ms; 127\\.0\\.0\\.1: no answer within 0\\.[4-7] s$`,
      ),
    ),
  });
});

test("a name that is not there is told as that", async () => {
  const options = { timeoutMs: 10_000, clock: systemClock, stepwise: false };
  const error = await dial({ host: "nowhere.invalid", port: 1 }, options).catch((e: unknown) => e);
  expect(error).toMatchObject({ problem: "unreachable" });
  expect(String(error)).toContain("its name is not found");
});
