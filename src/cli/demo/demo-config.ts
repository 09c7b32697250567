import { buildConfig } from "../../config/build-config.ts";
import type { Config } from "../../config/config.ts";
import { ConfigProblems } from "../../config/config-problems.ts";
import { readFileShape } from "../../config/read-file-shape.ts";
import type { FileShape } from "../../config/file-schema.ts";
import { FIRST_ARCHIVE } from "../../domain/archive-name.ts";
import type { DemoPlace } from "./demo-place.ts";

/** A configuration that shows soon what happens; everything else is as by default. */
export function demoConfig(options: {
  place: DemoPlace;
  url: string;
  target: string;
  port: number;
}): Config {
  const { place, url, target, port } = options;
  const findings = new ConfigProblems(place.journal, () => undefined);
  const shape = readFileShape(
    {
      archive: { url },
      mirrors: [{ name: "scans", source: place.inbox, target, settle: "1s" }],
      journal: place.journal,
      conversion: { poll: { initial: "300ms", max: "5s" } },
      web: { listen: `127.0.0.1:${port}` },
    },
    findings,
  );
  findings.throwIfAny();
  // Nothing was found wrong, so nothing is left out.
  return buildConfig({ path: place.journal, isWritten: true }, shape as FileShape, {
    archives: new Map([[FIRST_ARCHIVE, { accountKey: "demo", signingSecret: "demo" }]]),
    webToken: undefined,
    files: [],
  });
}
