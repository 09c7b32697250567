/** Who gets notifications when something is wrong, by which channel, and how often. */
import { z } from "zod";
import { EVENT_KINDS, USUAL_EVENTS } from "../domain/event-kind.ts";
import { WEBHOOK_FORMATS } from "../domain/webhook-format.ts";
import { cron } from "./cron.ts";
import { section, setting } from "./kind.ts";
import { choice, duration, givenName, secret } from "./kinds.ts";
import { bodyText, headerName, mailAddress, userName, webAddress, word } from "./notify-kinds.ts";
import { listenAddress, localPath } from "./place-kinds.ts";
import { sendingHours } from "./sending-hours.ts";
import { size } from "./size.ts";

/** What every channel may say of its own. */
function channelKeys(name: string) {
  return {
    name: setting(givenName().optional(), {
      meaning: "The channel's name. Unique.",
      example: "office",
      without: `\`${name}\``,
    }),
    events: setting(z.array(choice(...EVENT_KINDS)).prefault([...USUAL_EVENTS]), {
      meaning: "What this channel reports: [notify.md](notify.md#events).",
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
        "`starttls` requires encryption before anything is sent, `tls` encrypts from the first byte (port " +
        "465), `none` never encrypts.",
      example: "tls",
    }),
    user: setting(userName().optional(), {
      meaning: "The user at the server.",
      example: "scanferry@example.com",
      without: "no login",
    }),
    password: setting(secret().optional(), {
      meaning: "The password itself.",
      example: '"…"',
      without: "`passwordFile`, else `$SCANFERRY_MAIL_PASSWORD`",
    }),
    passwordFile: setting(localPath().optional(), {
      meaning: "Its file.",
      example: "/etc/scanferry/mail.password",
    }),
    from: setting(mailAddress(), {
      meaning: "The sender's address.",
      example: "scanferry@example.com",
      required: true,
    }),
    to: setting(z.array(mailAddress()).min(1), {
      meaning: "The recipients.",
      example: "[admin@example.com]",
      required: true,
    }),
  },
  "Sends mail.",
);

const webhook = section(
  {
    ...channelKeys("webhook"),
    format: setting(choice(...WEBHOOK_FORMATS).prefault("json"), {
      meaning:
        "The service: `json` is scanferry's own format, `slack` works for Mattermost too. Examples: " +
        "[notify.md](notify.md#services).",
      example: "ntfy",
    }),
    url: setting(webAddress().optional(), {
      meaning: "The address; never shown in full.",
      example: "https://hooks.example.com/scanferry",
      without: "`urlFile`, else `$SCANFERRY_WEBHOOK_URL`, else the service's own",
    }),
    urlFile: setting(localPath().optional(), {
      meaning: "Its file.",
      example: "/etc/scanferry/webhook.url",
    }),
    secret: setting(secret().optional(), {
      meaning: "Signs the message.",
      example: '"…"',
      without: "`secretFile`, else `$SCANFERRY_WEBHOOK_SECRET`, else not signed",
    }),
    secretFile: setting(localPath().optional(), {
      meaning: "Its file.",
      example: "/etc/scanferry/webhook.secret",
    }),
    token: setting(secret().optional(), {
      meaning: "The service's token.",
      example: '"…"',
      without: "`tokenFile`; required by `gotify`, `matrix` and `pushover`",
    }),
    tokenFile: setting(localPath().optional(), {
      meaning: "Its file.",
      example: "/etc/scanferry/webhook.token",
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
  "Sends an HTTP request.",
);

const command = section(
  {
    ...channelKeys("command"),
    run: setting(z.array(word()).min(1), {
      meaning: "The program and its arguments, without a shell.",
      example: "[/usr/local/bin/tell-us, --urgent]",
      required: true,
    }),
  },
  "Runs a program.",
);

const ping = section(
  {
    url: setting(webAddress().optional(), {
      meaning: "The address.",
      example: "https://ping.example.com/4711",
      without: "`urlFile`, else `$SCANFERRY_PING_URL`, else none",
    }),
    urlFile: setting(localPath().optional(), {
      meaning: "Its file.",
      example: "/etc/scanferry/ping.url",
    }),
    method: setting(choice("GET", "POST").prefault("GET"), {
      meaning: "The method.",
      example: "POST",
    }),
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
    mail: setting(z.array(mail).prefault([]), {
      meaning: "Mail.",
      example: "[{ server: smtp.example.com:587, from: a@example.com, to: [b@example.com] }]",
    }),
    webhook: setting(z.array(webhook).prefault([]), {
      meaning: "Webhooks and services.",
      example: "[{ url: https://hooks.example.com/scanferry }]",
    }),
    command: setting(z.array(command).prefault([]), {
      meaning: "Programs.",
      example: "[{ run: [/usr/local/bin/tell-us] }]",
    }),
    timeout: setting(duration("100ms", "10m").prefault("30s"), {
      meaning: "How long one attempt may take.",
      example: "10s",
    }),
    repeat: setting(duration("0", "365d").prefault("1d"), {
      meaning:
        "How often a lasting problem is reported again; 0: never. A problem that comes and goes, or grows, " +
        "is reported again after an hour.",
      example: "7d",
    }),
    heldAfter: setting(duration("0", "365d").prefault("1h"), {
      meaning: "Held documents and an archive that cannot be reached are reported after this time.",
      example: "4h",
    }),
    diskBelow: setting(size("0", "100GB").prefault("500MB"), {
      meaning: "Free space on the journal's disk below which it is reported; 0: never.",
      example: "2GB",
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
