import { request } from "undici";
import type { ChannelConfig, WebhookConfig } from "../config/notify-config.ts";
import type { Clock } from "../std/clock.ts";
import { type Channel, cleanReason } from "./channel.ts";
import type { MessageBody } from "./message.ts";
import { ID_HEADER, SIGNATURE_HEADER, signatureOf, TIMESTAMP_HEADER } from "./signature.ts";

/** Of an answer, whatever it is, no more than this is read. */
const ANSWER_BYTES_MAX = 64 * 1024;

/** A POST with a JSON body, signed where there is a secret. Redirects are not followed. */
export class WebhookChannel implements Channel {
  readonly name: string;
  readonly #url: string;
  readonly #secret: string | undefined;
  readonly #clock: Clock;

  constructor({ name, url, secret }: ChannelConfig & WebhookConfig, clock: Clock) {
    this.name = name;
    this.#url = url;
    this.#secret = secret;
    this.#clock = clock;
  }

  async send(message: MessageBody, signal: AbortSignal): Promise<undefined> {
    const body = JSON.stringify(message);
    const seconds = Math.floor(this.#clock.now() / 1_000);
    const headers = {
      "content-type": "application/json",
      "user-agent": `scanferry/${message.version}`,
      [ID_HEADER]: message.id,
      [TIMESTAMP_HEADER]: `${seconds}`,
      ...(this.#secret === undefined
        ? {}
        : { [SIGNATURE_HEADER]: signatureOf(this.#secret, seconds, body) }),
    };
    await call(this.#url, { method: "POST", headers, body }, signal);
  }
}

/** Calls an address; rejects unless the answer is a 2xx. Tells no more of the address than its host. */
export async function call(
  url: string,
  options: { method: "GET" | "POST"; headers?: Record<string, string>; body?: string },
  signal: AbortSignal,
): Promise<void> {
  const { host, pathname, search } = new URL(url);
  // Of what went wrong the reason alone goes on: the error may hold the address.
  const status = await statusOf(url, options, signal).catch((error: unknown) =>
    cleanReason(error, [url, `${pathname}${search}`]),
  );
  if (typeof status === "number" && status >= 200 && status <= 299) return;
  signal.throwIfAborted();
  throw new Error(typeof status === "string" ? status : `${host} answered ${status}`);
}

async function statusOf(
  url: string,
  options: Parameters<typeof call>[1],
  signal: AbortSignal,
): Promise<number> {
  const { statusCode, body } = await request(url, { ...options, signal });
  await body.dump({ limit: ANSWER_BYTES_MAX, signal });
  return statusCode;
}
