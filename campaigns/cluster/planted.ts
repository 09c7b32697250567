/** Copies of the built program with a bug in them, to see that the campaign finds it. */
import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { BUILT } from "../../test/fixtures/a-process.ts";

const REPOSITORY = fileURLToPath(new URL("../../", import.meta.url));

type Bug = {
  /** Stands once in the built program. */
  readonly right: RegExp;
  readonly wrong: string;
  /** The blows that can show it; all that there are where it is absent. */
  readonly blows?: readonly string[];
};

/** The program to run, and which blows to strike. */
export type Plot = { readonly main: string; readonly blows?: readonly string[] | undefined };

/** Each takes one of the walls away that stand between several daemons and a document sent twice. */
const BUGS: Readonly<Record<string, Bug>> = {
  /** A daemon that was stopped goes on sending what it had begun, anyone who has taken over. */
  unfenced: {
    right: /get sendLeftMs\(\) \{/,
    wrong: "get sendLeftMs() { return 3_600_000;",
    blows: ["stopped past lease and doubt"],
  },
  /** What a lost daemon was sending is sent again without a look into the archive. */
  undoubted: {
    right: /type: "inDoubt",\s*at,\s*dueAt: at,\s*problem: PROBLEM\b/,
    wrong: 'type: "released", at',
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
  const files = readdirSync(join(dir, "dist"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".js"))
    .map((file) => join(dir, "dist", file))
    .filter((file) => bug.right.test(readFileSync(file, "utf8")));
  const [file] = files;
  if (file === undefined || files.length > 1) throw new Error(`${files.length} places for ${name}`);
  writeFileSync(file, readFileSync(file, "utf8").replace(bug.right, bug.wrong));
  return { main: join(dir, "dist/main.js"), blows: bug.blows };
}
