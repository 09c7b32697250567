/**
 * Tells the service manager how the daemon is (sd_notify(3)). Node cannot open the manager's socket, a
 * datagram one. From systemd 253 on the unit hands it over, open (`OpenFile=`): then the daemon writes to it
 * itself, and has a manager from 254 on believe nobody else. Before that the program `systemd-notify` says
 * it, which waits until the manager has read, so that its message is known to be of this service; that needs
 * `NotifyAccess=all`.
 *
 * Where nobody listens nothing is started. Where outbox entry fails the daemon goes on without.
 */
import { spawn } from "node:child_process";
import { write } from "node:fs";
import { unlessAborted } from "../std/abort.ts";
import { messageOf } from "../std/fault.ts";

/** The service manager, as far as it gets reports. */
export interface Notifier {
  /** The manager kills the daemon when it is not pinged for this long; undefined: it does not watch. */
  readonly watchdogMs: number | undefined;
  /**
   * Tells these assignments, e.g. `READY=1`, after all that was sent before. Never rejects; resolves
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

/** What the unit calls the socket that it hands over (sd_listen_fds(3)). */
const HANDED_OVER = "notify";

/** The first of the descriptors that a manager hands over. */
const FIRST_FD = 3;

/** What the manager tells by; what is started or loaded later has nothing to say to it. */
const VARIABLES = [
  "NOTIFY_SOCKET",
  "WATCHDOG_USEC",
  "WATCHDOG_PID",
  "LISTEN_PID",
  "LISTEN_FDS",
  "LISTEN_FDNAMES",
];

/**
 * The notifier that the environment asks for: `$NOTIFY_SOCKET`, `$WATCHDOG_USEC`, `$WATCHDOG_PID`, `$LISTEN_PID`,
 * `$LISTEN_FDNAMES`; they are taken out of `env`.
 *
 * @param pid of this process: a watchdog for another one is not ours to feed
 */
export function takeNotifier(
  env: NodeJS.ProcessEnv,
  pid: number,
  tellMsMax: number = TELL_MS_MAX,
): Notifier {
  const { NOTIFY_SOCKET: socket, PATH: path } = env;
  const watchdogMs = watchdogOf(env, pid);
  const fd = handedOver(env, pid);
  for (const variable of VARIABLES) delete env[variable];
  if (!socket) return silentNotifier;
  if (fd !== undefined) return ownNotifier(fd, watchdogMs, tellMsMax);
  let last: Promise<unknown> = Promise.resolve();
  return {
    watchdogMs,
    tell(...assignments) {
      const options = { env: { NOTIFY_SOCKET: socket, PATH: path }, timeout: tellMsMax };
      const told = last.then(() => notify(assignments, options));
      last = told;
      return told;
    },
  };
}

function handedOver({ LISTEN_PID, LISTEN_FDNAMES }: NodeJS.ProcessEnv, pid: number) {
  const at = LISTEN_FDNAMES?.split(":").indexOf(HANDED_OVER) ?? -1;
  return Number(LISTEN_PID) === pid && at >= 0 ? FIRST_FD + at : undefined;
}

/** Writes to the manager's own socket, a datagram for each message. */
function ownNotifier(fd: number, watchdogMs: number | undefined, tellMsMax: number): Notifier {
  let last: Promise<unknown> = Promise.resolve();
  const tell = async (...assignments: readonly string[]) => {
    const written = last.then(() => writeTo(fd, assignments.join("\n")));
    last = written;
    const late = AbortSignal.timeout(tellMsMax);
    return unlessAborted(written, late).catch(() => `it did not read within ${tellMsMax} ms`);
  };
  // One that does not know this leaves it at what the unit says.
  void tell("NOTIFYACCESS=main");
  return { watchdogMs, tell };
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

function writeTo(fd: number, message: string): Promise<string | undefined> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  write(fd, message, (error) => resolve(error ? messageOf(error) : undefined));
  return promise;
}
