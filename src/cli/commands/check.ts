import type { Command } from "commander";
import { examinationOf } from "../check/examination.ts";
import { examples } from "../examples.ts";
import { clause, EXIT } from "../exit.ts";
import type { Finding } from "../check/finding.ts";
import { padded } from "../columns.ts";
import { printable } from "../printable.ts";
import type { Shell } from "../shell.ts";
import type { Style } from "../terminal.ts";

const STYLES: Readonly<Record<Finding["level"], Style>> = {
  ok: "green",
  warn: "yellow",
  FAIL: "red",
};

/** `scanferry check`: everything that must be right, asked once. */
export function addCheck(program: Command, shell: Shell): void {
  program
    .command("check")
    .description("examine configuration, archive, sources, journal and clock; changes nothing")
    .option("--json", "print one JSON object")
    .action(async ({ json }: { json?: boolean }) => {
      const config = await shell.config();
      const findings: Finding[] = [];
      for await (const finding of examinationOf(config, shell)) {
        findings.push(finding);
        if (json !== true) await shell.out.line(lineOf(finding, shell));
      }
      const failed = findings.some(({ level }) => level === "FAIL");
      if (json === true) await shell.out.line(JSON.stringify({ ok: !failed, findings }));
      shell.exitCode = failed ? EXIT.fault : EXIT.done;
    })
    .addHelpText("after", examples("scanferry check"));
}

function lineOf({ level, what, mend }: Finding, { out }: Shell): string {
  const mark = out.paint(STYLES[level], padded(level, 4));
  return `${mark}  ${printable(what)}${mend === null ? "" : ` — ${printable(clause(mend))}`}`;
}
