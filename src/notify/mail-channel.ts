import { connect } from "node:tls";
import { createTransport } from "nodemailer";
import type { MailConfig } from "../config/channels/mail.ts";
import { Trust } from "../network/trust.ts";
import type { Clock } from "../std/clock.ts";
import { codeOf, messageOf } from "../std/fault.ts";
import { type Channel, cleanReason } from "./channel.ts";
import type { MessageBody } from "./message.ts";

/** Until a whole try is cut short from outside; each step has at most this long. */
const STEP_MS_MAX = 600_000;

/** A look at the server waits so long for each step, milliseconds: some greet late on purpose. */
const LOOK_STEP_MS = 12_000;
/** Most have greeted by then, milliseconds: the others are asked whether they wait for TLS. */
const GREETING_MS = 3_000;
const HANDSHAKE_MS = 5_000;

/** What keeps mails from being sent, and what to do about it. */
export type MailAlert = { readonly what: string; readonly fix: string };

/** OpenSSL's words for an answer that is no TLS. */
const IN_PLAIN = /wrong version number|packet length too long|record overflow/i;

/** Mail by SMTP, one connection a message: there are few of them. */
export class MailChannel implements Channel {
  readonly name: string;
  readonly #config: MailConfig;
  readonly #trust: Trust;

  constructor(config: MailConfig) {
    this.name = config.name;
    this.#config = config;
    this.#trust = new Trust(config.ca === undefined ? {} : { ca: config.ca });
    this.#trust.widen();
  }

  async send(body: MessageBody, signal: AbortSignal): Promise<string | undefined> {
    const { from, to } = this.#config;
    const transport = transportOf(this.#config, this.#trust, STEP_MS_MAX);
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
        (error: unknown) => ({ reason: this.#reasonOf(error) }),
      )
      .finally(() => transport.close());
    if ("rejected" in outcome) return leftOut(outcome.rejected);
    signal.throwIfAborted();
    throw new Error(outcome.reason);
  }

  /** Does all that a mail takes before it is sent, logging in too; undefined where nothing is wrong. */
  async look(clock: Clock): Promise<MailAlert | undefined> {
    const { host, port, tls } = this.#config;
    const transport = transportOf(this.#config, this.#trust, LOOK_STEP_MS);
    const looked = transport
      .verify()
      .then(
        () => undefined,
        (reason: unknown) => reason ?? "no reason",
      )
      .finally(() => transport.close());
    if (tls !== "tls" && (await isLate(looked, clock)) && (await speaksTls(host, port))) {
      return {
        what: `the server is encrypted from the first byte, \`tls: ${tls}\` begins in plain text`,
        fix: "Write `tls: tls`, or the port that begins in plain text (587).",
      };
    }
    const error: unknown = await looked;
    return error === undefined ? undefined : { what: this.#reasonOf(error), fix: fixOf(error) };
  }

  /** Of what went wrong the reason alone goes on: the error may hold what must not be told. */
  #reasonOf(error: unknown): string {
    const { tls, login } = this.#config;
    if (tls === "tls" && IN_PLAIN.test(messageOf(error))) {
      return "the server begins in plain text, `tls: tls` with the first byte encrypted";
    }
    const { user = "", password = "" } = login ?? {};
    const secrets = [password, `\0${user}\0${password}`, `${user}\0${user}\0${password}`];
    return cleanReason(error, secrets);
  }
}

/** True when this takes longer than most servers do to greet. */
async function isLate(looked: Promise<unknown>, clock: Clock): Promise<boolean> {
  const over = new AbortController();
  const late = clock.sleep(GREETING_MS, over.signal).then(
    () => true,
    () => false,
  );
  const came = looked.then(() => false);
  return Promise.race([came, late]).finally(() => over.abort());
}

/** Whether TLS is spoken there from the first byte; nothing secret is sent to a server that does not. */
function speaksTls(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, rejectUnauthorized: false, timeout: HANDSHAKE_MS });
    const end = (isSpoken: boolean) => {
      socket.destroy();
      resolve(isSpoken);
    };
    socket.once("secureConnect", () => end(true));
    socket.once("error", () => end(false)).once("timeout", () => end(false));
  });
}

function fixOf(error: unknown): string {
  const code = codeOf(error);
  if (code === "EAUTH") return "Check `user` and its password.";
  const message = messageOf(error);
  if (IN_PLAIN.test(message)) {
    return "Write `tls: starttls`, or the port that is encrypted from the first byte (465).";
  }
  if (/certificate/i.test(message)) {
    return "Name the server as its certificate does, and give `archive.ca` or the host the authority that signed it.";
  }
  if (/STARTTLS/i.test(message)) {
    return "The server offers no encryption there: use another port, or `tls: none` where the way is private.";
  }
  return "Check `server`, and that this host may reach it.";
}

function transportOf({ host, port, tls, login }: MailConfig, trust: Trust, stepMs: number) {
  return createTransport({
    ...(tls === "none" ? {} : { tls: { secureContext: trust.context } }),
    host,
    port,
    secure: tls === "tls",
    requireTLS: tls === "starttls",
    ignoreTLS: tls === "none",
    ...(login ? { auth: { user: login.user, pass: login.password } } : {}),
    connectionTimeout: stepMs,
    greetingTimeout: stepMs,
    socketTimeout: stepMs,
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
