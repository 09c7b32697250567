/** Who is told when something is wrong, by what, and how often. */
import { z } from "zod";
import { EVENT_KINDS, USUAL_EVENTS } from "../domain/event-kind.ts";
import { WEBHOOK_FORMATS } from "../domain/webhook-format.ts";
import { cron } from "./cron.ts";
import { section, setting } from "./kind.ts";
import { choice, duration, givenName, secret } from "./kinds.ts";
import { bodyText, headerName, mailAddress, userName, webAddress, word } from "./notify-kinds.ts";
import { listenAddress, localPath } from "./places.ts";
import { sendingHours } from "./sending-hours.ts";
import { size } from "./size.ts";

/** What every channel may say of itself. */
function channelKeys(name: string) {
  return {
    name: setting(givenName().optional(), {
      meaning: "What the channel is called in commands, the log and metrics. Unique.",
      example: "office",
      without: `\`${name}\``,
    }),
    events: setting(z.array(choice(...EVENT_KINDS)).prefault([...USUAL_EVENTS]), {
      meaning: "What is told by this channel; docs/notify.md explains each.",
      example: "[gate, credentials, failed]",
    }),
  };
}

const mail = section(
  {
    ...channelKeys("mail"),
    server: setting(listenAddress(), {
      meaning: "The mail server (SMTP) and its port.",
      example: "smtp.example.com:587",
      required: true,
    }),
    tls: setting(choice("starttls", "tls", "none").prefault("starttls"), {
      meaning:
        "`starttls` begins in plain text and insists on encryption before anything is told, `tls` " +
        "encrypts from the first byte (port 465), `none` never does.",
      example: "tls",
    }),
    user: setting(userName().optional(), {
      meaning: "The user at the server.",
      example: "scanferry@example.com",
      without: "nobody logs in",
    }),
    password: setting(secret().optional(), {
      meaning:
        "With `user`: the password itself. The file must then be readable by its owner alone.",
      example: '"…"',
      without: "`passwordFile`, else `$SCANFERRY_MAIL_PASSWORD`; required with `user`",
    }),
    passwordFile: setting(localPath().optional(), {
      meaning: "With `user`: the file that holds the password.",
      example: "/etc/scanferry/mail.password",
    }),
    from: setting(mailAddress(), {
      meaning: "The sender's address.",
      example: "scanferry@example.com",
      required: true,
    }),
    to: setting(z.array(mailAddress()).min(1), {
      meaning: "Who gets it.",
      example: "[admin@example.com]",
      required: true,
    }),
  },
  "A mail for everything that is told.",
);

const webhook = section(
  {
    ...channelKeys("webhook"),
    format: setting(choice(...WEBHOOK_FORMATS).prefault("json"), {
      meaning:
        "The service that is spoken to: `json` is scanferry's own body, `slack` also Mattermost's. " +
        "[notify.md](notify.md#services) has an example of each.",
      example: "ntfy",
    }),
    url: setting(webAddress().optional(), {
      meaning: "The address that is posted to. Never told in full: it may be a secret.",
      example: "https://hooks.example.com/scanferry",
      without:
        "`urlFile`, else `$SCANFERRY_WEBHOOK_URL`, else what the format knows; one of them is required",
    }),
    urlFile: setting(localPath().optional(), {
      meaning: "The file that holds the address.",
      example: "/etc/scanferry/webhook.url",
    }),
    secret: setting(secret().optional(), {
      meaning: "What signs the message. The file must then be readable by its owner alone.",
      example: '"…"',
      without: "`secretFile`, else `$SCANFERRY_WEBHOOK_SECRET`, else it is not signed",
    }),
    secretFile: setting(localPath().optional(), {
      meaning: "The file that holds the secret.",
      example: "/etc/scanferry/webhook.secret",
    }),
    token: setting(secret().optional(), {
      meaning:
        "What the service knows the sender by. The file must then be readable by its owner alone.",
      example: '"…"',
      without: "`tokenFile`, else none; required by `gotify`, `matrix` and `pushover`",
    }),
    tokenFile: setting(localPath().optional(), {
      meaning: "The file that holds the token.",
      example: "/etc/scanferry/webhook.token",
    }),
    to: setting(userName().optional(), {
      meaning: "For `matrix`: the room's id. For `pushover`: the key of a user or group.",
      example: '"!office:matrix.example.com"',
      without: "required by `matrix` and `pushover`",
    }),
    headers: setting(z.record(headerName(), secret()).optional(), {
      meaning:
        "Further headers of the request, by name. The file must then be readable by its owner alone.",
      example: "{ X-Team: office }",
      without: "none",
    }),
    body: setting(bodyText().optional(), {
      meaning:
        "For a service that no format fits: the text that is sent. `{title}`, `{text}`, `{subject}`, `{host}`, `{event}`, " +
        "`{urgency}` (`high`, `normal`, `low`), `{id}` and `{version}` are replaced; in JSON they are escaped.",
      example: `'{"message": "{title}"}'`,
      without: "what `format` makes",
    }),
  },
  "A request to an address for everything that is told.",
);

const command = section(
  {
    ...channelKeys("command"),
    run: setting(z.array(word()).min(1), {
      meaning:
        "The program and its arguments; no shell reads them. The message is JSON on its input.",
      example: "[/usr/local/bin/tell-us, --urgent]",
      required: true,
    }),
  },
  "A program that is run for everything that is told.",
);

const ping = section(
  {
    url: setting(webAddress().optional(), {
      meaning: "The address that is called while the daemon is healthy.",
      example: "https://ping.example.com/4711",
      without: "`urlFile`, else `$SCANFERRY_PING_URL`, else nothing is called",
    }),
    urlFile: setting(localPath().optional(), {
      meaning: "The file that holds the address.",
      example: "/etc/scanferry/ping.url",
    }),
    method: setting(choice("GET", "POST").prefault("GET"), {
      meaning: "How it is called.",
      example: "POST",
    }),
    schedule: setting(cron().default("*/5 * * * *"), {
      meaning: "When it is called.",
      example: '"* * * * *"',
    }),
  },
  "A dead man's switch: whoever expects the call raises the alarm when it does not come.",
);

/** The keys of `notify`. */
export const notifySchema = section(
  {
    mail: setting(z.array(mail).prefault([]), {
      meaning: "Channels that send mail.",
      example: "[{ server: smtp.example.com:587, from: a@example.com, to: [b@example.com] }]",
    }),
    webhook: setting(z.array(webhook).prefault([]), {
      meaning: "Channels that post to an address.",
      example: "[{ url: https://hooks.example.com/scanferry }]",
    }),
    command: setting(z.array(command).prefault([]), {
      meaning: "Channels that run a program.",
      example: "[{ run: [/usr/local/bin/tell-us] }]",
    }),
    timeout: setting(duration("100ms", "10m").prefault("30s"), {
      meaning: "How long one try to tell something may take.",
      example: "10s",
    }),
    repeat: setting(duration("0", "365d").prefault("1d"), {
      meaning:
        "A trouble that lasts is told again this often; 0: never. One that comes and goes, or grows, is told again after " +
        "an hour.",
      example: "7d",
    }),
    heldAfter: setting(duration("0", "365d").prefault("1h"), {
      meaning:
        "Documents that are held, and an archive that cannot be reached, are told of after this long.",
      example: "4h",
    }),
    diskBelow: setting(size("0", "100GB").prefault("500MB"), {
      meaning: "The journal's disk is low with less room than this; 0: never.",
      example: "2GB",
    }),
    quiet: section(
      {
        hours: setting(sendingHours().optional(), {
          meaning:
            "When nobody is told, in the host's time zone, but of `credentials` and `disk`; what still holds is told afterwards.",
          example: '"22:00-07:00"',
          without: "somebody is told at all hours",
        }),
      },
      "Hours at which nobody is woken.",
    ),
    digest: setting(cron().optional(), {
      meaning: "When a summary is told: what was archived since the last one, and what waits.",
      example: '"0 7 * * 1-5"',
      without: "none",
    }),
    ping,
  },
  "Who is told when something is wrong. Without a channel nobody is.",
);
