import { z } from "zod";
import { isLoopback } from "../../std/web-caller.ts";
import { invariant } from "../../std/fault.ts";
import { channel, userName } from "../channel-definition.ts";
import { type Kind, kind, setting, settings } from "../kind.ts";
import { choice, secret, textIn } from "../kinds.ts";
import { address, secretKeys } from "../place-kinds.ts";
import { quoted } from "../../std/printable.ts";

export const mail = channel(
  "mail",
  {
    server: setting(address(), {
      meaning: "The mail server (SMTP) and its port.",
      example: "smtp.example.com:587",
    }),
    tls: setting(choice("starttls", "tls", "none").prefault("starttls"), {
      meaning:
        "`starttls` requires encryption before anything is sent, `tls` encrypts from the first byte (port " +
        "465), `none` never encrypts.",
    }),
    user: setting(userName().optional(), {
      meaning: "The user at the server.",
      example: "scanferry@example.com",
      without: "no login",
    }),
    ...secretKeys("password", secret(), {
      meaning: "The password itself.",
      file: "/etc/scanferry/mail.password",
      variable: "SCANFERRY_MAIL_PASSWORD",
      need: ({ user }) => (user === undefined ? "unused" : "required"),
    }),
    from: setting(mailAddress(), {
      meaning: "The sender's address.",
      example: "scanferry@example.com",
    }),
    to: setting(z.array(mailAddress()).min(1), {
      meaning: "The recipients.",
      example: "[admin@example.com]",
    }),
  },
  {
    about: {
      meaning: "Sends mail.",
      example: "[{ server: smtp.example.com:587, from: a@example.com, to: [b@example.com] }]",
    },
    taken: "the server took the mail",
    conflicts({ tls, user, server }, at) {
      if (tls !== "none" || user === undefined || isLoopback(server?.host ?? "")) return;
      at.report("tls", "none would send the password in the open", "write starttls or tls");
    },
    build({ name = "mail", events, server, tls, user, password, from, to }, { networkTo }) {
      invariant(user === undefined || password !== undefined, "a checked user has a password");
      const login = user === undefined || password === undefined ? undefined : { user, password };
      // Mail never goes by a proxy; whom it trusts is the same.
      const { ca } = networkTo("https://localhost") ?? {};
      return settings({ by: "mail" as const, name, events, ...server, tls, login, from, to, ca });
    },
    hosts: ({ server }) => [server.host],
    partner: ({ host }) => ({ what: "the mail server", host }),
    hidden: ({ login }) => [login?.password],
  },
);

/** By SMTP: `tls` from the first byte, `starttls` before anything is said, or `none`. The password is a secret. */
export type MailConfig = ReturnType<typeof mail.build>;

/** One address of mail, without a name next to it. */
function mailAddress(): Kind<string> {
  return kind("mail address", (value, refuse) => {
    const text = textIn(value, refuse);
    if (/^[^\s@<>,;:"()[\]\\\p{Cc}]+@[^\s@<>,;:"()[\]\\\p{Cc}]+$/u.test(text)) return text;
    return refuse(`${quoted(text)} is not a mail address`, "write e.g. admin@example.com");
  });
}
