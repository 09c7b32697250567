/**
 * Writes docs/metrics.md from the table of measures, so that the two cannot differ.
 * Run it after a change of a measure: `node scripts/metrics-reference.ts`.
 */
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { METRICS, type Metric } from "../src/dashboard/metric-table.ts";

const INTRODUCTION = `# Health and metrics

<!-- Written by scripts/metrics-reference.ts from src/dashboard/metric-table.ts. Change that, not this. -->

The listener of \`web.listen\` serves three addresses for machines:

- \`/healthz\`: 200 while work moves, or has a reason to wait (a pause, a closed gate, an archive that cannot be reached), or there is none; 503 when
  documents are ready and none was sent for 15 minutes (60 while one is being sent), and while a journal in PostgreSQL cannot be reached. A
  restart on 503 is safe.
- \`/readyz\`: 200 once a source has been checked; 503 before, while it stops, and while a journal in PostgreSQL cannot be reached.
- \`/metrics\`: Prometheus text, without names of files and folders. From other hosts it needs the token
  (\`authorization: { credentials_file: … }\`); with it, any host name is accepted.

\`config/prometheus-alerts.yaml\` has alarms, \`config/grafana-dashboard.json\` a dashboard. In addition to these metrics there are the usual ones
of the process (\`process_*\`, \`nodejs_*\`).

`;

/** The page. */
export function metricsReference(): string {
  const lines = Object.entries<Metric>(METRICS).map(([name, { type, labels, help }]) => {
    const of = labels.length > 0 ? `{${labels.join(", ")}}` : "";
    return `- \`${name}${of}\` (${type}): ${help}`;
  });
  return `${INTRODUCTION}${lines.join("\n")}\n`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(new URL("../docs/metrics.md", import.meta.url), metricsReference());
}
