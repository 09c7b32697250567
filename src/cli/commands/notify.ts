import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { Command } from "commander";
import { type ChannelConfig, channelOf } from "../../config/notify-section.ts";
import { version } from "../../daemon/version.ts";
import { openChannel } from "../../notify/channel.ts";
import { bodyOf, type ChannelNotification } from "../../notify/message.ts";
import { sendWithin } from "../../notify/outlet.ts";
import { messageOf, UsageError } from "../../std/fault.ts";
import { padded } from "../text-table.ts";
import { EXIT } from "../exit.ts";
import { printable } from "../../std/printable.ts";
import type { Shell } from "../shell.ts";
import { examples } from "../option-values.ts";

/** What came of one channel. */
type Outcome = {
  readonly channel: string;
  readonly by: ChannelConfig["by"];
  readonly ok: boolean;
  /** Why it was not told; null when it was. */
  readonly reason: string | null;
};

/** `scanferry notify test`: whether anyone would be told. */
export function addNotify(program: Command, shell: Shell): void {
  const notify = program
    .command("notify")
    .description("notifications: see `notify:` in the configuration");
  notify
    .command("test")
    .description("send a test message by every channel, and show the results")
    .argument("[name]", "only by this channel")
    .option("--channel <name>", "the same")
    .option("--json", "print one JSON object")
    .action((name: string | undefined, options: { channel?: string; json?: boolean }) =>
      test(shell, { ...options, ...(name === undefined ? {} : { channel: name }) }),
    )
    .addHelpText("after", examples("scanferry notify test", "scanferry notify test mail"));
}

async function test(
  shell: Shell,
  { channel, json }: { channel?: string; json?: boolean },
): Promise<void> {
  const { notify } = await shell.config();
  const all = notify?.channels ?? [];
  if (!notify || all.length === 0)
    throw new UsageError("no channel is configured; add one under notify, e.g. mail");
  const wanted = all.filter(({ name }) => channel === undefined || name === channel);
  if (wanted.length === 0) {
    const names = all.map(({ name }) => name).join(", ");
    throw new UsageError(`there is no channel ${channel}; there are: ${names}`);
  }
  const stopping = shell.stopping();
  const outcomes: Outcome[] = [];
  for (const each of wanted) {
    const outcome = await outcomeOf(each, notify.timeoutMs, shell, stopping);
    outcomes.push(outcome);
    if (json !== true) await shell.out.line(lineOf(outcome, shell));
  }
  const ok = outcomes.every((outcome) => outcome.ok);
  if (json === true) await shell.out.line(JSON.stringify({ ok, channels: outcomes }));
  shell.exitCode = ok ? EXIT.done : EXIT.fault;
}

async function outcomeOf(
  config: ChannelConfig,
  timeoutMs: number,
  { clock }: Shell,
  stopping: AbortSignal,
): Promise<Outcome> {
  const { name: channel, by } = config;
  const at = clock.now();
  const told: ChannelNotification = {
    kind: "test",
    cause: "test",
    what: "happened",
    title: "A test: this channel works",
    detail: `This is a test, sent by "scanferry notify test". Channel: ${channel}.`,
    hint: "Nothing is wrong, and nothing is to be done.",
    since: at,
    times: 1,
  };
  const body = bodyOf({ id: randomUUID(), at, notifications: [] }, [told], {
    host: hostname(),
    version,
  });
  try {
    const opened = await openChannel(config, clock);
    const remark = await sendWithin(opened, body, timeoutMs, clock, stopping);
    return { channel, by, ok: remark === undefined, reason: remark ?? null };
  } catch (error) {
    stopping.throwIfAborted();
    return { channel, by, ok: false, reason: messageOf(error) };
  }
}

function lineOf({ channel, by, ok, reason }: Outcome, { out }: Shell): string {
  const mark = out.paint(ok ? "green" : "red", padded(ok ? "ok" : "FAIL", 4));
  return printable(`${mark}  ${channel} (${by}): ${reason ?? channelOf({ by }).taken}`);
}
