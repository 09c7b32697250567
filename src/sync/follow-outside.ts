import type { ArchiveJournal, DocumentWriter, Outbox, Sharing } from "../journal/journal.ts";
import { Wakeup } from "../std/wakeup.ts";
import type { SyncContext } from "./context.ts";
import { loop } from "./loop.ts";
import { ClockWatch } from "./clock-skew.ts";

/** Soon enough for anyone who types `retry` and looks, and rare enough to go on for years. */
const LOOK_MS = 1_000;

/** Daemons that share a journal find work for one another. */
const SHARED_LOOK_MS = 500;

/**
 * Calls `reread` when another process has written to the journal since it was at `known`, as `retry`, `pause`
 * and `resume` on the command line do, and when the clock was set back. `look` is called
 * each time it looks for that.
 */
export function followOutside(
  context: SyncContext<ArchiveJournal & DocumentWriter & Outbox & Sharing>,
  known: number,
  { reread, look }: Record<"reread" | "look", () => Promise<void>>,
  signal: AbortSignal,
): Promise<never> {
  const { journal, ownership } = context;
  const watch = new ClockWatch(context);
  const lookMs = ownership.isShared ? SHARED_LOOK_MS : LOOK_MS;
  let before = known;
  return loop(new Wakeup(), context, signal, async () => {
    const now = await journal.outsideWrites();
    const setBack = ownership.account && (await watch.look());
    if (now !== before || setBack) await reread();
    before = now;
    await look();
    return lookMs;
  });
}
