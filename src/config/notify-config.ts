/** `notify` as the rest of scanferry sees it; see `config.ts`. */
import type { EventKind } from "../domain/event-kind.ts";
import type { WebhookFormat } from "../domain/webhook-format.ts";
import type { Hours } from "../domain/hours.ts";
import type { NetworkSettings } from "../network/network.ts";

/** Who gets notifications, how often, and when not. */
export type NotifyConfig = {
  readonly channels: readonly ChannelConfig[];
  /** Of one try to tell something. */
  readonly timeoutMs: number;
  /** Reminders of what lasts come this often; 0: never. */
  readonly repeatMs: number;
  /** What may pass on its own (held documents, outages) learns about once it has lasted this long. */
  readonly heldAfterMs: number;
  /** The journal's disk is low with less room; 0: never. */
  readonly diskBytesMin: number;
  /** Undefined: at all hours; within these only what is urgent is sent. */
  readonly quiet: Hours | undefined;
  /** A cron expression; undefined: no digest. */
  readonly digest: string | undefined;
  readonly ping: PingConfig | undefined;
};

/** `url` may be a secret: never told in full. `schedule` is a cron expression. */
export type PingConfig = {
  readonly url: string;
  readonly method: "GET" | "POST";
  readonly schedule: string;
  /** How it is reached; absent: straight. */
  readonly network?: NetworkSettings;
};

/** One channel, and what is sent through it. */
export type ChannelConfig = {
  /** Unique. */
  readonly name: string;
  readonly events: readonly EventKind[];
} & (MailConfig | WebhookConfig | CommandConfig);

/** By SMTP: `tls` from the first byte, `starttls` before anything is said, or `none`. */
export type MailConfig = {
  readonly by: "mail";
  readonly host: string;
  readonly port: number;
  readonly tls: "starttls" | "tls" | "none";
  /** `password` is a secret. */
  readonly login: { readonly user: string; readonly password: string } | undefined;
  readonly from: string;
  readonly to: readonly string[];
  /** PEM: authorities that are trusted next to those of the host. */
  readonly ca?: string;
};

/** By a request to an address. */
export type WebhookConfig = {
  readonly by: "webhook";
  readonly format: WebhookFormat;
  /** May be a secret. */
  readonly url: string;
  /** A secret; undefined: messages are not signed. */
  readonly secret: string | undefined;
  /** A secret. */
  readonly token?: string | undefined;
  /** A room, or a user's key: may be a secret. */
  readonly to?: string | undefined;
  /** Their values may be secrets. */
  readonly headers?: Readonly<Record<string, string>>;
  /** A text to send instead of what `format` makes. */
  readonly body?: string | undefined;
  /** How it is reached; absent: straight. */
  readonly network?: NetworkSettings;
};

/** By a program, which reads JSON; no shell is between. */
export type CommandConfig = {
  readonly by: "command";
  /** The program, then its arguments. */
  readonly run: readonly string[];
  /** Where it runs: the folder of the configuration. */
  readonly cwd: string;
};

/** Everything in it that must never be shown. */
export function notifySecretsOf(notify: NotifyConfig | undefined): string[] {
  if (!notify) return [];
  const ofChannels = notify.channels.flatMap((channel) => {
    if (channel.by === "mail") return channel.login ? [channel.login.password] : [];
    if (channel.by === "command") return [];
    const { secret, token, to, headers = {} } = channel;
    const given = [secret, token, to, ...Object.values(headers)];
    return [...secretPart(channel.url), ...given.filter((each) => each !== undefined)];
  });
  return [...ofChannels, ...(notify.ping ? secretPart(notify.ping.url) : [])];
}

/** Path and query of an address: what tells the one who knows it from others. */
function secretPart(url: string): string[] {
  const { pathname, search } = new URL(url);
  const rest = `${pathname}${search}`;
  return rest.length > 8 ? [rest] : [];
}
