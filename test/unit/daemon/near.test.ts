import { mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import type { Mirror } from "../../../src/config/config.ts";
import { isNear } from "../../../src/daemon/reader-mirror.ts";
import { NO_RULES } from "../../../src/rules/rules.ts";
import { type Mount, readMounts } from "../../../src/source/mounts.ts";
import { sourceStatus } from "../../../src/source/status.ts";
import { scratch, settingsOf } from "../source/scratch.ts";

const mirrorOf = (source: string) =>
  ({
    source,
    include: ["**/*"],
    exclude: [],
    after: { kind: "keep" },
    rules: NO_RULES,
    settleMs: 1_000,
  }) as unknown as Mirror;

test("a host is near to what is on its own file system, and there", () => {
  const source = `${realpathSync(scratch())}/scans`;
  const mounts = readMounts();
  const share: Mount = {
    point: source,
    fsType: "nfs4",
    device: "0:9",
    root: "/",
    readOnly: false,
    source: "n:/",
  };
  const near = (device: string | null = null, table: readonly Mount[] = mounts) =>
    isNear(mirrorOf(source), table, device);
  expect(near(), "there is nothing").toBe(false);
  mkdirSync(source);
  expect(near(), "it may be a bare mount point").toBe(false);
  const status = sourceStatus(settingsOf(source));
  if (status.kind === "offline") throw new Error(status.why);
  expect(near(status.device), "it is known, and was emptied").toBe(true);
  expect(near("8:1/ef53/7"), "what was known is another one").toBe(false);
  writeFileSync(`${source}/a.pdf`, "a");
  expect([near(), near("8:1/ef53/7")], "it has files").toEqual([true, true]);
  expect(near(null, [...mounts, share]), "it is a share").toBe(false);
  expect(near(null, []), "nothing is known of it").toBe(false);
});
