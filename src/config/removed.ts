/** What a configuration of an earlier version may still have, and what to do instead. */
import type { KeyPath } from "./config-problems.ts";

/** Keys, or one of a key's values; a list's entries are `[]`. */
const REMOVED: ReadonlyMap<string, string> = new Map([
  [
    "mirrors.[].afterDuplicate",
    "remove it: what becomes of a duplicate, an hour later, says after",
  ],
  ["mirrors.[].duplicates: link", "write skip: a duplicate gets what after says"],
  ["mirrors.[].examples", "remove it: scanferry rules test PATH shows the decision for a path"],
  [
    "mirrors.[].order: smallest",
    "write oldest: large files do not hold small ones up, they have places of their own",
  ],
  ["mirrors.[].parts", "remove it: of several daemons one scans each mirror, and all of them send"],
  [
    "notify.quiet.urgent",
    "remove it: findings about credentials and the disk are sent within quiet hours",
  ],
  [
    "quota.smallFirstBelow",
    "remove it: whenUsedUp: hold sends what still fits the pages that are left",
  ],
  ["quota.unknownPages", "remove it: a document whose pages cannot be counted counts as one page"],
  ["notify.remind", "write notify.repeat: reminders of what lasts come this often"],
]);

/** What to do instead of a key, or of a value of it; undefined where it was never there. */
export function insteadOf(key: KeyPath, value?: unknown): string | undefined {
  const name = key.map((part) => (typeof part === "number" ? "[]" : part)).join(".");
  return REMOVED.get(typeof value === "string" ? `${name}: ${value}` : name);
}
