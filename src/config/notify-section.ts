/** `notify`: who is notified when something is wrong, by what, and how often; its channels are in `channels`. */
import { z } from "zod";
import {
  partnerAt,
  secretPart,
  type ChannelContext,
  type ChannelDefinition,
  type Host,
  webAddress,
} from "./channel-definition.ts";
import { command } from "./channels/command.ts";
import { mail } from "./channels/mail.ts";
import { webhook } from "./channels/webhook.ts";
import type { KeyPath } from "./config-problems.ts";
import { section, setting, settings } from "./kind.ts";
import { choice, cron, duration, sendingHours, size } from "./kinds.ts";
import { secretKeys } from "./place-kinds.ts";

/** The ways to notify, in the order of the reference: a new one is a file in `channels` and an entry here. */
const DECLARED = { mail, webhook, command } as const;

/** One channel, and what is reported by it. */
export type ChannelConfig = ReturnType<(typeof DECLARED)[keyof typeof DECLARED]["build"]>;

/** Every way, without what sets one apart from the others. */
export const CHANNELS = Object.values(DECLARED) as unknown as readonly ChannelDefinition<
  never,
  ChannelConfig
>[];

/** The declaration of a channel's way. */
export function channelOf({
  by,
}: Pick<ChannelConfig, "by">): ChannelDefinition<never, ChannelConfig> {
  return DECLARED[by] as unknown as ChannelDefinition<never, ChannelConfig>;
}

/** The keys of `notify` that list channels. */
const channelKeys = Object.fromEntries(
  CHANNELS.map(({ by, schema, about }) => [by, setting(z.array(schema).prefault([]), about)]),
) as unknown as {
  [By in keyof typeof DECLARED]: z.ZodPrefault<z.ZodArray<(typeof DECLARED)[By]["schema"]>>;
};

const ping = section(
  {
    ...secretKeys("url", webAddress(), {
      meaning: "The address.",
      example: "https://ping.example.com/4711",
      file: "/etc/scanferry/ping.url",
      variable: "SCANFERRY_PING_URL",
      otherwise: "none",
      need: () => "optional",
      isOpen: () => true,
    }),
    method: setting(choice("GET", "POST").prefault("GET"), { meaning: "The method." }),
    schedule: setting(cron().default("*/5 * * * *"), {
      meaning: "How often.",
      example: '"* * * * *"',
    }),
  },
  "Calls a monitoring service while the daemon is healthy.",
);

/** The keys of `notify`. */
export const notifySchema = section(
  {
    ...channelKeys,
    timeout: setting(duration("100ms", "10m").prefault("30s"), {
      meaning: "How long one attempt may take.",
    }),
    repeat: setting(duration("0", "365d").prefault("1d"), {
      meaning:
        "How often a lasting problem is reported again; 0: never. A problem that comes and goes, or grows, " +
        "is reported again after an hour.",
    }),
    heldAfter: setting(duration("0", "365d").prefault("1h"), {
      meaning: "Held documents and an archive that cannot be reached are reported after this time.",
    }),
    diskBelow: setting(size("0", "100GB").prefault("500MB"), {
      meaning: "Free space on the journal's disk below which it is reported; 0: never.",
    }),
    quiet: section(
      {
        hours: setting(sendingHours().optional(), {
          meaning:
            "No messages in these hours (host's time zone), except `credentials` and `disk`. What still lasts is " +
            "reported afterwards.",
          example: '"22:00-07:00"',
          without: "messages at all hours",
        }),
      },
      "Quiet hours.",
    ),
    digest: setting(cron().optional(), {
      meaning: "When a summary is sent: what was archived since the last one, and what waits.",
      example: '"0 7 * * 1-5"',
      without: "none",
    }),
    ping,
  },
  "Messages when something is wrong. See [notify.md](notify.md).",
);

/** The keys of `notify` as they are written, or what could be read of them. */
type Written = {
  readonly [By in keyof typeof channelKeys]?: readonly (object | undefined)[] | undefined;
};

/** Every channel that is written, with what declares it and where it stands. */
export function writtenChannels(notify: Written | undefined) {
  return CHANNELS.flatMap((way) =>
    (notify?.[way.by as keyof Written] ?? []).map((channel, at) => {
      const key: KeyPath = ["notify", way.by, at];
      // It is of the keys of its own way.
      return { way, channel: (channel ?? {}) as never, key };
    }),
  );
}

/** Who gets notifications, how often, and when not; undefined when no one is to be notified. */
export function notifyOf(notify: z.output<typeof notifySchema>, around: ChannelContext) {
  const channels = writtenChannels(notify).map(({ way, channel }) => way.build(channel, around));
  const ping = pingOf(notify.ping, around);
  if (channels.length === 0 && ping === undefined) return undefined;
  return settings({
    channels,
    timeoutMs: notify.timeout,
    repeatMs: notify.repeat,
    /** What may pass on its own (held documents, outages) is reported once it has lasted this long. */
    heldAfterMs: notify.heldAfter,
    diskBytesMin: notify.diskBelow,
    quiet: notify.quiet.hours,
    digest: notify.digest,
    ping,
  });
}

/** Who gets notifications, how often, and when not. */
export type NotifyConfig = NonNullable<ReturnType<typeof notifyOf>>;

function pingOf({ url, method, schedule }: z.output<typeof ping>, { networkTo }: ChannelContext) {
  return url === undefined
    ? undefined
    : settings({ url, method, schedule, network: networkTo(url) });
}

/** `url` may be a secret: never shown in full. */
export type PingConfig = NonNullable<ReturnType<typeof pingOf>>;

/** The addresses that are called, as far as they could be read. */
export function calledBy(
  notify:
    | (Written & { readonly ping?: { readonly url?: string | undefined } | undefined })
    | undefined,
): string[] {
  const ofChannels = writtenChannels(notify).flatMap(({ way, channel }) => way.calls(channel));
  return [...ofChannels, notify?.ping?.url].filter((url) => url !== undefined);
}

/** Hosts that the keys name; "" for one that a file or a variable names. */
export function notifyHosts(notify: z.output<typeof notifySchema>): string[] {
  const { url, urlFile } = notify.ping;
  const ofChannels = writtenChannels(notify).flatMap(({ way, channel }) => way.hosts(channel));
  if (url === undefined && urlFile === undefined) return ofChannels;
  return [...ofChannels, url === undefined ? "" : new URL(url).hostname];
}

/** Whom the daemon speaks to when it notifies. */
export function notifyPartners({ channels, ping }: NotifyConfig): Host[] {
  return [
    ...channels.flatMap((config) => channelOf(config).partner(config) ?? []),
    ...(ping ? [partnerAt("the ping's server", ping.url, ping.network)] : []),
  ];
}

/** Everything in it that must never be shown. */
export function notifySecretsOf(notify: NotifyConfig | undefined): string[] {
  const { channels = [], ping } = notify ?? {};
  const ofChannels = channels.flatMap((config) => channelOf(config).hidden(config));
  return [...ofChannels, ping && secretPart(ping.url)].filter((each) => each !== undefined);
}
