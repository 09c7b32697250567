/**
 * What people may be notified about. The configuration, the messages and docs/notify.md name these.
 */
export type EventKind =
  | "gate"
  | "credentials"
  | "archive"
  | "failed"
  | "stuck"
  | "held"
  | "source"
  | "after"
  | "reader"
  | "disk"
  | "allowance"
  | "stalled"
  | "digest"
  | "batch";

/** Everything that is sent unless a channel's `events` says otherwise. */
export const USUAL_EVENTS = [
  "gate",
  "credentials",
  "archive",
  "failed",
  "stuck",
  "held",
  "source",
  "after",
  "reader",
  "disk",
  "allowance",
  "stalled",
  "digest",
] as const satisfies readonly EventKind[];

/** What is sent within quiet hours as well: nothing gets better until a person comes. */
export function isUrgent(kind: EventKind): boolean {
  return kind === "credentials" || kind === "disk";
}

/** All kinds; `batch` is sent only where a channel's `events` names it. */
export const EVENT_KINDS = [...USUAL_EVENTS, "batch"] as const satisfies readonly EventKind[];
