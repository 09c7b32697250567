import type { EventKind } from "../domain/event.ts";

/** Something that is wrong for as long as it is found; pure data, made again at every look. */
export type Alert = {
  readonly kind: EventKind;
  /** What is wrong, always the same for the same: told once, however often it is found. */
  readonly cause: string;
  /** One line, for a subject. */
  readonly title: string;
  /** More, in sentences or lines; may be empty. */
  readonly detail: string;
  /** What to do; may be empty. */
  readonly hint: string;
  /** The line that tells that it is over. */
  readonly over: string;
  /** How much of it there is: it is sent again when that has grown. */
  readonly size: number;
  /** What it is about: where that changes before it was sent, the wait begins again. */
  readonly mark: string;
  /** Told when it has lasted this long. */
  readonly afterMs: number;
};

/** Something that happened, and is not over afterwards. */
export type Notice = Pick<Alert, "kind" | "cause" | "title" | "detail" | "hint"> & {
  /** The batch that it is about. */
  readonly batch?: string;
};

/** What recipients learn about one cause. Times are epoch milliseconds. */
export type Notification = Notice & {
  readonly what: "began" | "grew" | "goesOn" | "over" | "happened";
  /** When it began, or happened first. */
  readonly since: number;
  /** How often it happened since it was last told. */
  readonly times: number;
};

/** What is known of an alert. */
export type AlertMemory = Pick<Alert, "kind" | "over" | "mark"> & {
  readonly seenAt: number;
  /** Not found since; null: it was found the last time. */
  readonly clearAt: number | null;
  readonly toldAt: number | null;
  /** The size that was sent; null: recipients believe that all is well. */
  readonly toldSize: number | null;
};

/** A notice that waits to be sent, or was sent a short while ago. */
export type Noted = {
  readonly notice: Notice;
  readonly times: number;
  readonly firstAt: number;
  readonly toldAt: number | null;
};

/** Everything that has to be known to tell nothing twice; survives restarts. By cause. */
export type Memory = {
  readonly standing: Readonly<Record<string, AlertMemory>>;
  readonly noted: Readonly<Record<string, Noted>>;
};

/** Before anything was sent. */
export const NOTHING_TOLD: Memory = { standing: {}, noted: {} };
