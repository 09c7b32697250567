import { dirname } from "node:path";
import { ConfigError } from "./config-error.ts";
import { reportConflicts } from "./conflicts.ts";
import type { Findings } from "./findings.ts";
import { layoutOf } from "./layout.ts";
import { readFileShape } from "./read-file-shape.ts";
import type { Sketch } from "./schema.ts";
import { parseYamlSource } from "./yaml-source.ts";

/**
 * What the text of a configuration file says, as far as it can be read, and everything found wrong
 * with it; secrets are looked for elsewhere. Throws `ConfigError` when it is not YAML.
 */
export function sketchOf(file: string, text: string): { sketch: Sketch; findings: Findings } {
  const { value, findings } = parseYamlSource(file, text);
  const sketch = readFileShape(value, findings);
  reportConflicts(sketch, layoutOf(sketch, dirname(file)), findings);
  return { sketch, findings };
}

/** Throws `ConfigError` for a text that, once it is in `file`, nobody could use. */
export function assertUsable(file: string, text: string): void {
  try {
    sketchOf(file, text).findings.throwIfAny();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    // It is not there yet, and has no lines to look at.
    throw new ConfigError(error.problems.map((problem) => ({ ...problem, line: undefined })));
  }
}
