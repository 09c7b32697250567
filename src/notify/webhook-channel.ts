// By this name the whole of undici is built in: its pool alone has no `request` (scripts/build.ts).
import { Pool as WholePool } from "undici";
import type { ChannelConfig, WebhookConfig } from "../config/notify-config.ts";
import { connectorTo } from "../network/connector.ts";
import { type NetworkSettings, networkSecretsOf } from "../network/network.ts";
import { type Clock, systemClock } from "../std/clock.ts";
import { type Channel, cleanReason } from "./channel.ts";
import type { MessageBody } from "./message.ts";
import { ID_HEADER, SIGNATURE_HEADER, signatureOf, TIMESTAMP_HEADER } from "./signature.ts";

/** Each step of the way to a connection; a whole try is cut short from outside. */
const STEP_MS_MAX = 10_000;

/** Of an answer, whatever it is, no more than this is read. */
const ANSWER_BYTES_MAX = 64 * 1024;

/** A POST with a JSON body, signed where there is a secret. Redirects are not followed. */
export class WebhookChannel implements Channel {
  readonly name: string;
  readonly #url: string;
  readonly #secret: string | undefined;
  readonly #network: NetworkSettings;
  readonly #clock: Clock;

  constructor({ name, url, secret, network = {} }: ChannelConfig & WebhookConfig, clock: Clock) {
    this.name = name;
    this.#url = url;
    this.#secret = secret;
    this.#network = network;
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
    await call(this.#url, { method: "POST", headers, body }, this.#network, signal);
  }
}

/** Calls an address; rejects unless the answer is a 2xx. Tells no more of the address than its host. */
export async function call(
  url: string,
  options: { method: "GET" | "POST"; headers?: Record<string, string>; body?: string },
  network: NetworkSettings,
  signal: AbortSignal,
): Promise<void> {
  const { host, pathname, search } = new URL(url);
  // Of what went wrong the reason alone goes on: the error may hold the address.
  const secrets = [url, `${pathname}${search}`, ...networkSecretsOf(network)];
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
    const headers = { ...options.headers, ...way.headers };
    const asked = { origin, path, ...options, headers, signal };
    const { statusCode, body } = await pool.request(asked);
    await body.dump({ limit: ANSWER_BYTES_MAX, signal });
    return statusCode;
  } finally {
    await pool.destroy();
  }
}
