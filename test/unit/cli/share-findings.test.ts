/** `check` on what the daemon writes without a reader in between: not to a share. */
import { expect, test } from "vitest";
import { shareFindings } from "../../../src/cli/check/places.ts";
import { parseMountinfo } from "../../../src/source/mounts.ts";

const mounts = parseMountinfo(
  [
    "20 1 8:1 / / rw - ext4 /dev/sda1 rw",
    "21 20 0:40 / /mnt/office rw - cifs //server/office rw",
  ].join("\n"),
);

const log = (path: string) =>
  ({ level: "info", file: { path, sizeBytesMax: 1, olderMax: 1 } }) as const;
const receipts = (dir: string) => ({ dir, formats: ["json"] }) as const;

test("a log file and receipts on a share are warned of, each with what a hang would do", () => {
  const config = { log: log("/mnt/office/x.log"), receipts: receipts("/mnt/office/receipts") };
  const found = [...shareFindings(config, mounts)];
  expect(found.map(({ level, what }) => [level, what])).toEqual([
    ["warn", "log: /mnt/office/x.log is on a network file system (cifs)"],
    ["warn", "receipts: /mnt/office/receipts is on a network file system (cifs)"],
  ]);
  expect(found[0]?.mend).toMatch(/local disk: .* stop the daemon/);
});

test.for([
  [{ log: log("/var/log/x.log"), receipts: receipts("/var/lib/r") }, "on a local disk"],
  [{ log: { level: "info" } as const, receipts: undefined }, "neither is there"],
] as const)("nothing is said: %#, %s", ([config]) => {
  expect([...shareFindings(config, mounts)]).toEqual([]);
});
