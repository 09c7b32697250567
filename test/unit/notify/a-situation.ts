import type { Situation } from "../../../src/notify/situation.ts";
import { noDocuments } from "../../../src/sync/status.ts";

/** All is well, but for what is said. */
export function aSituation(fields: Partial<Situation> = {}): Situation {
  return {
    documents: noDocuments(),
    archives: [{ name: "main", gate: null, waiting: 0, outage: undefined, allowance: null }],
    groups: [],
    sources: [{ name: "scans", source: "/srv/scans", online: true, why: "", unread: null }],
    afterPending: [],
    health: { healthy: true, why: "ok" },
    disk: { freeBytes: 10_000_000_000, path: "/var/lib/scanferry/journal.db" },
    ...fields,
  };
}

/** The gate of an archive is closed for this code. */
export function closedFor(code: string, name = "main"): Pick<Situation, "archives"> {
  const gate = { closedAt: 0, code, message: "it says so", hint: "Fix it.", nextProbeAt: null };
  return { archives: [{ name, gate, waiting: 7, outage: undefined, allowance: null }] };
}
