import { createTransport } from "nodemailer";
import type { ChannelConfig, MailConfig } from "../config/notify-config.ts";
import { type Channel, cleanReason } from "./channel.ts";
import type { MessageBody } from "./message.ts";

/** Until a whole try is cut short from outside; each step has at most this long. */
const STEP_MS_MAX = 600_000;

/** Mail by SMTP, one connection a message: there are few of them. */
export class MailChannel implements Channel {
  readonly name: string;
  readonly #config: ChannelConfig & MailConfig;

  constructor(config: ChannelConfig & MailConfig) {
    this.name = config.name;
    this.#config = config;
  }

  async send(body: MessageBody, signal: AbortSignal): Promise<string | undefined> {
    const { login, from, to } = this.#config;
    const transport = transportOf(this.#config);
    // Of what went wrong the reason alone goes on: the error may hold what must not be told.
    const { user = "", password = "" } = login ?? {};
    const secrets = [password, `\0${user}\0${password}`, `${user}\0${user}\0${password}`];
    const outcome = await transport
      .sendMail({
        from: { name: "scanferry", address: from },
        to: [...to],
        subject: body.subject,
        text: textOf(body),
        messageId: `<${body.id}@${body.host}>`,
        date: new Date(body.at),
        headers: { "Auto-Submitted": "auto-generated", "X-Scanferry-Id": body.id },
        attachments: receiptsOf(body),
        signal,
      })
      .then(
        ({ rejected }) => ({ rejected }),
        (error: unknown) => ({ reason: cleanReason(error, secrets) }),
      )
      .finally(() => transport.close());
    if ("rejected" in outcome) return leftOut(outcome.rejected);
    signal.throwIfAborted();
    throw new Error(outcome.reason);
  }
}

function transportOf({ host, port, tls, login }: MailConfig) {
  return createTransport({
    host,
    port,
    secure: tls === "tls",
    requireTLS: tls === "starttls",
    ignoreTLS: tls === "none",
    ...(login ? { auth: { user: login.user, pass: login.password } } : {}),
    connectionTimeout: STEP_MS_MAX,
    greetingTimeout: STEP_MS_MAX,
    socketTimeout: STEP_MS_MAX,
    // What is over is not waited for.
    socketCloseTimeout: 0,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}

/** To send it again would tell the others twice. */
function leftOut(rejected: readonly (string | { readonly address: string })[]): string | undefined {
  const addresses = rejected.map((one) => (typeof one === "string" ? one : one.address));
  return addresses.length === 0 ? undefined : `refused for ${addresses.join(", ")}`;
}

function textOf({ text, host, version }: MessageBody): string {
  return `${text}\n-- \nscanferry ${version} on ${host}\n`;
}

function receiptsOf({ events }: MessageBody) {
  return events.flatMap(({ receipt }) =>
    receipt === undefined
      ? []
      : [
          {
            filename: `receipt-${receipt.batch}.json`,
            content: `${JSON.stringify(receipt, undefined, 2)}\n`,
            contentType: "application/json",
          },
        ],
  );
}
