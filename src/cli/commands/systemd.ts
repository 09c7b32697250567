import { statSync } from "node:fs";
import { basename, dirname, extname, resolve } from "node:path";
import type { Command } from "commander";
import { archivesIn } from "../../config/archive-section.ts";
import type { FileShape } from "../../config/config.ts";
import { readConfigFile } from "../../config/config-file.ts";
import { hooksOf } from "../../config/mirror-section.ts";
import { journalPathIn } from "../../config/service-sections.ts";
import { sketchOf } from "../../config/load-config.ts";
import { notifyHosts, writtenChannels } from "../../config/notify-section.ts";
import { namedFiles } from "../../config/secrets.ts";
import { readMounts } from "../../source/mounts.ts";
import type { Shell } from "../shell.ts";
import { examples } from "../option-values.ts";
import { readNameservers } from "../../network/address-filter.ts";
import { UsageError } from "../../std/fault.ts";
import { printable } from "../../std/printable.ts";
import { dropIn, type Needs, wantedPaths } from "../../check/drop-in.ts";

/** `scanferry systemd`: the drop-in of the unit for this configuration. */
export function addSystemd(program: Command, shell: Shell): void {
  program
    .command("systemd")
    .description(
      "print a systemd drop-in that gives the service access to the configured sources only",
    )
    .option("--instance", "for scanferry@NAME.service; NAME is the name of the configuration file")
    .action(async ({ instance }: { instance?: boolean }) => {
      const needs = await needsOf(shell, instance === true);
      await shell.out.line(madeBy(needs));
      const mounts = readMounts();
      await shell.out.write(dropIn(needs, mounts));
      for (const path of [...wantedPaths(needs, mounts)].filter(isMissing)) {
        const fix = "put or create it there before the service starts";
        await shell.err.line(`scanferry: ${printable(path)} is not there: ${fix}`);
      }
    })
    .addHelpText("after", examples("scanferry --config /etc/scanferry/scanferry.yaml systemd"));
}

function madeBy({ configFile, instance }: Needs): string {
  const option = instance === undefined ? "" : " --instance";
  return (
    `# Made by: scanferry --config ${JSON.stringify(configFile)} systemd${option}\n` +
    "# Make it again after a change of sources, of `after`, of where the secrets are, or of link-local name servers."
  );
}

/** Reads the configuration without its secrets, which only the service may be able to read. */
async function needsOf(shell: Shell, isInstance: boolean): Promise<Needs> {
  const file = await readConfigFile(shell.places);
  if (!file.isWritten)
    throw new UsageError("the service needs a configuration file; write one with scanferry init");
  // The unit's environment is another one than that of who makes its drop-in.
  const { sketch, findings } = sketchOf(file, {});
  findings.throwIfAny();
  const folder = dirname(file.path);
  // Nothing was found wrong, so nothing is left out.
  const { mirrors, web, notify, journal, log, receipts } = sketch as FileShape;
  const archives = archivesIn(sketch as FileShape).map(({ section }) => section);
  const files = namedFiles(sketch as FileShape);
  const paths = [
    ...files.map(({ written }) => written),
    ...writtenChannels(notify).flatMap(({ way, channel }) => way.programs(channel)),
  ].filter(isPath);
  const modules = archives.flatMap(({ signing }) => signing.module ?? []);
  return {
    configFile: file.path,
    instance: isInstance ? basename(file.path, extname(file.path)) : undefined,
    mirrors: mirrors.map((mirror) => mirrorNeedsOf(mirror, folder)),
    programs: mirrors.flatMap(({ hooks: shape }) => {
      const { before, after } = hooksOf(shape, folder) ?? {};
      return [before, after].flatMap((hook) => hook?.command[0] ?? []).filter(isPath);
    }),
    folders: [
      ...[journalPathIn(journal), log.file].flatMap((file) => (file ? [dirname(file)] : [])),
      ...(receipts ? [receipts.dir] : []),
    ],
    ...journalServerOf(journal),
    credentials: files.flatMap(({ written }) => (isPath(written) ? [] : [written])),
    files: [...modules, ...paths].map((path) => resolve(folder, path)),
    archiveHosts: archives.flatMap(({ url, proxy, proxyFile }) => [
      new URL(url).hostname,
      ...(proxy === undefined || proxy === "off" ? [] : [new URL(proxy).hostname]),
      // Not known here, so nothing is narrowed.
      ...(proxyFile === undefined ? [] : [""]),
    ]),
    toldHosts: notifyHosts(notify),
    webHost: web.listen?.host,
    nameservers: readNameservers(),
  };
}

function mirrorNeedsOf(
  { source, after, hooks: shape }: FileShape["mirrors"][number],
  folder: string,
): Needs["mirrors"][number] {
  const before = hooksOf(shape, folder)?.before;
  const vetoedTo = before?.afterVeto.kind === "move" ? before.afterVeto.to : undefined;
  return {
    source,
    after,
    isWritten: before !== undefined,
    ...(vetoedTo === undefined ? {} : { vetoedTo }),
  };
}

/** Of a journal in PostgreSQL; a host of none is a socket of this machine. */
function journalServerOf({ url }: FileShape["journal"]): Pick<Needs, "journalHost"> {
  const host = url && new URL(url.server).hostname;
  return host === undefined || host === "" || host.startsWith("%2F") ? {} : { journalHost: host };
}

/** One that this user may not look at counts as there. */
function isMissing(file: string): boolean {
  try {
    return !statSync(file, { throwIfNoEntry: false });
  } catch {
    return false;
  }
}

/** Other programs are looked for in `PATH`, which the unit leaves open; other secrets among the credentials. */
function isPath(name: string): boolean {
  return name.includes("/");
}
