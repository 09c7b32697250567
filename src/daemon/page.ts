import type { Dashboard, DashboardOptions } from "../dashboard/dashboard.ts";
import { backoffMs } from "../domain/backoff.ts";
import { isAbortOf, Stopping } from "../std/abort.ts";
import type { Random } from "../std/clock.ts";
import { codeOf, Fault } from "../std/fault.ts";
import type { Config } from "../config/config.ts";
import { adoptShown, sendAsNew } from "../sync/first-run-choice.ts";
import { probeNow, retryAll } from "../sync/retry.ts";
import type { Parts } from "./parts.ts";

/**
 * The daemon's page, which does not stop the rest: where its address is not there yet, as before a
 * tunnel or a container's network is up, everything else begins, and the page comes when it can.
 */

/** Reasons for which an address cannot be had now, and may be later. */
const PASSING: ReadonlySet<string> = new Set([
  "EADDRINUSE",
  "EADDRNOTAVAIL",
  "ENOTFOUND",
  "EAI_AGAIN",
]);

const RETRY = { initialMs: 1_000, maxMs: 30_000 };

export type PageOptions = {
  readonly dashboard: DashboardOptions;
  /** Waits for an address that may come; else opening rejects. */
  readonly waits: boolean;
  readonly random: Random;
  /** Told where it is, each time it begins to listen. */
  readonly listens: (url: string) => Promise<void>;
};

export class WebPage implements AsyncDisposable {
  readonly #options: PageOptions;
  readonly #ending = new AbortController();
  #waiting: Promise<void> = Promise.resolve();
  #dashboard: Dashboard | undefined;
  #problem: Fault | undefined;

  private constructor(options: PageOptions) {
    this.#options = options;
  }

  /** Rejects with the Fault `WEB_LISTEN` where the address cannot be had and is not waited for. */
  static async open(options: PageOptions): Promise<WebPage> {
    const page = new WebPage(options);
    try {
      await page.#listen();
    } catch (error) {
      if (!options.waits || !isPassing(error)) throw error;
      page.#problem = error;
      options.dashboard.log.warn({ reason: error.message }, "the page cannot listen; trying again");
      page.#waiting = page.#wait();
    }
    return page;
  }

  /** Where it is; undefined while it does not listen. */
  get url(): string | undefined {
    return this.#dashboard?.url;
  }

  /** Why it does not listen. */
  get problem(): Fault | undefined {
    return this.#problem;
  }

  /** See `Dashboard.changed`. */
  changed(): void {
    this.#dashboard?.changed();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort(new Stopping());
    await this.#waiting;
    await this.#dashboard?.close();
  }

  async #listen(): Promise<void> {
    // Loaded only here: a third of all modules, and `sync` and `web: off` need none of them.
    const { Dashboard } = await import("../dashboard/dashboard.ts");
    const dashboard = await Dashboard.open(this.#options.dashboard);
    this.#dashboard = dashboard;
    this.#problem = undefined;
    await this.#options.listens(dashboard.url);
  }

  async #wait(): Promise<void> {
    const { signal } = this.#ending;
    const { log, clock } = this.#options.dashboard;
    for (let tries = 1; this.#problem; tries++) {
      try {
        await clock.sleep(backoffMs(RETRY, tries, this.#options.random), signal);
        await this.#listen();
        log.info({ web: this.url }, "the page listens now");
      } catch (error) {
        if (isAbortOf(signal, error)) return;
        if (!this.#dashboard && error instanceof Fault) this.#problem = error;
        // It listens, and only its address was not printed: that is a journal that fails, which is reported on its own.
        else this.#problem = undefined;
      }
    }
  }
}

function isPassing(error: unknown): error is Fault {
  return error instanceof Fault && PASSING.has(codeOf(error.cause) ?? "");
}

type Acting = {
  readonly config: Config;
  readonly parts: Parts;
  readonly rescan: (why: string) => void;
  /** Aborts when the daemon closes. */
  readonly closing: AbortSignal;
};

/** Each is done in the journal first, and the loops take it up from there. */
export function pageActions({
  config,
  parts: { journal, accounts, clock },
  rescan,
  closing,
}: Acting): DashboardOptions["actions"] {
  const setPaused = async (paused: boolean) => {
    await journal.setPaused(paused);
    await accounts.reread();
  };
  return {
    retry: async (chosen, anyway) => {
      const documents = await retryAll(journal, chosen, clock.now(), anyway);
      await probeNow(journal, clock.now());
      await accounts.reread();
      return documents;
    },
    adopt: async (shown) => {
      // Another archive may answer under this address.
      for (const { identity } of accounts.all) await identity.assert(closing);
      return adoptShown({ config, journal, clock }, shown, closing);
    },
    sendAsNew: (shown) => sendAsNew(journal, shown, clock.now()),
    pause: () => setPaused(true),
    resume: () => setPaused(false),
    rescan: async () => rescan("asked for on the page"),
  };
}
