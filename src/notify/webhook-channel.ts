// By this name the whole of undici is built in: its pool alone has no `request` (scripts/build.ts).
import { Pool as WholePool } from "undici";
import type { WebhookConfig } from "../config/channels/webhook.ts";
import { connectorTo } from "../network/connector.ts";
import { networkSecretsOf, type NetworkSettings } from "../network/network.ts";
import { type Clock, systemClock } from "../std/clock.ts";
import { webhookRequestOf } from "./webhook-request.ts";
import { type Channel, cleanReason } from "./channel.ts";
import type { MessageBody } from "./message.ts";
import { createHmac } from "node:crypto";

/** Each step of the way to a connection; a whole try is cut short from outside. */
const STEP_MS_MAX = 10_000;

/** Of an answer, whatever it is, no more than this is read. */
const ANSWER_BYTES_MAX = 64 * 1024;

/** A request in the form of a service, signed where there is a secret. Redirects are not followed. */
export class WebhookChannel implements Channel {
  readonly name: string;
  readonly #config: WebhookConfig;
  readonly #clock: Clock;

  constructor(config: WebhookConfig, clock: Clock) {
    this.name = config.name;
    this.#config = config;
    this.#clock = clock;
  }

  async send(message: MessageBody, signal: AbortSignal): Promise<undefined> {
    const { secret, token, to, headers: further = {}, network = {} } = this.#config;
    const { method, url, body, headers: own } = webhookRequestOf(this.#config, message);
    const seconds = Math.floor(this.#clock.now() / 1_000);
    const headers = {
      "user-agent": `scanferry/${message.version}`,
      ...own,
      [ID_HEADER]: message.id,
      [TIMESTAMP_HEADER]: `${seconds}`,
      ...(secret === undefined ? {} : { [SIGNATURE_HEADER]: signatureOf(secret, seconds, body) }),
    };
    const secrets = [token, to, ...Object.values(further)].filter((each) => each !== undefined);
    await call(url, { method, headers, body, secrets }, network, signal);
  }
}

/** Calls an address; rejects unless the answer is a 2xx. Tells no more of the address than its host. */
export async function call(
  url: string,
  options: {
    method: "GET" | "POST" | "PUT";
    headers?: Record<string, string>;
    body?: string;
    /** In the headers or the body. */
    secrets?: readonly string[];
  },
  network: NetworkSettings,
  signal: AbortSignal,
): Promise<void> {
  const { host, pathname, search } = new URL(url);
  // Of what went wrong the reason alone goes on: the error may hold the address.
  const own = [url, `${pathname}${search}`, ...(options.secrets ?? [])];
  const secrets = [...own, ...networkSecretsOf(network)];
  const status = await statusOf(url, options, network, signal).catch((error: unknown) =>
    cleanReason(error, secrets),
  );
  if (typeof status === "number" && status >= 200 && status <= 299) return;
  signal.throwIfAborted();
  throw new Error(typeof status === "string" ? status : `${host} answered ${status}`);
}

async function statusOf(
  url: string,
  options: Parameters<typeof call>[1],
  network: NetworkSettings,
  signal: AbortSignal,
): Promise<number> {
  const { origin, pathname, search } = new URL(url);
  const way = connectorTo(new URL(url), {
    network,
    timeoutMs: STEP_MS_MAX,
    // Of a real connection, as the time of the whole call is.
    clock: systemClock,
  });
  // One connection a message: there are few of them.
  const pool = new WholePool(origin, { connect: way.connect, connections: 1, allowH2: false });
  try {
    const path = `${way.pathPrefix}${pathname}${search}`;
    const { method, body: sent = null } = options;
    const headers = { ...options.headers, ...way.headers };
    const asked = { origin, path, method, body: sent, headers, signal };
    const { statusCode, body } = await pool.request(asked);
    await body.dump({ limit: ANSWER_BYTES_MAX, signal });
    return statusCode;
  } finally {
    await pool.destroy();
  }
}

/** When the message left, seconds since the epoch: what is old is not to be believed. */
export const TIMESTAMP_HEADER = "x-scanferry-timestamp";
/** `v1=` and the HMAC-SHA-256 of `TIMESTAMP.BODY` in hex. */
export const SIGNATURE_HEADER = "x-scanferry-signature";
/** The message's id, the same at every try. */
export const ID_HEADER = "x-scanferry-id";

/** The signature of a body; `seconds` is what the timestamp's header says. */
export function signatureOf(secret: string, seconds: number, body: string): string {
  return `v1=${createHmac("sha256", secret).update(`${seconds}.${body}`).digest("hex")}`;
}
