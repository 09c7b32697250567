import { constants } from "node:fs";
import { mkdir, open } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import type { Command } from "commander";
import { starterConfig, type StarterOptions } from "../../config/starter.ts";
import { codeOf, Fault } from "../../std/fault.ts";
import { examples } from "../examples.ts";
import { UsageError } from "../exit.ts";
import type { Shell } from "../shell.ts";

type Options = StarterOptions & { readonly force?: boolean };

/** A secret may be written into it: nobody else reads it. */
const MODE = 0o600;

/** `scanferry init`: write a commented starter configuration. */
export function addInit(program: Command, shell: Shell): void {
  program
    .command("init")
    .description("write a commented starter configuration to ./scanferry.yaml, or to --config")
    .option("--force", "overwrite a file that is there")
    .option("--source <dir>", "local folder to carry into the archive")
    .option("--target <path>", "archive folder, such as /Scans")
    .option("--url <url>", "the archive's address")
    .option("--journal <file>", "where the journal lives")
    .action((options: Options) => init(shell, options))
    .addHelpText(
      "after",
      examples("scanferry init --source /srv/scans --url https://archive.example.com"),
    );
}

async function init(shell: Shell, { force, ...starter }: Options): Promise<void> {
  const path = resolve(shell.cwd, shell.configFile ?? "scanferry.yaml");
  const { O_WRONLY, O_CREAT, O_EXCL, O_TRUNC } = constants;
  try {
    if (shell.configFile !== undefined) await mkdir(dirname(path), { recursive: true });
    await using file = await open(path, O_WRONLY | O_CREAT | (force ? O_TRUNC : O_EXCL), MODE);
    await file.chmod(MODE);
    await file.writeFile(starterConfig(starter));
    await file.sync();
  } catch (error) {
    const code = codeOf(error);
    if (code === "EEXIST") throw new UsageError(`${path} exists; --force overwrites it`);
    if (code === undefined) throw error;
    throw new Fault(
      "CONFIG_UNWRITABLE",
      `${path} cannot be written (${code})`,
      "Name another place with --config.",
    );
  }
  await shell.out.line(`wrote ${path}`);
  await shell.out.line("next: fill in the account key and the secret, then scanferry check");
}
