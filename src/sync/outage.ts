import type { Trouble } from "../domain/document.ts";

/** The archive cannot be reached: how often it was tried in a row, until when (monotonic ms), what was said. */
export type Outage = { readonly tries: number; readonly until: number; readonly trouble: Trouble };
