/** The mail servers of `notify`: would a mail be taken? None is sent. */
import type { Config } from "../../config/config.ts";
import type { Clock } from "../../std/clock.ts";
import { fail, type CheckResult, ok } from "./check-result.ts";

/** Each server is greeted, TLS is begun, and who has a user logs in. */
export async function* examineMail(
  { notify }: Pick<Config, "notify">,
  clock: Clock,
): AsyncGenerator<CheckResult> {
  const channels = notify?.channels ?? [];
  for (const channel of channels) {
    if (channel.by !== "mail") continue;
    // Loaded only where it is used.
    const { MailChannel } = await import("../../notify/mail-channel.ts");
    const { name, host, port, login } = channel;
    const problem = await new MailChannel(channel).look(clock);
    const what = `mail: ${name}, ${host}:${port}`;
    if (problem) yield fail(`${what}: ${problem.what}`, problem.fix);
    else yield ok(`${what} answers${login ? `, and lets ${login.user} in` : ""}`);
  }
}
