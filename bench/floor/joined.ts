import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

/** Binds to what lies next to it. */
const APART = "better-sqlite3";

/** The path of a program of this directory as one file in `dir`, loaded as quickly as the built program is. */
export async function joined(name: string, dir: string): Promise<string> {
  const bundle = await rolldown({
    input: fileURLToPath(new URL(`./${name}.ts`, import.meta.url)),
    platform: "node",
    external: [APART],
    tsconfig: false,
  });
  const file = join(dir, `${name}.mjs`);
  await bundle.write({ file, paths: { [APART]: fileURLToPath(import.meta.resolve(APART)) } });
  await bundle.close();
  return file;
}
