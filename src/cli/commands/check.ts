import type { Command } from "commander";
import { EXIT } from "../exit.ts";
import type { Config } from "../../config/config.ts";
import { ConfigError } from "../../config/config-problems.ts";
import type { Fault } from "../../std/fault.ts";
import type { Shell } from "../shell.ts";
import { examples } from "../option-values.ts";
import { type CheckResult, fail } from "../../check/check-result.ts";
import { examinationOf } from "../../check/examination.ts";
import { findingLine } from "../text-table.ts";

/** `scanferry check`: everything that must be right, asked once. */
export function addCheck(program: Command, shell: Shell): void {
  program
    .command("check")
    .description(
      "check configuration, archive, sources, mail servers, journal and clock; change nothing",
    )
    .option("--json", "print one JSON object")
    .action(async ({ json }: { json?: boolean }) => {
      const config = await configOf(shell, json === true);
      const findings: CheckResult[] = [];
      let mistake: Fault | undefined;
      let stands = false;
      for await (const { unusable, isUnsettled, ...finding } of examinationOf(
        config,
        meansOf(shell),
      )) {
        findings.push(finding);
        mistake ??= unusable;
        stands ||= isUnsettled === true;
        if (json !== true) await shell.out.line(findingLine(finding, shell.out));
      }
      const failed = findings.some(({ level }) => level === "FAIL");
      if (json === true) await shell.out.line(JSON.stringify({ ok: !failed, findings }));
      if (mistake) throw mistake;
      shell.exitCode = failed ? EXIT.fault : stands ? EXIT.unsettled : EXIT.done;
    })
    .addHelpText(
      "after",
      `${examples("scanferry check")}

Ends with the worst that was found: 2 the configuration cannot be used, 1 something fails, 3 documents
are held or failed, 0 nothing of that. "warn" alone ends with 0.`,
    );
}

function meansOf(shell: Shell): Parameters<typeof examinationOf>[1] {
  const { env, clock, random } = shell.processContext;
  return { places: shell.places, env, clock, random, stopping: () => shell.stopping() };
}

/** What is wrong with the configuration is found here as elsewhere; for programs, as findings too. */
async function configOf(shell: Shell, json: boolean): Promise<Config> {
  try {
    return await shell.config();
  } catch (error) {
    if (json && error instanceof ConfigError) {
      const findings = error.problems.map(({ file, key, message, fix }) => {
        return fail([file, key, message].filter((part) => part !== "").join(": "), fix);
      });
      await shell.out.line(JSON.stringify({ ok: false, findings }));
    }
    throw error;
  }
}
