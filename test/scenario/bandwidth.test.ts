/** `upload.bandwidth` over the whole daemon: several mirrors, several readers, one rate. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer, connect } from "node:net";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { aDaemon } from "../fixtures/a-daemon.ts";
import { until } from "../fixtures/until.ts";
import { aWorld } from "../fixtures/world.ts";

const RATE = 400_000;
/** Ten seconds, and what had gathered at the start before them. */
const WINDOW_MS = 10_000;
const SETTLED_MS = 1_000;

test("all uploads together take the rate, smoothly and to within 5 % over 10 s", {
  timeout: 100_000,
}, async () => {
  await using world = await aWorld();
  const { url, arrived } = await counting(Number(new URL(world.archive.url).port));
  const other = elsewhere();
  const mirrors = [
    world.config().mirrors[0],
    { ...world.config().mirrors[0], name: "other", source: other },
  ];
  for (const [index, source] of [world.source, other].entries()) {
    // Large ones that go out in slices, small ones that go out whole.
    for (let n = 0; n < 8; n++) writeFileSync(join(source, `large-${n}.bin`), noise(900_000, n));
    for (let n = 0; n < 8; n++)
      writeFileSync(join(source, `small-${n}.txt`), noise(9_000, 100 * index + n));
  }
  const config = world.config();
  await using running = await aDaemon({
    ...config,
    archive: { ...config.archive, url, timeoutMs: 1_000 },
    mirrors: mirrors as typeof config.mirrors,
    upload: { ...config.upload, concurrency: 6, bytesPerSecond: RATE },
    shutdownMs: 0,
  });
  const bytesIn = (from: number, to: number) =>
    arrived.reduce((sum, { at, bytes }) => sum + (at >= from && at < to ? bytes : 0), 0);
  const share = (from: number, ms: number) => bytesIn(from, from + ms) / (ms / 1_000) / RATE;
  // A machine that cannot keep up for a while sends less than the rate, and does not make up for it.
  const end = await until(
    "ten seconds at the rate",
    () => {
      const at = arrived.at(-1)?.at ?? 0;
      const isSettled = at - WINDOW_MS > (arrived[0]?.at ?? at) + SETTLED_MS;
      return isSettled && share(at - WINDOW_MS, WINDOW_MS) > 0.95 ? at : undefined;
    },
    60_000,
  );
  // Nor is it ahead of the rate at any time: what a busy machine delivers late was allowed before.
  const first = arrived[0]?.at ?? 0;
  const start = first + SETTLED_MS;
  for (let to = first + WINDOW_MS; to <= end; to += 1_000)
    expect(share(first, to - first)).toBeLessThan(1.05);
  for (let from = start; from < end; from += 1_000) expect(share(from, 1_000)).toBeLessThan(1.6);
  // Both readers have their share, and nobody takes the wait for a silence.
  const list = () => Array.fromAsync(running.daemon.journal.list({}));
  await until("a document of each reader", async () => {
    const sent = (await list()).filter(({ documentId }) => documentId !== null);
    return new Set(sent.map(({ mirrorId }) => mirrorId)).size === 2;
  });
  expect((await list()).filter(({ state }) => state === "inDoubt")).toEqual([]);
});

/** A folder on another file system where there is one: another reader sends what is in it. */
function elsewhere(): string {
  const shm = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();
  const dir = mkdtempSync(join(shm, "scanferry-bandwidth-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

function noise(bytes: number, seed: number): Buffer {
  const buffer = Buffer.alloc(bytes);
  let state = seed * 2_654_435_761 + 1;
  for (let at = 0; at < bytes; at++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    buffer[at] = state >>> 24;
  }
  return buffer;
}

/** A way to the archive that notes when how many bytes of requests came through. */
async function counting(port: number) {
  const arrived: { at: number; bytes: number }[] = [];
  const server = createServer((socket) => {
    const onward = connect(port, "127.0.0.1");
    socket.on("data", (chunk) => arrived.push({ at: performance.now(), bytes: chunk.length }));
    socket.pipe(onward).pipe(socket);
    for (const end of [socket, onward]) {
      end.on("error", () => {
        socket.destroy();
        onward.destroy();
      });
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, arrived };
}
