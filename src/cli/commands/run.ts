import type { Command } from "commander";
import { archivesOf } from "../../config/archives.ts";
import type { Config } from "../../config/config.ts";
import { notifySecretsOf } from "../../config/notify-config.ts";
import { growSlowly } from "../../std/heap.ts";
import { TIME_ZONE_HINT, timeZoneTrouble } from "../../std/time-zone.ts";
import { examples } from "../examples.ts";
import type { Shell } from "../shell.ts";

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
  const { liveDaemon } = await import("../../daemon/lifetime.ts");
  const { openLog } = await import("../../daemon/log.ts");
  const { notifierOf } = await import("../../daemon/notifier.ts");
  growSlowly();
  const { env, unattended } = shell.surroundings;
  unattended?.();
  let zone = timeZoneTrouble(env, shell.clock.now());
  await liveDaemon({
    notifier: notifierOf(env, process.pid),
    load: () => shell.config(),
    openLog: (config) => {
      const pretty = shell.out.isInteractive;
      const { level, file } = config.log;
      const log = openLog({ level, file, secrets: secretsOf(config), pretty });
      // Of the process, and not of the configuration: told once.
      if (zone !== undefined) log.warn({}, `${zone}. ${TIME_ZONE_HINT}`);
      zone = undefined;
      return log;
    },
  });
}

/** Everything in the configuration that must never be shown. */
export function secretsOf(config: Config): string[] {
  const { web, notify, journal } = config;
  const secrets = notifySecretsOf(notify);
  for (const { accountKey, signing } of archivesOf(config)) {
    secrets.push(accountKey);
    if (signing.scheme === "hmac") secrets.push(signing.secret);
  }
  if (web?.token !== undefined) secrets.push(web.token);
  if (typeof journal !== "string" && journal.password !== undefined) secrets.push(journal.password);
  return secrets;
}
