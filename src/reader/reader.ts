/**
 * The daemon's handle on a reader process: starts it, asks whether it is alive, kills and restarts
 * it when it does not answer or dies. A dead share makes a process hang in a way that nothing in
 * that process can end; that is why readers are processes.
 */
import type { ChildProcess } from "node:child_process";
import { backoffMs } from "../domain/backoff.ts";
import type { Outcome } from "../domain/outcome.ts";
import type { Acted, FoundNotes, Inspection, ScanReport } from "../source/source.ts";
import { messageOf } from "../std/fault.ts";
import type { RawPath } from "../std/raw-path.ts";
import { forkReader } from "./fork-reader.ts";
import { HookGroups } from "./run-hook.ts";
import { RpcChannel, ChannelClosed } from "./rpc-channel.ts";
import type {
  HookEnd,
  HookOrder,
  Look,
  MirrorStatus,
  ReaderCalls,
  SendOrder,
  Unreached,
} from "./protocol.ts";
import type { ReaderOptions } from "./reader-options.ts";
import { SendTime } from "./send-time.ts";
import { begun, LIVENESS_LIMITS, watchLiveness } from "./liveness.ts";

/** Waits between restarts of a reader that keeps dying. */
const RESTART = { initialMs: 200, maxMs: 30_000 };

/** Processes of one reader that may hang in the kernel before it is not replaced any more. */
const ALIVE_MAX = 3;

/** After so many deaths its sources count as offline, where the last one could not even be called. */
const DEATHS_MAX = 4;

/** How long a killed reader is waited for. */
const CLOSE_MS = 1_000;

type Line = RpcChannel<ReaderCalls>;
type Running = { readonly child: ChildProcess; readonly line: Line };

export class Reader implements AsyncDisposable {
  readonly #options: ReaderOptions;
  readonly #closing = new AbortController();
  readonly #supervision: Promise<void>;
  #running: Running | undefined;
  #child: ChildProcess | undefined;
  /** Processes that were started and have not ended, killed or not. */
  readonly #alive = new Set<ChildProcess>();
  #ready = Promise.withResolvers<Running>();
  #closed: Promise<void> | undefined;
  readonly #time: SendTime;
  #sends = 0;
  #silent = false;

  private constructor(options: ReaderOptions) {
    this.#options = options;
    this.#time = new SendTime(options.cluster, options.host);
    this.#ready.promise.catch(() => {});
    this.#supervision = this.#supervise();
  }

  /** Starts the process; resolves at once. Calls wait until it is ready. */
  static open(options: ReaderOptions): Reader {
    return new Reader(options);
  }

  /** Its process's id while it runs. */
  get pid(): number | undefined {
    return this.#running?.child.pid;
  }

  /** It does not answer just now: what it is asked to do waits, most likely for a share. */
  get silent(): boolean {
    return this.#silent;
  }

  async scan(mirrorId: number, below: RawPath | null): Promise<ScanReport> {
    return (await this.#up()).line.call("scan", mirrorId, below);
  }

  async inspect(...parameters: Parameters<ReaderCalls["inspect"]>): Promise<Inspection[]> {
    return (await this.#up()).line.call("inspect", ...parameters);
  }

  async notes(...parameters: Parameters<ReaderCalls["notes"]>): Promise<FoundNotes> {
    return (await this.#up()).line.call("notes", ...parameters);
  }

  async look(mirrorId: number, paths: readonly RawPath[], spelt = false): Promise<Look[]> {
    return (await this.#up()).line.call("look", mirrorId, paths, spelt);
  }

  /** Rejects with `ChannelClosed` when it is not up: after-actions of other mirrors would wait with this one. */
  async act(...parameters: Parameters<ReaderCalls["act"]>): Promise<Acted> {
    if (!this.#running) throw new ChannelClosed("the reader is not up");
    return this.#running.line.call("act", ...parameters);
  }

  /** Hosts one of its mirrors as `ReaderOptions.mirrors` has it now; resolves once that is so, however often it ends. */
  async host(mirrorId: number): Promise<void> {
    const { line } = await this.#up();
    try {
      const mirror = await this.#options.mirrors(mirrorId);
      this.#options.started(await line.call("open", mirror, null), false);
    } catch (error) {
      if (!(error instanceof ChannelClosed)) throw error;
      // The next one asks for all of them as it starts.
      await this.#up();
    }
  }

  /** Runs a command with the reader's rights; how it went is an answer, never an error. */
  async hook(order: HookOrder): Promise<HookEnd> {
    return (await this.#up()).line.call("hook", order);
  }

  /** A reader that is down learns everything again when it comes up. */
  async unlearn(mirrorId: number, dirs: readonly RawPath[]): Promise<void> {
    try {
      await this.#running?.line.call("unlearn", mirrorId, dirs);
    } catch (error) {
      if (!(error instanceof ChannelClosed)) throw error;
    }
  }

  async status(mirrorId: number): Promise<MirrorStatus> {
    return (await this.#up()).line.call("status", mirrorId);
  }

  /** Asks the archive for its root folder, the way documents are sent; what kept it from that, or null. */
  async reach(): Promise<Unreached | null> {
    return (await this.#up()).line.call("reach");
  }

  /**
   * Sends one document. Never rejects: a reader that dies under it leaves the attempt in doubt; one
   * that was not running gives it back. `cut` tears the request down.
   */
  async send(order: SendOrder, cut: AbortSignal): Promise<Outcome> {
    const running = this.#running;
    if (!running || cut.aborted) return { kind: "released" };
    const id = ++this.#sends;
    const abort = () => void running.line.call("abort", id).catch(() => {});
    cut.addEventListener("abort", abort, { once: true });
    try {
      this.#time.tell(running.line);
      return await running.line.call("send", id, order);
    } catch (error) {
      return { kind: "inDoubt", problem: { code: "REPLY_LOST", message: messageOf(error) } };
    } finally {
      cut.removeEventListener("abort", abort);
    }
  }

  /** Ends the process and waits until it is gone, but no longer than it can be waited for. */
  close(): Promise<void> {
    this.#closed ??= (async () => {
      this.#closing.abort(new ChannelClosed("closing"));
      this.#ready.reject(this.#closing.signal.reason);
      this.#child?.kill("SIGKILL");
      // A process that hangs in the kernel is left to die when its share answers.
      const patience = this.#options.clock.sleep(CLOSE_MS, new AbortController().signal);
      await Promise.race([this.#supervision, patience]);
    })();
    return this.#closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #up(): Promise<Running> {
    return this.#running ?? (await this.#ready.promise);
  }

  async #supervise(): Promise<void> {
    const { clock, random, log, name } = this.#options;
    const signal = this.#closing.signal;
    for (let deaths = 0; !signal.aborted; ) {
      // What hangs in the kernel cannot be killed; more of it would help nobody.
      while (this.#alive.size >= ALIVE_MAX && !signal.aborted) {
        await clock.sleep(RESTART.maxMs, signal).catch(() => {});
      }
      const startedAt = clock.monotonic();
      const ready = this.#ready;
      const why = await this.#live(deaths > 0);
      if (signal.aborted) return;
      // A reader that lived well for a while starts counting again.
      deaths = clock.monotonic() - startedAt > 60_000 ? 1 : deaths + 1;
      log.warn({ reader: name, why }, "the reader process ended; restarting it");
      if (deaths >= DEATHS_MAX && ready === this.#ready)
        this.#options.down?.(`cannot be read: the reader process does not start (${why})`);
      await clock.sleep(backoffMs(RESTART, deaths, random), signal).catch(() => {});
    }
  }

  /** One life of the process, from its start to its end; says why it ended. */
  async #live(restart: boolean): Promise<string> {
    let child: ChildProcess;
    try {
      child = forkReader();
    } catch (error) {
      return messageOf(error);
    }
    this.#child = child;
    this.#alive.add(child);
    child.once("close", () => this.#alive.delete(child));
    const ended = Promise.withResolvers<string>();
    const hooks = new HookGroups();
    const line = this.#lineTo(child, hooks);
    const { signal: closing } = this.#closing;
    const close = () => end("closing");
    const end = (why: string) => {
      closing.removeEventListener("abort", close);
      line.cut(`the reader ended: ${why}`);
      // A reader that was killed could not end the hooks that it ran.
      hooks.end();
      this.#markUnresponsive(false);
      if (this.#running?.child === child) {
        this.#running = undefined;
        this.#ready = Promise.withResolvers<Running>();
        this.#ready.promise.catch(() => {});
      }
      ended.resolve(why);
    };
    closing.addEventListener("abort", close, { once: true });
    child.once("exit", (code, signal) => end(signal ?? `exit code ${code}`));
    child.once("error", (error) => end(error.message));
    try {
      await this.#begin(child, line, restart);
    } catch (error) {
      // A reader that cannot open is of no use; what it said is why.
      child.kill("SIGKILL");
      end(messageOf(error));
    }
    return ended.promise;
  }

  /** Lets a process that was started host its mirrors; from the end of that on it is called. */
  async #begin(child: ChildProcess, line: Line, restart: boolean): Promise<void> {
    const { clock } = this.#options;
    await begun(line.call("ping"), clock);
    this.#options.begun?.();
    void this.#watchOver(child, line);
    const mirrors = await this.#options.mirrors();
    const statuses = await line.call("open", mirrors, this.#options.archive());
    this.#running = { child, line };
    this.#ready.resolve(this.#running);
    const isUp = () => this.#running?.child === child;
    void this.#time.keepOutboxEntry({ line, isUp }, clock, this.#closing.signal);
    this.#options.started(statuses, restart);
  }

  #lineTo(child: ChildProcess, hooks: HookGroups): Line {
    const { sign } = this.#options;
    return new RpcChannel(
      {
        send: (message) => {
          // Sending to a process that has just died is reported by its exit.
          if (child.connected) child.send(message as object, () => {});
        },
        onMessage: (listener) => {
          child.on("message", listener);
        },
      },
      { ...this.#options.daemon, ...hooks.calls, ...(sign && { sign }) },
    );
  }

  /** Kills a reader that does not answer in time; its end is handled where it is waited for. */
  async #watchOver(child: ChildProcess, line: Line): Promise<void> {
    const { clock, log, name, livenessLimits = LIVENESS_LIMITS } = this.#options;
    const isUp = () => child.exitCode === null && child.signalCode === null;
    const isAwaited = () => line.isAwaited;
    const ask = () => line.call("ping");
    const markUnresponsive = (silent: boolean) => this.#markUnresponsive(silent);
    try {
      const watched = { isUp, isAwaited, called: line.called, ask, markUnresponsive };
      await watchLiveness(watched, livenessLimits, clock, this.#closing.signal);
      if (!isUp()) return;
      const { patienceMs } = livenessLimits;
      log.error({ reader: name, patienceMs }, "the reader process does not answer; killing it");
      this.#options.down?.(`does not answer (${patienceMs / 1_000} s)`);
      child.kill("SIGKILL");
      // A process that hangs in the kernel dies only when the share answers: go on without it.
      child.emit("exit", null, "SIGKILL (did not answer)");
    } catch (error) {
      if (!(error instanceof ChannelClosed)) throw error;
    }
  }

  #markUnresponsive(silent: boolean): void {
    if (this.#silent === silent) return;
    this.#silent = silent;
    this.#options.silence?.();
  }
}
