import type { Situation } from "../../../src/notify/situation.ts";
import { noDocuments } from "../../../src/sync/status.ts";

/** All is well, but for what is said. */
export function aSituation(fields: Partial<Situation> = {}): Situation {
  return {
    status: { gate: null, documents: noDocuments() },
    groups: [],
    sources: [{ name: "scans", source: "/srv/scans", online: true, why: "" }],
    outage: undefined,
    health: { healthy: true, why: "ok" },
    disk: { freeBytes: 10_000_000_000, path: "/var/lib/scanferry/journal.db" },
    allowance: undefined,
    ...fields,
  };
}

/** The gate is closed for this code. */
export function closedFor(code: string): Pick<Situation, "status"> {
  const gate = { closedAt: 0, code, message: "it says so", hint: "Mend it.", nextProbeAt: null };
  return { status: { gate, documents: { ...noDocuments(), pending: 3, held: 4 } } };
}
