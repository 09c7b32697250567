import { collectDefaultMetrics, Registry } from "prom-client";

let registry: Registry | undefined;

/** What an empty histogram says: no mean, and the least that fits into 64 bits as its minimum, nanoseconds. */
const NOT_MEASURED = /^[^#].* (?:nan|9223372036\.854776)\n/gim;

/**
 * Memory, CPU, event loop, garbage collection, in Prometheus text; what was not measured yet is left out. One registry
 * for the process, since these are the process's, and their observers cannot be taken down again.
 */
export async function processMetrics(): Promise<string> {
  if (registry === undefined) {
    registry = new Registry();
    collectDefaultMetrics({ register: registry });
  }
  return (await registry.metrics()).replaceAll(NOT_MEASURED, "");
}
