import type { Command } from "commander";
import type { Config } from "../../config/config.ts";
import { liveDaemon } from "../../daemon/lifetime.ts";
import { openLog } from "../../daemon/log.ts";
import { examples } from "../examples.ts";
import type { Shell } from "../shell.ts";

/** `scanferry run`: the daemon, in the foreground. */
export function addRun(program: Command, shell: Shell): void {
  program
    .command("run")
    .description("run the daemon in the foreground, until SIGTERM or Ctrl-C")
    .action(() =>
      liveDaemon({
        load: () => shell.config(),
        openLog: (config) =>
          openLog({
            level: config.log.level,
            secrets: secretsOf(config),
            pretty: shell.out.isInteractive,
          }),
      }),
    )
    .addHelpText("after", examples("scanferry --config /etc/scanferry/scanferry.yaml run"));
}

/** Everything in the configuration that must never be shown. */
export function secretsOf({ archive }: Config): string[] {
  const { accountKey, signing } = archive;
  return signing.scheme === "hmac" ? [accountKey, signing.secret] : [accountKey];
}
