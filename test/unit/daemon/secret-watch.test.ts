/** A rotated secret is noticed when it is there, whole, and not before. */
import {
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { stampOf } from "../../../src/std/small-file.ts";
import { otherSecrets } from "../../../src/daemon/secret-watch.ts";
import { type Clock, systemClock } from "../../../src/std/clock.ts";

/** Two seconds in ten milliseconds, and a count of the looks. */
function hurried(): Clock & { looks: () => Promise<void> } {
  let turn = Promise.withResolvers<void>();
  return {
    ...systemClock,
    sleep(_ms, signal) {
      turn.resolve();
      turn = Promise.withResolvers();
      return systemClock.sleep(10, signal);
    },
    /** Three looks from now. */
    async looks() {
      for (let n = 0; n < 3; n++) await turn.promise;
    },
  };
}

function aSecret(): Disposable & {
  path: string;
  file: { path: string; stamp: string };
  dir: string;
} {
  const dir = mkdtempSync(join(tmpdir(), "secret-"));
  writeFileSync(join(dir, "first"), "one");
  writeFileSync(join(dir, "second"), "two");
  const path = join(dir, "key");
  symlinkSync("first", path);
  const file = { path, stamp: stampOf(statSync(path, { bigint: true })) };
  return { dir, path, file, [Symbol.dispose]: () => rmSync(dir, { recursive: true }) };
}

const WAYS = {
  "written over": ({ path }) => writeFileSync(path, "two"),
  "renamed onto": ({ dir, path }) => renameSync(join(dir, "second"), path),
  "linked again": ({ dir, path }) => {
    symlinkSync("second", join(dir, "link"));
    renameSync(join(dir, "link"), path);
  },
  "written over with its old time": ({ path }) => {
    const { atime, mtime } = statSync(path);
    writeFileSync(path, "two");
    utimesSync(path, atime, mtime);
  },
} satisfies Record<string, (secret: { dir: string; path: string }) => void>;

test.for([
  ["written over", "an editor, or a shell"],
  ["renamed onto", "anyone who takes care"],
  ["linked again", "as a cluster does it"],
  ["written over with its old time", "rsync keeps times"],
] as const)("%s: noticed (%s)", async ([way]) => {
  using secret = aSecret();
  const clock = hurried();
  const noticed = otherSecrets([secret.file], clock, AbortSignal.timeout(30_000));
  await clock.looks();
  WAYS[way](secret);
  expect(await noticed).toEqual([
    { path: secret.path, stamp: stampOf(statSync(secret.path, { bigint: true })) },
  ]);
});

test("while it is gone, and while it is being written, the one in use stays", async () => {
  using secret = aSecret();
  const clock = hurried();
  const said: string[] = [];
  const noticed = otherSecrets([secret.file], clock, AbortSignal.timeout(30_000)).then(() => {
    said.push(readFileSync(secret.path, "utf8"));
  });
  rmSync(secret.path);
  await clock.looks();
  expect(said).toEqual([]);
  writeFileSync(secret.path, "two");
  await noticed;
  expect(said).toEqual(["two"]);
});

test("what does not change is never noticed, and the end is the signal's", async () => {
  using secret = aSecret();
  const clock = hurried();
  const stopping = new AbortController();
  const noticed = otherSecrets([secret.file], clock, stopping.signal);
  await clock.looks();
  stopping.abort(new Error("over"));
  await expect(noticed).rejects.toBe(stopping.signal.reason);
});
