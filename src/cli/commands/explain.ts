import type { Command } from "commander";
import { exact } from "../../std/raw-path.ts";
import { hanging } from "../text-table.ts";
import { explanationLines } from "../explanation-lines.ts";
import { EXIT } from "../exit.ts";
import { placeOf } from "../paths.ts";
import type { Shell } from "../shell.ts";
import { type Explanation, explanationOf, NO_SUCH_FILE } from "../../report/explanation.ts";
import { readJournal } from "../../journal/open-journal.ts";
import { examples } from "../option-values.ts";

/** `scanferry explain`: one file, and why it is where it is. */
export function addExplain(program: Command, shell: Shell): void {
  program
    .command("explain")
    .description("show everything about one file: its states, its folder, its errors")
    .argument("<path>", "absolute, or relative to this directory or to a mirror's source")
    .option("--json", "print one JSON object")
    .action((path: string, { json }: { json?: boolean }) => explain(shell, path, json === true))
    .addHelpText("after", examples('scanferry explain "/srv/scans/Invoices/Scan 0007.pdf"'));
}

async function explain(shell: Shell, typed: string, json: boolean): Promise<void> {
  const config = await shell.config();
  await using journal = await readJournal(config);
  const place = await placeOf(typed, { ...shell.directory, mirrors: config.mirrors }, journal);
  const explanation = await explanationOf({ config, ...shell.processContext }, place, journal);
  if (json) await shell.out.line(JSON.stringify(withPath(explanation, exact(place.path))));
  else {
    const lines = explanationLines(explanation, place.mirror, shell.clock.now(), shell.out);
    const { width, isInteractive } = shell.out;
    const shown = isInteractive ? lines.flatMap((line) => hanging(line, width)) : lines;
    for (const line of shown) await shell.out.line(line);
  }
  shell.exitCode = explanation.note === NO_SUCH_FILE ? EXIT.fault : EXIT.done;
}

function withPath(explanation: Explanation, path: string): Explanation {
  const revisions = explanation.revisions.map((revision) => {
    return { ...revision, document: { ...revision.document, path } };
  });
  return { ...explanation, path, revisions };
}
