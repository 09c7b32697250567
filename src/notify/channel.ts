import type { ChannelConfig } from "../config/notify-section.ts";
import { InvariantError, messageOf } from "../std/fault.ts";
import { redactor } from "../std/log.ts";
import type { Clock } from "../std/clock.ts";
import type { MessageBody } from "./message.ts";

/** One way to send notifications. */
export interface Channel {
  readonly name: string;
  /**
   * Tells it once, and resolves with what could not be done where the rest was. Rejects when nobody
   * was certain to be told. What it says holds no secret. Gives up when `signal` aborts, and leaves
   * nothing running.
   */
  send(body: MessageBody, signal: AbortSignal): Promise<string | undefined>;
}

/** A message about what another host answered is cut here. */
const ANSWER_CHARACTERS_MAX = 200;

/** The channel of a configuration. Its library is loaded only now: many a daemon needs none. */
export async function openChannel(config: ChannelConfig, clock: Clock): Promise<Channel> {
  switch (config.by) {
    case "mail": {
      const { MailChannel } = await import("./mail-channel.ts");
      return new MailChannel(config);
    }
    case "webhook": {
      const { WebhookChannel } = await import("./webhook-channel.ts");
      return new WebhookChannel(config, clock);
    }
    case "command": {
      const { CommandChannel } = await import("./command-channel.ts");
      return new CommandChannel(config, clock);
    }
    default:
      config satisfies never;
      throw new InvariantError("a channel of an unknown kind");
  }
}

/** What went wrong, on one short line and without these secrets, however another host wrote them. */
export function cleanReason(error: unknown, secrets: readonly string[]): string {
  const forms = secrets.flatMap((secret) => [secret, Buffer.from(secret).toString("base64")]);
  const line = redactor(forms)(messageOf(error)).replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ");
  return line.length > ANSWER_CHARACTERS_MAX ? `${line.slice(0, ANSWER_CHARACTERS_MAX)}…` : line;
}
