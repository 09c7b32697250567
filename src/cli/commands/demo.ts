import type { Command } from "commander";
import { growSlowly } from "../../std/heap.ts";
import { EXIT } from "../exit.ts";
import { oneLine } from "../../report/finding-text.ts";
import { examples, portNumber } from "../option-values.ts";
import type { Shell } from "../shell.ts";
import { onePass, passOf } from "./sync.ts";

const PORT_DEFAULT = 8470;

type Options = { readonly once?: boolean; readonly data?: string; readonly port: number };

/** `scanferry demo`: what `npm start` runs; needs no configuration. */
export function addDemo(program: Command, shell: Shell): void {
  program
    .command("demo")
    .description("try scanferry: an embedded archive, the daemon and its page over sample scans")
    .option("--once", "end when every document is CONVERTED")
    .option("--data <dir>", "use this directory and keep it; default: a temporary one")
    .option("--port <n>", "port of the page", portNumber, PORT_DEFAULT)
    .action((options: Options) => demo(shell, options))
    .addHelpText("after", examples("scanferry demo", "scanferry demo --once"));
}

async function demo(shell: Shell, { once, data, port }: Options): Promise<void> {
  const stopping = once === true ? shell.stopping() : shell.untilStopped();
  // Loaded only here: it is most of the program, and the other commands start twice as fast.
  const { Demo } = await import("../demo/demo.ts");
  growSlowly();
  await using demo = await Demo.open(shell, { data, port, isPassing: once === true });
  if (once !== true) {
    await demo.run(stopping);
    return;
  }
  const report = await onePass(demo.daemon, { waitConverted: true }, stopping);
  demo.endDrawing();
  const { findings } = await passOf(demo.daemon, report);
  for (const finding of findings) await shell.out.line(oneLine(finding, shell.clock.now()));
  const { converted } = report.documents;
  const total = Object.values(report.documents).reduce((sum, number) => sum + number, 0);
  await shell.out.line(`${converted} of ${total} documents CONVERTED`);
  shell.exitCode = converted < total ? EXIT.unsettled : EXIT.done;
}
