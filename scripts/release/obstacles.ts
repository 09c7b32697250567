/** What speaks against a release of this tree, before anything is built or tested. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** A changelog's heading of a release: `## 1.2.3 (2026-11-21)`. */
const HEADING = /^## (?<version>\d+\.\d+\.\d+) \((?<date>\d{4}-\d{2}-\d{2})\)$/;

/** Everything that is in the way, a line each; none: it may be released. */
export function obstacles(root: string): string[] {
  const { version } = manifest(root, "package.json");
  return [
    ...changelogObstacles(root, version),
    ...versionObstacles(root, version),
    ...treeObstacles(root, version),
  ];
}

function changelogObstacles(root: string, version: string): string[] {
  const lines = readFileSync(join(root, "CHANGELOG.md"), "utf8").split("\n");
  const first = lines.findIndex((line) => line.startsWith("## "));
  const heading = lines[first] ?? "";
  const found = HEADING.exec(heading)?.groups;
  if (!found) {
    return [`CHANGELOG.md begins with "${heading}"; write "## ${version} (YYYY-MM-DD)" there`];
  }
  const wrong: string[] = [];
  if (found["version"] !== version) {
    wrong.push(`CHANGELOG.md begins with ${found["version"]}, package.json has ${version}`);
  }
  if (Number.isNaN(Date.parse(found["date"] ?? ""))) wrong.push(`${found["date"]} is no date`);
  const next = lines.findIndex((line, at) => at > first && line.startsWith("## "));
  const part = lines.slice(first + 1, next < 0 ? undefined : next);
  if (!part.some((line) => line.startsWith("- ")))
    wrong.push(`CHANGELOG.md says nothing of ${version}`);
  const open = lines.filter(
    (line) => /\b(unreleased|pending)\b/i.test(line) && line.startsWith("#"),
  );
  for (const line of open) wrong.push(`CHANGELOG.md has "${line}" below the release`);
  for (const line of part.filter((each) => /\bpending\b/i.test(each) && /^- |^\s+\[/.test(each)))
    wrong.push(`CHANGELOG.md says pending: "${line.trim()}"`);
  return wrong;
}

function versionObstacles(root: string, version: string): string[] {
  const locked = manifest(root, "package-lock.json").version;
  return locked === version ? [] : [`package-lock.json has ${locked}, package.json ${version}`];
}

function treeObstacles(root: string, version: string): string[] {
  const wrong: string[] = [];
  const changed = git(root, "status", "--porcelain").split("\n").filter(Boolean);
  if (changed.length > 0) {
    wrong.push(`${changed.length} files are not as committed, e.g. ${changed[0]?.slice(3)}`);
  }
  const tag = `v${version}`;
  const tagged = git(root, "tag", "--list", tag);
  if (
    tagged !== "" &&
    git(root, "rev-parse", `${tag}^{commit}`) !== git(root, "rev-parse", "HEAD")
  ) {
    wrong.push(`${tag} was released from another commit`);
  }
  return wrong;
}

function git(root: string, ...words: string[]): string {
  return execFileSync("git", words, { cwd: root, encoding: "utf8" }).trimEnd();
}

function manifest(root: string, name: string): { version: string } {
  return JSON.parse(readFileSync(join(root, name), "utf8")) as { version: string };
}
