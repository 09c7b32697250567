/**
 * What one way to notify is declared by. A file in `channels` says everything that the configuration, the systemd
 * unit, `check` and `notify test` have to know of it; `channels.ts` lists those files.
 */
import { z } from "zod";
import { EVENT_KINDS, USUAL_EVENTS } from "../domain/event.ts";
import { type NetworkSettings, placeOf } from "../network/network.ts";
import { type About, type Check, type Kind, kind, section, setting } from "./kind.ts";
import { choice, givenName, textIn } from "./kinds.ts";

/** A host that the daemon speaks to; `what` it is, in words. */
export type Host = { readonly what: string; readonly host: string };

/** What the keys of a channel are completed with. */
export type ChannelContext = {
  /** Of the configuration file. */
  readonly folder: string;
  /** How an address is reached; undefined: straight. */
  readonly networkTo: (url: string) => NetworkSettings | undefined;
};

/** A channel by its own keys; `Shape` are those of the file, `Settings` what the daemon gets. */
export type ChannelDefinition<Shape = unknown, Settings = unknown> = {
  /** Its key below `notify`. */
  readonly by: string;
  readonly schema: z.ZodObject;
  readonly about: About;
  /** What `notify test` says when the message was taken. */
  readonly taken: string;
  /** From the keys, checked and with their secrets filled in. */
  readonly build: (channel: Shape, around: ChannelContext) => Settings;
  /** Addresses that are called, as far as they are known. */
  readonly calls: (channel: Shape) => readonly string[];
  /** Hosts that the keys name; "" for one that is known elsewhere. */
  readonly hosts: (channel: Shape) => readonly string[];
  /** Whom the daemon speaks to; undefined: no other host. */
  readonly partner: (settings: Settings) => Host | undefined;
  /** Programs of this host that are run, as they are written. */
  readonly programs: (channel: Shape) => readonly string[];
  /** What must never be shown. */
  readonly hidden: (settings: Settings) => readonly (string | undefined)[];
};

/** The keys of a channel, those that every channel has among them. */
type Shape<Keys extends z.ZodRawShape> = z.output<z.ZodObject<Keys & ReturnType<typeof ownKeys>>>;

/** Declares a channel; what it does not say, it has none of. */
export function channel<By extends string, Keys extends z.ZodRawShape, Settings extends object>(
  by: By,
  keys: Keys,
  declared: { readonly about: About } & Pick<
    ChannelDefinition<Shape<Keys>, Settings>,
    "taken" | "build"
  > &
    Partial<ChannelDefinition<Shape<Keys>, Settings>> & {
      readonly conflicts?: Check<Partial<Shape<Keys>>>;
    },
) {
  const { about, conflicts } = declared;
  const nothing = () => [];
  return {
    calls: nothing,
    hosts: nothing,
    partner: () => undefined,
    programs: nothing,
    hidden: nothing,
    ...declared,
    by,
    schema: section({ ...ownKeys(by), ...keys }, about.meaning, conflicts as never),
  };
}

/** What every channel may say. */
function ownKeys(by: string) {
  return {
    name: setting(givenName().optional(), {
      meaning: "The channel's name. Unique.",
      example: "office",
      without: `\`${by}\``,
    }),
    events: setting(z.array(choice(...EVENT_KINDS)).prefault([...USUAL_EVENTS]), {
      meaning: "What this channel reports: [notify.md](notify.md#events).",
      example: "[gate, credentials, failed]",
    }),
  };
}

/** An address that is called; whatever is wrong with it, it is not shown: it may be a secret. */
export function webAddress(): Kind<string> {
  return kind("http or https URL", (value, refuse) => {
    const text = textIn(value, () => refuse("is not text", "put it in quotes"));
    const fix = "write https://HOST/PATH";
    if (!/^https?:\/\//i.test(text) || !URL.canParse(text) || /[\s\\]/.test(text))
      return refuse("is not an http or https URL", fix);
    const { username, password } = new URL(text);
    if (username !== "" || password !== "") return refuse("has a user or a password", fix);
    return text;
  });
}

/** The name of a user at a server. */
export function userName(): Kind<string> {
  return kind("text", (value, refuse) => {
    const text = textIn(value, refuse);
    if (text === "" || /\p{Cc}/u.test(text))
      return refuse("is no name of a user", "write it in one line");
    return text;
  });
}

/** Whom a call of `url` speaks to: a proxy in the place of what is behind it. */
export function partnerAt(what: string, url: string, network: NetworkSettings | undefined): Host {
  return network?.proxy === undefined
    ? { what, host: placeOf(url).host }
    : { what: "the proxy", host: placeOf(network.proxy).host };
}

/** Path and query of an address: what the others do not know. */
export function secretPart(url: string): string | undefined {
  const { pathname, search } = new URL(url);
  const rest = `${pathname}${search}`;
  return rest.length > 8 ? rest : undefined;
}
