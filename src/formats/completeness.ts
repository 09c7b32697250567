/** `unfinished`: its own format says that something is missing; `unknown`: its format cannot say. */
export type Completeness = "complete" | "unfinished" | "unknown";
