/** People and programs that look at a daemon while it works. */
import type { Dice } from "../../test/simulation/dice.ts";
import type { Town } from "./town.ts";

const PAGES = ["/", "/api/status", "/api/documents?state=held", "/healthz", "/metrics"] as const;
const COMMANDS = [["status", "--json"], ["list", "--json"], ["status"], ["list"]] as const;

export class Visitors {
  readonly done = new Map<string, number>();
  readonly #town: Town;
  readonly #dice: Dice;

  constructor(town: Town, dice: Dice) {
    this.#town = town;
    this.#dice = dice;
  }

  /** One visit. A page that does not answer, say amid a reload, is visited in vain. */
  async next(signal: AbortSignal): Promise<void> {
    const [name, visit] = this.#dice.weighted<readonly [string, () => Promise<unknown>]>([
      [6, ["page", () => this.#read(this.#dice.pick(PAGES) ?? "/")]],
      [2, ["events", () => this.#follow(signal)]],
      [2, ["command", () => this.#town.command(...(this.#dice.pick(COMMANDS) ?? ["status"]))]],
      [1, ["rescan", () => this.#ask("rescan")]],
    ]);
    const outcome = await visit().then(
      () => name,
      () => `${name} in vain`,
    );
    this.done.set(outcome, (this.done.get(outcome) ?? 0) + 1);
  }

  async #read(path: string): Promise<void> {
    await (await this.#town.page(path)).arrayBuffer();
  }

  async #ask(what: string): Promise<void> {
    await this.#read(`/api/${what}`).catch(() => {});
    await (await this.#town.page(`/api/${what}`, { method: "POST", body: "{}" })).arrayBuffer();
  }

  /** Reads the stream of events for a while, then leaves without a word. */
  async #follow(signal: AbortSignal): Promise<void> {
    const left = AbortSignal.any([signal, AbortSignal.timeout(this.#dice.int(1_000, 40_000))]);
    const { body } = await this.#town.page("/api/events", { signal: left });
    try {
      for await (const _ of body ?? []) continue;
    } catch {
      // We left.
    }
  }
}
