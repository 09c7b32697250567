import type { EventKind } from "../../../src/domain/event.ts";
import { bodyOf, type MessageBody } from "../../../src/notify/message.ts";
import type { Notification } from "../../../src/notify/alert.ts";

export const AT = Date.UTC(2026, 10, 20, 13, 20);

export const aNotification = (fields: Partial<Notification> = {}): Notification => ({
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

/** A body with one notification. */
export function aBody(fields: Partial<Notification> = {}): MessageBody {
  const message = { id: "0a1b", at: AT, notifications: [] };
  return bodyOf(message, [aNotification(fields)], { host: "scanner-1", version: "0.1.0" });
}
