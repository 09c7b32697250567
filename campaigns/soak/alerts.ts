/** What goes wrong around a daemon while it works; each comes to an end on its own. */
import { setTimeout as delay } from "node:timers/promises";
import type { Dice } from "../../test/simulation/dice.ts";
import type { Town } from "./town.ts";

/** Faults of the archive, as its administration takes them; each befalls a few requests. */
const PLANS = [
  { on: "upload", do: "dropBefore", times: 2 },
  { on: "upload", do: "dropAfter", times: 3 },
  { on: "upload", do: "storeLate", ms: 3_000 },
  { on: "upload", do: "status", status: 503, stored: false, times: 4 },
  { on: "upload", do: "status", status: 502, stored: true, html: true, times: 2 },
  { on: "upload", do: "status", status: 429, stored: false, retryAfter: "2", times: 2 },
  { on: "upload", do: "truncate", times: 2 },
  { on: "upload", do: "garbage", times: 2 },
  { on: "upload", do: "delay", ms: 12_000, times: 2 },
  { on: "upload", do: "convert", afterMs: 40_000, times: 5 },
  { on: "documents", do: "stale", youngerThanMs: 5_000, times: 10 },
  { on: "documents", do: "status", status: 500, stored: false, times: 5 },
  { on: "document", do: "dropBefore", times: 5 },
  { on: "folder", do: "delay", ms: 3_000, times: 3 },
] as const;

type Alert = readonly [name: string, act: (signal: AbortSignal) => Promise<void>];

export class Alerts {
  readonly done = new Map<string, number>();
  /** Alerts that end the reader are left out while this is false. */
  endsReaders = true;
  readonly #town: Town;
  readonly #dice: Dice;

  constructor(town: Town, dice: Dice) {
    this.#town = town;
    this.#dice = dice;
  }

  /**
   * Makes one alert and waits until it is over; cut short, it is made good at once. One that
   * could not be made, say since the archive was just busy, is counted as such.
   */
  async next(signal: AbortSignal): Promise<void> {
    const [name, act] = this.#dice.weighted<Alert>([
      [10, ["archive fault", () => this.#plan()]],
      [3, ["reader stopped", (cut) => this.#stopReader(this.#dice.int(2_000, 12_000), cut)]],
      [2, ["archive killed", (cut) => this.#restartArchive("SIGKILL", cut)]],
      [2, ["archive restarted", (cut) => this.#restartArchive("SIGTERM", cut)]],
      [3, ["quota used up", (cut) => this.#spendQuota(cut)]],
      [3, ["SIGUSR1", async () => void process.kill(this.#town.daemonPid, "SIGUSR1")]],
      [2, ["paused", (cut) => this.#pause(cut)]],
      ...(this.endsReaders ? this.#ends() : []),
    ]);
    const outcome = await act(signal).then(
      () => name,
      () => `${name} in vain`,
    );
    this.done.set(outcome, (this.done.get(outcome) ?? 0) + 1);
  }

  #ends(): [number, Alert][] {
    return [
      [4, ["reader killed", async () => void this.#signalReader("SIGKILL")]],
      [1, ["reader hung", (cut) => this.#stopReader(48_000, cut)]],
      [2, ["SIGHUP", async () => void process.kill(this.#town.daemonPid, "SIGHUP")]],
    ];
  }

  async #plan(): Promise<void> {
    await this.#town.tell("/faults", { plan: [this.#dice.pick(PLANS)] });
  }

  async #stopReader(ms: number, signal: AbortSignal): Promise<void> {
    const pid = this.#signalReader("SIGSTOP");
    await pass(ms, signal);
    if (pid !== undefined) tryKill(pid, "SIGCONT");
  }

  async #restartArchive(how: NodeJS.Signals, signal: AbortSignal): Promise<void> {
    await this.#town.endArchive(how);
    await pass(this.#dice.int(0, 8_000), signal);
    await this.#town.startArchive();
  }

  async #spendQuota(signal: AbortSignal): Promise<void> {
    await this.#town.tell("/quota", { pages: 0 });
    await pass(this.#dice.int(5_000, 30_000), signal);
    await this.#town.tell("/quota", { pages: null });
  }

  async #pause(signal: AbortSignal): Promise<void> {
    const byPage = this.#dice.chance(0.5);
    const ask = async (what: "pause" | "resume") => {
      if (!byPage) return void (await this.#town.command(what));
      // A page that does not answer, say amid a reload, is no reason to leave it paused.
      const answer = await this.#town
        .page(`/api/${what}`, { method: "POST", body: "{}" })
        .catch(() => undefined);
      if (!answer?.ok) await this.#town.command(what);
    };
    await ask("pause");
    await pass(this.#dice.int(1_000, 8_000), signal);
    await ask("resume");
  }

  #signalReader(signal: NodeJS.Signals): number | undefined {
    const pid = this.#dice.pick(this.#town.readers());
    if (pid !== undefined) tryKill(pid, signal);
    return pid;
  }
}

/** Time passes, or is cut short. */
export async function pass(ms: number, signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await delay(ms, undefined, { signal }).catch(() => {});
}

function tryKill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended meanwhile.
  }
}
