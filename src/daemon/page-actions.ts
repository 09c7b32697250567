/** What a user may ask for on the page. */
import type { Config } from "../config/config.ts";
import type { DashboardOptions } from "../dashboard/dashboard.ts";
import { adoptShown, sendAsNew } from "../sync/first-run-choice.ts";
import { probeNow, retryAll } from "../sync/retry.ts";
import type { Parts } from "./parts.ts";

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
