import type { Config } from "../../config/config.ts";
import { exampleResults } from "../rules/examples.ts";
import type { Shell } from "../shell.ts";
import { counted } from "../wording.ts";
import { fail, type Finding, ok } from "./finding.ts";

/** Do the rules decide what the examples of the configuration say? */
export function* examineExamples(config: Config, { clock }: Shell): Generator<Finding> {
  const results = exampleResults(config, clock.now());
  const wrong = results.filter((result) => result.wrong.length > 0);
  for (const { mirror, path, wrong: what } of wrong) {
    const found = `mirror ${mirror}: example ${path}: ${what.join("; ")}`;
    yield fail(found, "Mend the rule, or the example; scanferry rules test shows what is decided.");
  }
  if (results.length > 0 && wrong.length === 0)
    yield ok(`${counted(results.length, "example")} of rules`);
}
