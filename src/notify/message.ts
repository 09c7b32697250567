import type { EventKind } from "../domain/event.ts";
import {
  type Receipt,
  RECEIPT_DOCUMENTS_MAX,
  receiptOf as receiptFrom,
} from "../receipts/receipt.ts";
import type { Notification } from "./alert.ts";
import type { Batches, Registry } from "../journal/journal.ts";
import type { UsageBucket } from "../journal/usage-bucket.ts";
import { counted } from "../std/wording.ts";
import { type Finding, MOVING } from "../report/finding.ts";
import type { StatusReport } from "../report/status.ts";

/** What goes out through a channel: all that is to be told at one moment. */

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

/** What a digest is made of. Times are epoch milliseconds. */
type DigestContent = {
  readonly from: number;
  readonly to: number;
  readonly usageBuckets: readonly UsageBucket[];
  readonly nameOf: (mirrorId: number) => string;
  readonly documents: StatusReport["documents"];
  readonly findings: readonly Finding[];
};

const STOPPED = ["held", "failed"] as const;

/** A summary: what was archived since the last one, what is on its way, and what is wrong. */
export function digestOf(digested: DigestContent): Notification {
  const { from, to, usageBuckets, nameOf, documents, findings } = digested;
  const sum = (of: readonly UsageBucket[], key: "converted" | "pages") =>
    of.reduce((all, usageBucket) => all + usageBucket[key], 0);
  const lines = [...Map.groupBy(usageBuckets, ({ mirrorId }) => mirrorId)].map(
    ([id, of]) =>
      `${nameOf(id)}: ${counted(sum(of, "converted"), "document")}, ${sum(of, "pages")} pages`,
  );
  const some = (states: readonly (keyof typeof documents)[]) =>
    states.filter((state) => documents[state] > 0).map((state) => `${documents[state]} ${state}`);
  const now = [...some(MOVING), ...some(STOPPED)].join(", ");
  return {
    kind: "digest",
    cause: "digest",
    what: "happened",
    title: `${counted(sum(usageBuckets, "converted"), "document")} archived, ${wrong(findings.filter(({ severity }) => severity !== "info").length)}`,
    detail: [
      `From ${local(from)} to ${local(to)}:`,
      ...(lines.length > 0 ? lines : ["nothing was archived."]),
      `Now: ${now === "" ? "nothing waits" : now}.`,
      ...findings.map(({ title, fix }) => `- ${title}.${fix === "" ? "" : ` ${fix}`}`),
    ].join("\n"),
    hint: "",
    since: from,
    times: 1,
  };
}

function wrong(findings: number): string {
  if (findings === 0) return "nothing is wrong";
  return findings === 1 ? "one thing is wrong" : `${findings} things are wrong`;
}
