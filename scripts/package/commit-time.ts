import { execFileSync } from "node:child_process";

/**
 * The moment that everything made from this tree bears, in epoch seconds: $SOURCE_DATE_EPOCH, else the
 * last commit's. Two builds of one commit are the same, byte by byte.
 */
export function commitTime(): number {
  const given = process.env["SOURCE_DATE_EPOCH"];
  if (given !== undefined && /^\d+$/.test(given)) return Number(given);
  const root = new URL("../..", import.meta.url);
  const words = ["log", "-1", "--format=%ct"];
  return Number(execFileSync("git", words, { cwd: root, encoding: "utf8" }).trim());
}
