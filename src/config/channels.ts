/** The ways to notify, in the order of the reference: a new one is a file in `channels` and an entry here. */
import { z } from "zod";
import type { ChannelDefinition } from "./channel-definition.ts";
import { command } from "./channels/command.ts";
import { mail } from "./channels/mail.ts";
import { webhook } from "./channels/webhook.ts";
import { setting } from "./kind.ts";

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
export const channelKeys = {
  mail: listOf(mail),
  webhook: listOf(webhook),
  command: listOf(command),
};

function listOf<S extends z.ZodObject>({
  schema,
  about,
}: {
  schema: S;
  about: ChannelDefinition["about"];
}) {
  return setting(z.array(schema).prefault([]), about);
}
