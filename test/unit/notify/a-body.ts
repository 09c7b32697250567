import type { EventKind } from "../../../src/domain/event-kind.ts";
import { bodyOf, type MessageBody } from "../../../src/notify/message.ts";
import type { Telling } from "../../../src/notify/trouble.ts";

export const AT = Date.UTC(2026, 10, 20, 13, 20);

export const aTelling = (fields: Partial<Telling> = {}): Telling => ({
  kind: "gate" satisfies EventKind,
  cause: "gate:QUOTA_LIMIT",
  what: "began",
  title: "Sending has stopped: the page allowance is used up",
  detail: "7 documents wait.",
  hint: "Buy pages.",
  since: AT,
  times: 1,
  ...fields,
});

/** A body with one telling. */
export function aBody(fields: Partial<Telling> = {}): MessageBody {
  const message = { id: "0a1b", at: AT, tellings: [] };
  return bodyOf(message, [aTelling(fields)], { host: "scanner-1", version: "0.1.0" });
}
