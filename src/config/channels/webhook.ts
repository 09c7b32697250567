import { z } from "zod";
import {
  WEBHOOK_FORMATS,
  WEBHOOK_NEEDS,
  type WebhookFormat,
  type WebhookNeeds,
} from "../../domain/webhook-format.ts";
import { invariant } from "../../std/fault.ts";
import { channel, partnerAt, secretPart, userName, webAddress } from "../channel-definition.ts";
import { type Kind, kind, setting, settings, type Values } from "../kind.ts";
import { choice, secret, secretIn, textIn } from "../kinds.ts";
import { secretKeys } from "../place-kinds.ts";
import { quoted } from "../../std/printable.ts";

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
    ...secretKeys("token", headerValue(), {
      meaning: "The service's token.",
      example: '"AbCdEf012345"',
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
    headers: setting(z.record(headerName(), headerValue()).optional(), {
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
    conflicts({ format = "json", to, token, tokenFile, body }, at) {
      const needs = needsOf({ format });
      const other = `${format} takes none`;
      if (needs.to === "required" && to === undefined)
        at.report(
          "to",
          "is missing",
          format === "matrix" ? "write the room's id" : "write the user's key",
        );
      if (needs.to === "unused" && to !== undefined) at.report("to", other, "remove it");
      if (needs.token === "unused" && (token ?? tokenFile) !== undefined)
        at.report(token === undefined ? "tokenFile" : "token", other, "remove it");
      if (body !== undefined && format !== "json")
        at.report("body", `is given next to format: ${format}`, "keep one of them");
    },
    build({ name = "webhook", events, headers, ...channel }, { networkTo }) {
      const { format, secret, token, to, body, url = needsOf(channel).url } = channel;
      invariant(url !== undefined, "a checked webhook has an address");
      const said = { format, url, secret, token, to, body, network: networkTo(url) };
      return settings({ by: "webhook" as const, name, events, ...said, headers: lowered(headers) });
    },
    calls: ({ url, format }) => [url ?? needsOf({ format }).url ?? []].flat(),
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

/** By a request to an address; that, and the values of its headers, may be secrets. */
export type WebhookConfig = ReturnType<typeof webhook.build>;

function lowered(headers: Readonly<Record<string, string>> = {}) {
  const entries = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
  return entries.length === 0 ? undefined : (Object.fromEntries(entries) as typeof headers);
}

function needsOf({ format = "json" }: Values): WebhookNeeds {
  return WEBHOOK_NEEDS[format as WebhookFormat];
}

/** Headers of the connection, which the HTTP client refuses or would be misled by; and our own. */
const SET_BY_US =
  /^(host|connection|content-length|expect|keep-alive|transfer-encoding|upgrade|x-scanferry-.*)$/;

/** The name of a header that a request may be given. */
function headerName(): Kind<string> {
  return kind("header name", (value, refuse) => {
    const text = textIn(value, refuse);
    const name = text.toLowerCase();
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(text))
      return refuse("a header's name is not one", "write letters, digits and -");
    if (SET_BY_US.test(name)) return refuse(`${quoted(text)} is set by scanferry`, "remove it");
    return text;
  });
}

/** What a header can carry: with anything else no message would ever leave. */
function headerValue(): Kind<string> {
  return kind("secret", (value, refuse) => {
    const text = secretIn(value, refuse);
    return /^[\t\x20-\x7e\x80-\xff]+$/.test(text)
      ? text
      : refuse("has a character that no header can have", "write one line of plain letters");
  });
}

/** The text of a request. */
function bodyText(): Kind<string> {
  return kind("text", (value, refuse) => {
    const text = textIn(value, refuse);
    return text === "" ? refuse("is empty", "write a text, or leave the key out") : text;
  });
}
