/** Copies of the built program with a bug in them, to see that the campaign finds it. */
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { BUILT } from "../../test/fixtures/a-process.ts";

const REPOSITORY = fileURLToPath(new URL("../../", import.meta.url));

type Bug = {
  readonly file: string;
  readonly right: string;
  readonly wrong: string;
  /** The blows that can show it; all that there are where it is absent. */
  readonly blows?: readonly string[];
};

/** The program to run, and which blows to strike. */
export type Plot = { readonly main: string; readonly blows?: readonly string[] | undefined };

/** Each takes one of the walls away that stand between several daemons and a document sent twice. */
const BUGS: Readonly<Record<string, Bug>> = {
  /** A daemon that was stopped goes on sending what it had begun, whoever has taken over. */
  unfenced: {
    file: "journal/postgres/crew.js",
    right: "get sendLeftMs() {",
    wrong: "get sendLeftMs() { return 3_600_000;",
    blows: ["stopped past lease and doubt"],
  },
  /** What a lost daemon was sending is sent again without a look into the archive. */
  undoubted: {
    file: "sync/interrupted.js",
    right: '{ type: "replyLost", at, dueAt: at, trouble: TROUBLE }',
    wrong: '{ type: "released", at }',
  },
};

export const PLANTED = Object.keys(BUGS);

/** The built program with this bug, or as it is; the one with a bug is removed as this process ends. */
export function planted(name: string | undefined): Plot {
  if (name === undefined) return { main: BUILT };
  const bug = BUGS[name];
  if (!bug) throw new Error(`no bug ${name}`);
  const dir = mkdtempSync(join(tmpdir(), "scanferry-planted-"));
  process.once("exit", () => rmSync(dir, { recursive: true, force: true }));
  cpSync(join(REPOSITORY, "dist"), join(dir, "dist"), { recursive: true });
  cpSync(join(REPOSITORY, "package.json"), join(dir, "package.json"));
  symlinkSync(join(REPOSITORY, "node_modules"), join(dir, "node_modules"));
  const file = join(dir, "dist", bug.file);
  const text = readFileSync(file, "utf8");
  if (text.split(bug.right).length !== 2) throw new Error(`${bug.file} has no place for ${name}`);
  writeFileSync(file, text.replace(bug.right, bug.wrong));
  return { main: join(dir, "dist/main.js"), blows: bug.blows };
}
