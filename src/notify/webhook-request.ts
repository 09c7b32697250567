/**
 * What is sent to each service, in the form that its documentation asks for. Services read markup in what they are sent,
 * and a file may have any name: text goes where it is plain, or what would be markup is made harmless.
 */
import type { WebhookConfig } from "../config/channels/webhook.ts";
import type { WebhookFormat } from "../domain/webhook-format.ts";
import type { MessageBody } from "./message.ts";

/** A request, but for what all have in common. */
export type WebhookRequest = {
  readonly method: "POST" | "PUT";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

/** How much it matters: by it phones notify, or stay silent. */
type Urgency = "high" | "normal" | "low";

/** Without them nothing is archived until a person acts. */
const URGENT: readonly string[] = ["credentials", "archive", "disk", "stalled"];

type Target = Pick<WebhookConfig, "url" | "token" | "to">;
type Format = (message: MessageBody, target: Target) => WebhookRequest;

const FORMATS: Readonly<Record<WebhookFormat, Format>> = {
  json: (message, { url, token }) => post(url, message, token === undefined ? {} : bearer(token)),

  // https://docs.ntfy.sh/publish/: JSON goes to the server's root; longer text becomes an attachment.
  ntfy: (message, { url, token }) => {
    const { root, last } = lastPartOf(url);
    const priority = { high: 5, normal: 3, low: 2 }[urgencyOf(message)];
    const content = {
      topic: last,
      title: message.subject,
      message: cut(message.text, 3_900),
      priority,
    };
    return post(root, content, token === undefined ? {} : bearer(token));
  },

  // https://gotify.net/api-docs: an application's token; text is plain unless `extras` says otherwise.
  gotify: (message, { url, token = "" }) => {
    const path = new URL(url).pathname.endsWith("/message") ? url : `${withoutSlash(url)}/message`;
    const priority = { high: 8, normal: 5, low: 2 }[urgencyOf(message)];
    const extras = { "client::display": { contentType: "text/plain" } };
    const content = { title: message.subject, message: message.text, priority, extras };
    return post(path, content, { "x-gotify-key": token });
  },

  // https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks; Mattermost takes the same.
  slack: (message, { url }) => post(url, { text: fenced(message, 30_000, escapedForSlack) }),

  // https://docs.discord.com/developers/resources/webhook: 2,000 characters, and nobody is mentioned.
  discord: (message, { url }) =>
    post(url, { content: fenced(message, 1_900), allowed_mentions: { parse: [] } }),

  // An adaptive card, as workflows of Teams take it; runs of text are plain, text blocks are not.
  teams: (message, { url }) => {
    const run = (text: string, weight: string) => {
      return { type: "RichTextBlock", inlines: [{ type: "TextRun", text, weight }] };
    };
    const content = {
      $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
      type: "AdaptiveCard",
      version: "1.4",
      body: [run(message.subject, "Bolder"), run(cut(message.text, 20_000), "Default")],
    };
    const contentType = "application/vnd.microsoft.card.adaptive";
    return post(url, {
      type: "message",
      attachments: [{ contentType, contentUrl: null, content }],
    });
  },

  // https://spec.matrix.org/latest/client-server-api/: the same transaction id is the same message.
  matrix: (message, { url, token = "", to = "" }) => {
    const room = `/_matrix/client/v3/rooms/${encodeURIComponent(to)}`;
    const path = `${room}/send/m.room.message/${encodeURIComponent(message.id)}`;
    const body = cut(`${message.subject}\n${message.text}`, 40_000);
    const content = { msgtype: "m.text", body, "m.mentions": {} };
    const [server = ""] = url.split("/_matrix/");
    return { ...post(`${withoutSlash(server)}${path}`, content, bearer(token)), method: "PUT" };
  },

  // https://pushover.net/api: an application's token, and whom it is for.
  pushover: (message, { url, token, to }) => {
    const priority = { high: 1, normal: 0, low: -1 }[urgencyOf(message)];
    const title = cut(message.subject, 250);
    return post(url, { token, user: to, title, message: cut(message.text, 1_000), priority });
  },
};

/** The request for a message: in the form of the channel's service, or with the text that its `body` makes. */
export function webhookRequestOf(config: WebhookConfig, message: MessageBody): WebhookRequest {
  const { format, url, body: template, headers } = config;
  const request =
    template === undefined
      ? FORMATS[format](message, config)
      : { ...FORMATS.json(message, config), ...ofTemplate(template, message), url };
  return { ...request, headers: { ...request.headers, ...headers } };
}

function post(url: string, content: unknown, headers: Record<string, string> = {}): WebhookRequest {
  const body = JSON.stringify(content);
  return { method: "POST", url, body, headers: { "content-type": JSON_TYPE, ...headers } };
}

const JSON_TYPE = "application/json";

function bearer(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}` };
}

function urgencyOf({ events }: MessageBody): Urgency {
  const wrong = events.filter(
    ({ what, event }) => what !== "over" && event !== "digest" && event !== "batch",
  );
  if (wrong.some(({ event }) => URGENT.includes(event))) return "high";
  return wrong.length > 0 ? "normal" : "low";
}

/** What `{name}` stands for in a `body`. */
function valuesOf(message: MessageBody): Readonly<Record<string, string>> {
  const { id, host, version, subject, text, events } = message;
  const title = events.map((event) => event.title).join("; ");
  const kinds = [...new Set(events.map(({ event }) => event))].join(",");
  return { id, host, version, subject, text, title, event: kinds, urgency: urgencyOf(message) };
}

/** Other braces stay as they are. In JSON a value is written so that it cannot end its text. */
function ofTemplate(
  template: string,
  message: MessageBody,
): Pick<WebhookRequest, "body" | "headers"> {
  const values = valuesOf(message);
  const filled = (written: (value: string) => string) =>
    template.replaceAll(/\{([a-z]+)\}/g, (whole, name: string) => {
      const value = Object.hasOwn(values, name) ? values[name] : undefined;
      return value === undefined ? whole : written(value);
    });
  const isJson = isJsonText(filled(() => ""));
  const body = filled((value) => (isJson ? JSON.stringify(value).slice(1, -1) : value));
  return { body, headers: { "content-type": isJson ? JSON_TYPE : "text/plain; charset=utf-8" } };
}

function isJsonText(text: string): boolean {
  try {
    return typeof JSON.parse(text) === "object";
  } catch {
    return false;
  }
}

/** Within a block of code no markup is read; it ends at three backticks alone, and a mention begins with `@`. */
function fenced(
  { host, text }: MessageBody,
  max: number,
  escaped: (text: string) => string = (plain) => plain,
): string {
  const harmless = cut(text, max)
    .replaceAll("`", "'")
    .replaceAll(/@(?=\w)/g, "@\u200b");
  return escaped(
    `scanferry on ${host.replaceAll("`", "'")}\n\`\`\`\n${harmless.trimEnd()}\n\`\`\``,
  );
}

function escapedForSlack(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** At most so many bytes of UTF-8, whole characters. */
function cut(text: string, bytesMax: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= bytesMax) return text;
  const kept = new TextDecoder().decode(bytes.subarray(0, bytesMax - 3));
  return `${kept.replace(/\uFFFD+$/, "")}…`;
}

function lastPartOf(url: string): { root: string; last: string } {
  const { origin, pathname, search } = new URL(url);
  const parts = withoutSlash(pathname).split("/");
  const last = decodeURIComponent(parts.pop() ?? "");
  return { root: `${origin}${parts.join("/")}/${search}`, last };
}

function withoutSlash(text: string): string {
  return text.replace(/\/+$/, "");
}
