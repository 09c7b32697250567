import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const READY =
  "# Changelog\n\n## 1.2.3 (2026-11-21)\n\n- It works.\n\n## 1.2.2 (2026-11-01)\n\n- So did this.\n";

/** A committed tree that may be released. */
export function aTree(): Disposable & {
  readonly root: string;
  write(name: string, text: string): void;
  edit(name: string, from: string | RegExp, to: string): void;
  git(...words: string[]): void;
  commit(): void;
} {
  const root = mkdtempSync(join(tmpdir(), "release-"));
  const write = (name: string, text: string) => writeFileSync(join(root, name), text);
  const who = ["-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "commit.gpgsign=false"];
  const git = (...words: string[]) => {
    execFileSync("git", [...who, ...words], { cwd: root, stdio: "ignore" });
  };
  const commit = () => {
    git("add", "-A");
    git("commit", "--allow-empty", "-m", "x");
  };
  git("init", "--quiet");
  write("package.json", JSON.stringify({ version: "1.2.3" }));
  write("package-lock.json", JSON.stringify({ version: "1.2.3" }));
  write("CHANGELOG.md", READY);
  commit();
  return {
    root,
    write,
    git,
    commit,
    edit: (name, from, to) => write(name, readFileSync(join(root, name), "utf8").replace(from, to)),
    [Symbol.dispose]: () => rmSync(root, { recursive: true }),
  };
}
