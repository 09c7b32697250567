import type { Command } from "commander";
import { type Config, secretsOf } from "../../config/config.ts";
import { type EffectiveKey, effectiveKeys } from "../../config/load-config.ts";
import { growSlowly } from "../../std/heap.ts";
import {
  assertOpenFiles,
  fewText,
  OPEN_FILES_HINT,
  OPEN_FILES_USUAL,
  openFilesMax,
} from "../../std/open-files.ts";
import { TIME_ZONE_HINT, timeZoneProblem } from "../../std/time-zone.ts";
import { checkApart } from "../../check/check-apart.ts";
import { printable } from "../../std/printable.ts";
import type { Shell } from "../shell.ts";
import { examples } from "../option-values.ts";

/** `scanferry run`: the daemon, in the foreground. */
export function addRun(program: Command, shell: Shell): void {
  program
    .command("run")
    .description("run the daemon in the foreground, until SIGTERM or Ctrl-C")
    .action(() => run(shell))
    .addHelpText("after", examples("scanferry --config /etc/scanferry/scanferry.yaml run"));
}

async function run(shell: Shell): Promise<void> {
  // Loaded only here: it is most of the program, and the other commands start twice as fast.
  const { prepareReader } = await import("../../reader/fork-reader.ts");
  using _reader = prepareReader();
  const { liveDaemon } = await import("../../daemon/live-daemon.ts");
  const { openLog } = await import("../../daemon/open-log.ts");
  const { recentLines } = await import("../../daemon/open-log.ts");
  const { takeNotifier } = await import("../../daemon/notifier.ts");
  const { withPageToken } = await import("../../daemon/page-token.ts");
  growSlowly();
  assertOpenFiles();
  const { env, unattended } = shell.processContext;
  unattended?.();
  const max = openFilesMax() ?? OPEN_FILES_USUAL;
  let files = max < OPEN_FILES_USUAL ? fewText(max) : undefined;
  let zone = timeZoneProblem(env, shell.clock.now());
  const keys = new WeakMap<Config, readonly EffectiveKey[]>();
  await liveDaemon({
    notifier: takeNotifier(env, process.pid),
    load: async () => {
      const config = await withPageToken(await shell.config(), (line) =>
        shell.err.print(`scanferry: ${printable(line)}\n`),
      );
      keys.set(config, await effectiveKeys(shell.places));
      return config;
    },
    inspection: (config) => ({
      lines: () => recentLines.all,
      keys: keys.get(config) ?? [],
      check: () => checkApart(shell.configFile, shell.processContext),
    }),
    openLog: (config) => {
      const pretty = shell.out.isInteractive;
      const { level, file } = config.log;
      const log = openLog({ level, file, secrets: secretsOf(config), pretty });
      // Of the process, and not of the configuration: told once.
      if (zone !== undefined) log.warn({}, `${zone}. ${TIME_ZONE_HINT}`);
      zone = undefined;
      if (files !== undefined) log.warn({}, `${files}. ${OPEN_FILES_HINT}`);
      files = undefined;
      return log;
    },
  });
}
