/** A vitest reporter: the files that took longest, in seconds, so that a suite that grows slow shows where. */
import type { Reporter, TestModule } from "vitest/node";

const SHOWN = 20;

export default class SlowestFiles implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const timed = modules.map((module) => ({
      file: module.relativeModuleId,
      seconds: module.diagnostic().duration / 1_000,
    }));
    const slowest = timed.toSorted((one, other) => other.seconds - one.seconds).slice(0, SHOWN);
    const lines = slowest.map(
      ({ file, seconds }) => `${seconds.toFixed(1).padStart(8)} s  ${file}`,
    );
    console.log(`\nThe slowest of ${modules.length} files:\n${lines.join("\n")}`);
  }
}
