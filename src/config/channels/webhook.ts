import { z } from "zod";
import {
  WEBHOOK_FORMATS,
  WEBHOOK_NEEDS,
  type WebhookFormat,
  type WebhookNeeds,
} from "../../domain/webhook-format.ts";
import type { NetworkSettings } from "../../network/network.ts";
import { invariant } from "../../std/invariant.ts";
import {
  channel,
  type ChannelName,
  partnerAt,
  secretPart,
  userName,
  webAddress,
} from "../channel-definition.ts";
import { type Kind, kind, setting, type Values } from "../kind.ts";
import { choice, secret, textIn } from "../kinds.ts";
import { secretKeys } from "../place-kinds.ts";
import { quoted } from "../../std/quoted.ts";

/** By a request to an address. */
export type WebhookConfig = ChannelName & {
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

export const webhook = channel(
  "webhook",
  {
    format: setting(choice(...WEBHOOK_FORMATS).prefault("json"), {
      meaning:
        "The service: `json` is scanferry's own format, `slack` works for Mattermost too. Examples: " +
        "[notify.md](notify.md#services).",
      example: "ntfy",
    }),
    ...secretKeys("url", webAddress(), {
      meaning: "The address; never shown in full.",
      example: "https://hooks.example.com/scanferry",
      file: "/etc/scanferry/webhook.url",
      variable: "SCANFERRY_WEBHOOK_URL",
      otherwise: "the service's own",
      need: (channel) => (needsOf(channel).url === undefined ? "required" : "optional"),
      isOpen: () => true,
    }),
    ...secretKeys("secret", secret(), {
      meaning: "Signs the message.",
      file: "/etc/scanferry/webhook.secret",
      variable: "SCANFERRY_WEBHOOK_SECRET",
      otherwise: "not signed",
      need: () => "optional",
    }),
    ...secretKeys("token", secret(), {
      meaning: "The service's token.",
      file: "/etc/scanferry/webhook.token",
      variable: "SCANFERRY_WEBHOOK_TOKEN",
      otherwise: "none; `gotify`, `matrix` and `pushover` require it",
      need: (channel) => needsOf(channel).token,
    }),
    to: setting(userName().optional(), {
      meaning: "For `matrix`: the room's id. For `pushover`: the key of a user or group.",
      example: '"!office:matrix.example.com"',
      without: "required by `matrix` and `pushover`",
    }),
    headers: setting(z.record(headerName(), secret()).optional(), {
      meaning: "More request headers.",
      example: "{ X-Team: office }",
      without: "none",
    }),
    body: setting(bodyText().optional(), {
      meaning: "The text to send to other services; placeholders: [notify.md](notify.md#services).",
      example: `'{"message": "{title}"}'`,
      without: "from `format`",
    }),
  },
  {
    about: {
      meaning: "Sends an HTTP request.",
      example: "[{ url: https://hooks.example.com/scanferry }]",
    },
    taken: "the address took the message",
    conflicts({ format = "json", to, token, tokenFile, body }, report) {
      const needs = needsOf({ format });
      if (needs.to === "required" && to === undefined)
        report(
          "to",
          "is missing",
          `write ${format === "matrix" ? "the room's id" : "the user's key"}`,
        );
      if (needs.to === "unused" && to !== undefined)
        report("to", `${format} takes none`, "remove it");
      if (needs.token === "unused" && (token ?? tokenFile) !== undefined)
        report(token === undefined ? "tokenFile" : "token", `${format} takes none`, "remove it");
      if (body !== undefined && format !== "json")
        report("body", `is given next to format: ${format}`, "keep one of them");
    },
    build(
      { name = "webhook", events, format, secret, token, to, headers, body, ...rest },
      { networkTo },
    ): WebhookConfig {
      const { url = needsOf({ format }).url } = rest;
      invariant(url !== undefined, "a checked webhook has an address");
      const own = Object.entries(headers ?? {}).map(([key, value]) => [key.toLowerCase(), value]);
      const further = own.length === 0 ? {} : { headers: Object.fromEntries(own) };
      const network = networkTo(url);
      const said = {
        format,
        url,
        secret,
        token,
        to,
        body,
        ...further,
        ...(network && { network }),
      };
      return { by: "webhook", name, events, ...said };
    },
    hosts({ url, urlFile, format }) {
      const known = url ?? (urlFile === undefined ? needsOf({ format }).url : undefined);
      return [known === undefined ? "" : new URL(known).hostname];
    },
    partner: ({ url, network }) => partnerAt("the webhook", url, network),
    hidden: ({ secret, token, to, headers = {}, url }) => [
      secretPart(url),
      secret,
      token,
      to,
      ...Object.values(headers),
    ],
  },
);

function needsOf({ format = "json" }: Values): WebhookNeeds {
  return WEBHOOK_NEEDS[format as WebhookFormat];
}

/** The name of a header that a request may be given. */
function headerName(): Kind<string> {
  return kind("header name", (value, refuse) => {
    const text = textIn(value, refuse);
    const name = text.toLowerCase();
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(text))
      return refuse("a header's name is not one", "write letters, digits and -");
    if (/^(host|connection|content-length|transfer-encoding|upgrade|x-scanferry-.*)$/.test(name))
      return refuse(`${quoted(text)} is set by scanferry`, "remove it");
    return text;
  });
}

/** The text of a request. */
function bodyText(): Kind<string> {
  return kind("text", (value, refuse) => {
    const text = textIn(value, refuse);
    return text === "" ? refuse("is empty", "write a text, or leave the key out") : text;
  });
}
