/**
 * Tells the service manager how the daemon is (sd_notify(3)). Node has no datagram sockets of the
 * Unix kind, so the program `systemd-notify` says it; it waits until the manager has read, so that
 * its message is known to be of this service. Needs `NotifyAccess=all`.
 *
 * Where nobody listens nothing is started. Where telling fails the daemon goes on without.
 */
import { spawn } from "node:child_process";
import { messageOf } from "../std/fault.ts";

/** The service manager, as far as it is told anything. */
export interface Notifier {
  /** The manager kills the daemon when it is not pinged for this long; undefined: it does not watch. */
  readonly watchdogMs: number | undefined;
  /**
   * Tells these assignments, e.g. `READY=1`, after all that was told before. Never rejects; resolves
   * with the reason when they could not be told.
   */
  tell(...assignments: readonly string[]): Promise<string | undefined>;
}

/** Nobody listens. */
export const silentNotifier: Notifier = {
  watchdogMs: undefined,
  tell: () => Promise.resolve(undefined),
};

/** A message takes milliseconds; a manager that is not read to after this long is not waited for. */
const TELL_MS_MAX = 5_000;

/**
 * The notifier that the environment asks for: `$NOTIFY_SOCKET`, `$WATCHDOG_USEC`, `$WATCHDOG_PID`.
 *
 * @param pid of this process: a watchdog for another one is not ours to feed
 */
export function notifierOf(
  env: NodeJS.ProcessEnv,
  pid: number,
  tellMsMax: number = TELL_MS_MAX,
): Notifier {
  const { NOTIFY_SOCKET: socket, PATH: path } = env;
  if (!socket) return silentNotifier;
  let last: Promise<unknown> = Promise.resolve();
  return {
    watchdogMs: watchdogOf(env, pid),
    tell(...assignments) {
      const options = { env: { NOTIFY_SOCKET: socket, PATH: path }, timeout: tellMsMax };
      const told = last.then(() => notify(assignments, options));
      last = told;
      return told;
    },
  };
}

function watchdogOf(env: NodeJS.ProcessEnv, pid: number): number | undefined {
  const { WATCHDOG_USEC: usec, WATCHDOG_PID: watched } = env;
  if (watched && Number(watched) !== pid) return undefined;
  const ms = Number(usec) / 1_000;
  return ms > 0 ? ms : undefined;
}

function notify(
  assignments: readonly string[],
  options: { env: NodeJS.ProcessEnv; timeout: number },
): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  try {
    const said = spawn("systemd-notify", [...assignments], {
      ...options,
      killSignal: "SIGKILL",
      stdio: "ignore",
    });
    said.once("error", (error) => resolve(messageOf(error)));
    said.once("exit", (code, signal) => {
      resolve(code === 0 ? undefined : `systemd-notify ended with ${signal ?? code}`);
    });
  } catch (error) {
    // No process can be started, or an assignment holds what no argument may.
    resolve(messageOf(error));
  }
  return promise;
}
