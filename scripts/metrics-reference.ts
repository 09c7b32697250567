/**
 * Writes docs/metrics.md from the table of measures, so that the two cannot differ.
 * Run it after a change of a measure: `node scripts/metrics-reference.ts`.
 */
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { METRICS, type Metric } from "../src/dashboard/metric-table.ts";

const INTRODUCTION = `# Health and metrics

<!-- Written by scripts/metrics-reference.ts from src/dashboard/metric-table.ts. Change that, not this. -->

The listener of \`web.listen\` serves three addresses for machines, beside the page.

- \`/healthz\` answers 200 while work is moving: of some mirror the document that is ready longest is another
  one than before, or there is a reason that sending waits for (a pause, a closed gate, an archive that cannot
  be reached), or nothing is ready. It answers 503 once nothing has moved for 15 minutes although documents
  are ready; while something is being sent, 60. That the process is up is not enough. Restarting on it is safe.
- \`/readyz\` answers 200 once a source has been looked for, and 503 before that; and while a journal in PostgreSQL cannot
  be reached. Of several daemons on a journal each answers for itself, one that only sends as well.
- \`/metrics\` is Prometheus text. Labels are mirrors and states: no file, folder or path is named. Beyond
  loopback it takes the token: \`authorization: { credentials_file: … }\` in the scrape's configuration; with it,
  the scrape may call it by any name (\`scanferry:9464\`), which the page itself may not be.

\`config/prometheus-alerts.yaml\` has alarms made of these, \`config/grafana-dashboard.json\` a dashboard.

| measure | type | labels | |
|---|---|---|---|
`;

/** The page. */
export function metricsReference(): string {
  const rows = Object.entries<Metric>(METRICS).map(([name, { type, labels, help }]) => {
    const of = labels.map((label) => `\`${label}\``).join(", ");
    return `| \`${name}\` | ${type} | ${of} | ${help} |`;
  });
  const process =
    "Beside these stand the usual measures of the process (`process_*`, `nodejs_*`): memory, processor, event loop.";
  return `${INTRODUCTION}${rows.join("\n")}\n\n${process}\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(new URL("../docs/metrics.md", import.meta.url), metricsReference());
}
