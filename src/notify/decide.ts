/**
 * What is to be sent now, given what was sent. Pure: time, alerts and memory come in; what to
 * tell and the new memory come out. For every cause:
 *
 * (1) its beginning and its end are sent in turns, and an end only after a beginning;
 * (2) it is sent no sooner than an hour (or `repeatMs`, if that is less) after it was sent last, but for its end;
 * (3) within quiet hours only what is urgent is sent; what is over by then is never sent.
 */
import type { NotifyConfig } from "../config/notify-section.ts";
import { type EventKind, isUrgent } from "../domain/event.ts";
import { isWithinHours } from "../domain/calendar.ts";
import type { Memory, Noted, Notice, AlertMemory, Notification, Alert } from "./alert.ts";

/** How often, and when, something is sent. Milliseconds. */
export type Policy = {
  /** Reminders of what lasts come this often; 0: never. */
  readonly repeatMs: number;
  /** Whether this may be told at this moment. */
  readonly mayTell: (kind: EventKind) => boolean;
};

/** What comes and goes, or grows, is sent again no sooner. */
const AGAIN_MS = 3_600_000;

/** The policy of a configuration at `now` (epoch ms). */
export function policyOf(
  { repeatMs, quiet }: Pick<NotifyConfig, "repeatMs" | "quiet">,
  now: number,
): Policy {
  const isQuiet = quiet !== undefined && isWithinHours(quiet, now);
  return { repeatMs, mayTell: (kind) => !isQuiet || isUrgent(kind) };
}

/** What was found at one look. */
export type AlertSight = {
  readonly alerts: readonly Alert[];
  /**
   * What it means that a cause is not among them: `over`; `unknown`, say for a source that was not
   * looked for yet; `foreign`: nobody looks for it any more, so that nothing can be said.
   */
  readonly absent: (cause: string) => "over" | "unknown" | "foreign";
};

/** What is to be told, and what is to be known the next time. */
export type Decision = { readonly memory: Memory; readonly notifications: readonly Notification[] };

/** It has to stay away this long to be over, or as long as it had to last to be told. */
const STEADY_MS_MAX = 60_000;

/** Decides at `now` (epoch ms). A clock that was set back lengthens no wait. */
export function decide(memory: Memory, found: AlertSight, policy: Policy, now: number): Decision {
  const before = notLaterThan(memory, now);
  const standing: Record<string, AlertMemory> = {};
  const notifications: Notification[] = [];
  for (const alert of found.alerts) {
    const step = stand(alert, before.standing[alert.cause], policy, now);
    standing[alert.cause] = step.standing;
    if (step.what) notifications.push(notificationOf(alert, step.what, step.standing.seenAt));
  }
  for (const [cause, known] of Object.entries(before.standing)) {
    if (standing[cause]) continue;
    const means = found.absent(cause);
    if (means === "unknown") standing[cause] = known;
    if (means !== "over") continue;
    const { left, isTold } = endOf(known, policy, now);
    if (left) standing[cause] = left;
    if (isTold) notifications.push(endNotification(cause, known));
  }
  const { noted, happened } = tellNotices(before.noted, policy, now);
  return { memory: { standing, noted }, notifications: [...notifications, ...happened] };
}

/** Remembers that something happened, to be told at the next decision that may. */
export function noteDown(memory: Memory, notice: Notice, now: number): Memory {
  const known = memory.noted[notice.cause];
  const isNew = known === undefined || known.times === 0;
  const noted: Noted = {
    notice,
    times: (known?.times ?? 0) + 1,
    firstAt: isNew ? now : known.firstAt,
    toldAt: known?.toldAt ?? null,
  };
  return { ...memory, noted: { ...memory.noted, [notice.cause]: noted } };
}

function stand(
  alert: Alert,
  known: AlertMemory | undefined,
  policy: Policy,
  now: number,
): { standing: AlertMemory; what?: Notification["what"] } {
  const { kind, over, mark, size } = alert;
  const { toldAt = null, toldSize = null } = known ?? {};
  const isSame = known !== undefined && (toldSize !== null || isOngoing(known, alert));
  const seenAt = isSame ? known.seenAt : now;
  const standing: AlertMemory = { kind, over, mark, seenAt, clearAt: null, toldAt, toldSize };
  const what = dueOf(alert, standing, policy, now);
  if (!what || !policy.mayTell(kind)) return { standing };
  return { standing: { ...standing, toldAt: now, toldSize: size }, what };
}

/** Before it is sent, it is the same only while it is about the same and did not go away. */
function isOngoing({ clearAt, mark }: AlertMemory, alert: Alert): boolean {
  return clearAt === null && mark === alert.mark;
}

function dueOf(
  { size, afterMs }: Alert,
  { seenAt, toldAt, toldSize }: AlertMemory,
  policy: Policy,
  now: number,
): Notification["what"] | undefined {
  if (isFresh(toldAt, policy, now)) return undefined;
  if (toldSize === null) return now - seenAt >= afterMs ? "began" : undefined;
  if (size > toldSize) return "grew";
  const { repeatMs } = policy;
  const isDue = repeatMs > 0 && toldAt !== null && now - toldAt >= repeatMs;
  return isDue ? "goesOn" : undefined;
}

/** Whether it was sent so lately that it must not be sent again. */
function isFresh(toldAt: number | null, { repeatMs }: Policy, now: number): boolean {
  return toldAt !== null && now - toldAt < Math.min(AGAIN_MS, repeatMs || AGAIN_MS);
}

/** What is left to know of an alert that is not found any more. */
function endOf(
  known: AlertMemory,
  policy: Policy,
  now: number,
): { left?: AlertMemory; isTold: boolean } {
  const clearAt = known.clearAt ?? now;
  const isSteady = now - clearAt >= Math.min(STEADY_MS_MAX, clearAt - known.seenAt);
  if (known.toldSize === null) {
    // It is remembered for as long as it must not be sent again.
    const isKept = isFresh(known.toldAt, policy, now);
    return { ...(isKept ? { left: { ...known, clearAt } } : {}), isTold: false };
  }
  if (!isSteady || !policy.mayTell(known.kind)) {
    return { left: { ...known, clearAt }, isTold: false };
  }
  return { left: { ...known, clearAt, toldSize: null }, isTold: true };
}

function notificationOf(alert: Alert, what: Notification["what"], since: number): Notification {
  const { kind, cause, title, detail, hint } = alert;
  return { kind, cause, what, title, detail, hint, since, times: 1 };
}

function endNotification(cause: string, { kind, over, seenAt }: AlertMemory): Notification {
  const said = { title: over, detail: "", hint: "" };
  return { kind, cause, what: "over", ...said, since: seenAt, times: 1 };
}

function tellNotices(before: Memory["noted"], policy: Policy, now: number) {
  const noted: Record<string, Noted> = {};
  const happened: Notification[] = [];
  for (const [cause, known] of Object.entries(before)) {
    const { notice, times, firstAt, toldAt } = known;
    const wasJustTold = isFresh(toldAt, policy, now);
    if (times === 0) {
      if (wasJustTold) noted[cause] = known;
    } else if (wasJustTold || !policy.mayTell(notice.kind)) {
      noted[cause] = known;
    } else {
      happened.push({ ...notice, what: "happened", since: firstAt, times });
      noted[cause] = { ...known, times: 0, toldAt: now };
    }
  }
  return { noted, happened };
}

function notLaterThan({ standing, noted }: Memory, now: number): Memory {
  const at = (time: number) => Math.min(time, now);
  const atMost = (time: number | null) => (time === null ? null : at(time));
  const each = <T>(of: Readonly<Record<string, T>>, change: (value: T) => T) =>
    Object.fromEntries(Object.entries(of).map(([key, value]) => [key, change(value)]));
  return {
    standing: each(standing, (known) => ({
      ...known,
      seenAt: at(known.seenAt),
      clearAt: atMost(known.clearAt),
      toldAt: atMost(known.toldAt),
    })),
    noted: each(noted, (known) => ({
      ...known,
      firstAt: at(known.firstAt),
      toldAt: atMost(known.toldAt),
    })),
  };
}
