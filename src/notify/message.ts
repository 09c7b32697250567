/** What goes out through a channel: all that is to be told at one moment. */
import type { EventKind } from "../domain/event-kind.ts";
import {
  type Receipt,
  RECEIPT_DOCUMENTS_MAX,
  receiptOf as receiptFrom,
} from "../receipts/receipt.ts";
import type { Notification } from "./alert.ts";
import type { Batches, Registry } from "../journal/journal.ts";

/** Where a message comes from. */
export type MessageOrigin = { readonly host: string; readonly version: string };

/** What one channel is to be told at one moment, kept until it took it. */
export type Message = {
  /** The same at every try, so that a receiver can tell what it has by now. */
  readonly id: string;
  /** Epoch ms; when it was decided on. */
  readonly at: number;
  readonly notifications: readonly Notification[];
};

/** What a webhook and a command get; keys stay, more may come. Times are epoch milliseconds. */
export type MessageBody = {
  readonly id: string;
  readonly at: number;
  readonly host: string;
  readonly version: string;
  readonly subject: string;
  readonly text: string;
  readonly events: readonly {
    readonly event: EventKind | "test";
    readonly what: Notification["what"];
    readonly cause: string;
    readonly title: string;
    readonly detail: string;
    readonly hint: string;
    readonly since: number;
    readonly times: number;
    readonly receipt?: Receipt;
  }[];
};

/** A notification, and the receipt of the batch that it is about. */
export type ChannelNotification = Omit<Notification, "kind"> & {
  readonly kind: EventKind | "test";
  readonly receipt?: Receipt | undefined;
};

/** The body of a message; `notifications` have their receipts. */
export function bodyOf(
  { id, at }: Message,
  notifications: readonly ChannelNotification[],
  { host, version }: MessageOrigin,
): MessageBody {
  const [first] = notifications;
  const more = notifications.length > 1 ? ` (and ${notifications.length - 1} more)` : "";
  return {
    id,
    at,
    host,
    version,
    subject: `[scanferry ${host}] ${first ? lineOf(first) : ""}${more}`,
    text: `${notifications.map((notification) => paragraphOf(notification)).join("\n\n")}\n`,
    events: notifications.map(
      ({ kind, receipt, what, cause, title, detail, hint, since, times }) => ({
        event: kind,
        what,
        cause,
        title,
        detail,
        hint,
        since,
        times,
        ...(receipt === undefined ? {} : { receipt }),
      }),
    ),
  };
}

const PREFIX: Readonly<Partial<Record<Notification["what"], string>>> = {
  goesOn: "Still: ",
  grew: "More: ",
};

function lineOf({ what, title, times }: ChannelNotification): string {
  return `${PREFIX[what] ?? ""}${title}${times > 1 ? ` (${times} times)` : ""}`;
}

function paragraphOf(told: ChannelNotification): string {
  const { detail, hint, since, what, kind } = told;
  const when = kind === "test" || kind === "digest" ? "" : `${WHEN[what]} ${local(since)}.`;
  return [lineOf(told), detail, hint, when].filter((line) => line !== "").join("\n");
}

const WHEN: Readonly<Record<Notification["what"], string>> = {
  began: "Since",
  grew: "Since",
  goesOn: "Since",
  over: "It had begun at",
  happened: "At",
};

/** As this host's clock shows it, with its distance from UTC: `2026-11-20 14:20 +01:00`. */
export function local(at: number): string {
  const minutes = -new Date(at).getTimezoneOffset();
  const shifted = new Date(at + minutes * 60_000).toISOString();
  const two = (value: number) => `${Math.floor(Math.abs(value))}`.padStart(2, "0");
  const zone = `${minutes < 0 ? "-" : "+"}${two(minutes / 60)}:${two(minutes % 60)}`;
  return `${shifted.slice(0, 10)} ${shifted.slice(11, 16)} ${zone}`;
}

/** The receipt of a batch; undefined while a document of it is not converted, or it has none. */
export async function receiptOf(
  journal: Batches & Registry,
  batch: string,
): Promise<Receipt | undefined> {
  const documents = await journal.inBatch(batch, RECEIPT_DOCUMENTS_MAX);
  const mirrorId = documents[0]?.mirrorId;
  const mirror = (await journal.mirrors()).find(({ id }) => id === mirrorId)?.name ?? "";
  const receipt = receiptFrom({ batch, mirror, documents });
  return receipt.closedAt === null ? undefined : receipt;
}
