import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { expect, test } from "vitest";
import type { SourceStatus } from "../../../src/source/source.ts";
import { sourceStatus } from "../../../src/source/source-status.ts";
import { asNobody } from "./as-nobody.ts";
import { put, scratch, settingsOf } from "./scratch.ts";

function deviceOf(status: SourceStatus): string {
  if (status.kind === "offline") throw new Error(status.why);
  return status.device;
}

test("a source never seen before is online, empty or not", () => {
  const dir = scratch();
  expect(sourceStatus(settingsOf(dir)).kind).toBe("online");
  put(dir, "scan.pdf");
  expect(sourceStatus(settingsOf(dir)).kind).toBe("online");
});

test("a source that people emptied is online: it is the same directory", () => {
  const dir = scratch();
  put(dir, "scan.pdf");
  const device = deviceOf(sourceStatus(settingsOf(dir)));
  rmSync(`${dir}/scan.pdf`);
  expect(sourceStatus(settingsOf(dir, { device }))).toEqual({
    kind: "online",
    device,
  });
});

test("an empty directory in place of the one that had files is offline", () => {
  const dir = scratch();
  put(dir, "mount/scan.pdf");
  const device = deviceOf(sourceStatus(settingsOf(`${dir}/mount`)));
  renameSync(`${dir}/mount`, `${dir}/elsewhere`);
  mkdirSync(`${dir}/mount`);
  expect(sourceStatus(settingsOf(`${dir}/mount`, { device }))).toMatchObject({
    kind: "offline",
    why: expect.stringContaining("not mounted"),
  });
  put(dir, "mount/.DS_Store");
  mkdirSync(`${dir}/mount/lost+found`);
  put(dir, "mount/.not-mounted");
  expect(sourceStatus(settingsOf(`${dir}/mount`, { device })).kind).toBe("offline");
  const include = ["**/*", ".scans/**"];
  expect(sourceStatus(settingsOf(`${dir}/mount`, { device, include })).kind).toBe("offline");
  mkdirSync(`${dir}/mount/.scans`);
  expect(sourceStatus(settingsOf(`${dir}/mount`, { device, include })).kind).toBe("online");
});

test("another file system with files in it is accepted, and remembered again", () => {
  const dir = scratch();
  put(dir, "scan.pdf");
  const status = sourceStatus(settingsOf(dir, { device: "8:17/ef53/2" }));
  expect(status.kind).toBe("online");
  expect(deviceOf(status)).not.toBe("8:17/ef53/2");
});

test("where fstab has a file system and nothing is mounted, only the remembered directory is online", () => {
  const dir = scratch();
  const unmountedAt = () => "/srv/nas";
  put(dir, "stray.pdf");
  for (const device of [null, "0:53/6969/2"])
    expect(sourceStatus(settingsOf(dir, { device }), unmountedAt)).toEqual({
      kind: "offline",
      why: "nothing is mounted at /srv/nas, where /etc/fstab has a file system",
    });
  const device = deviceOf(sourceStatus(settingsOf(dir)));
  expect(sourceStatus(settingsOf(dir, { device }), unmountedAt).kind).toBe("online");
});

test("on a network share too, an empty directory with another inode is offline", () => {
  const dir = scratch();
  put(dir, "one/scan.pdf");
  mkdirSync(`${dir}/two`);
  const device = deviceOf(sourceStatus(settingsOf(`${dir}/one`, { network: true })));
  expect(sourceStatus(settingsOf(`${dir}/two`, { network: true, device })).kind).toBe("offline");
  put(dir, "two/scan.pdf");
  expect(sourceStatus(settingsOf(`${dir}/two`, { network: true, device })).kind).toBe("online");
});

test.for([
  ["none", "does not exist"],
  ["file", "is not a directory"],
  ["loop", "ELOOP"],
] as const)("a source that is %s is offline", ([name, why]) => {
  const dir = scratch();
  put(dir, "file");
  symlinkSync("loop", `${dir}/loop`);
  expect(sourceStatus(settingsOf(`${dir}/${name}`))).toMatchObject({
    kind: "offline",
    why: expect.stringContaining(why),
  });
});

test("a source that may not be read is offline", ({ skip }) => {
  const dir = scratch();
  put(dir, "source/scan.pdf");
  chmodSync(dir, 0o755);
  chmodSync(`${dir}/source`, 0o700);
  const said = asNobody(
    `import { sourceStatus } from "src/source/source-status.ts";
    console.log(sourceStatus({ source: process.argv[1], include: ["**/*"], device: null, network: false }).why);`,
    `${dir}/source`,
  );
  if (said === undefined) {
    skip("needs root to become someone else");
    return;
  }
  expect(said).toContain("EACCES");
});
