import { basename, dirname, extname, resolve } from "node:path";
import type { Command } from "commander";
import { readConfigFile } from "../../config/config-file.ts";
import { reportConflicts } from "../../config/conflicts.ts";
import { layoutOf } from "../../config/layout.ts";
import { readFileShape } from "../../config/read-file-shape.ts";
import type { FileShape } from "../../config/schema.ts";
import { parseYamlSource } from "../../config/yaml-source.ts";
import { readMounts } from "../../source/mounts.ts";
import { dropIn, type Needs } from "../drop-in.ts";
import { examples } from "../examples.ts";
import type { Shell } from "../shell.ts";

/** `scanferry systemd`: the drop-in of the unit for this configuration. */
export function addSystemd(program: Command, shell: Shell): void {
  program
    .command("systemd")
    .description("print a drop-in for the systemd unit that opens just the configured sources")
    .option("--instance", "for scanferry@NAME.service, NAME being that of the configuration file")
    .action(async ({ instance }: { instance?: boolean }) => {
      const needs = await needsOf(shell, instance === true);
      await shell.out.line(madeBy(needs));
      await shell.out.write(dropIn(needs, readMounts()));
    })
    .addHelpText("after", examples("scanferry --config /etc/scanferry/scanferry.yaml systemd"));
}

function madeBy({ configFile, instance }: Needs): string {
  const option = instance === undefined ? "" : " --instance";
  return (
    `# Made by: scanferry --config ${JSON.stringify(configFile)} systemd${option}\n` +
    "# Make it anew after a change of sources, of `after`, or of where the secrets are."
  );
}

/** Reads the configuration without its secrets, which only the service may be able to read. */
async function needsOf(shell: Shell, isInstance: boolean): Promise<Needs> {
  const file = await readConfigFile(shell.places);
  const { value, findings } = parseYamlSource(file.path, file.text);
  const sketch = readFileShape(value, findings);
  const folder = dirname(file.path);
  const layout = layoutOf(sketch, folder);
  reportConflicts(sketch, layout, findings);
  findings.throwIfAny();
  // Nothing was found wrong, so nothing is left out.
  const { archive, mirrors, web } = sketch as FileShape;
  const { signing } = archive;
  const named = [
    archive.accountKeyFile,
    signing.scheme === "hmac" ? signing.secretFile : undefined,
    web?.tokenFile,
  ];
  return {
    configFile: file.path,
    instance: isInstance ? basename(file.path, extname(file.path)) : undefined,
    mirrors: mirrors.map(({ after }, at) => ({
      source: layout.mirrors[at]?.source ?? "",
      after: after.kind === "move" ? { ...after, to: layout.mirrors[at]?.moveTo ?? "" } : after,
    })),
    journal: layout.journal ?? "",
    receipts: layout.receipts,
    // A bare name is looked for among the credentials; a path is read as it is.
    credentials: named.filter((name) => name !== undefined && !name.includes("/")) as string[],
    files: signing.module === undefined ? [] : [resolve(folder, signing.module)],
    archiveHost: new URL(archive.url).hostname,
    webHost: web?.listen.host,
  };
}
