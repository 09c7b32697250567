/**
 * What nobody is sending any more though it is under way: it was when this daemon's last run ended,
 * or when another one of the cluster was lost. It is in doubt from then on; nothing else may become of
 * it (invariant (4) of the life of a document).
 */
import type { Change, DocumentWriter, Sharing, WorkQueue } from "../journal/journal.ts";
import { aborted } from "../std/abort.ts";
import { Wakeup } from "../std/wakeup.ts";
import type { SyncContext } from "./context.ts";
import { loop } from "./loop.ts";

/** What it uses of the journal. */
type Roles = DocumentWriter & Sharing & WorkQueue;

/** Rows of one commit. */
const CHUNK = 500;

const PROBLEM = { code: "REPLY_LOST", message: "the daemon ended while it was under way" };

/** All that was under way is in doubt once this resolves. */
export async function doubtInterrupted({ journal, clock, log }: SyncContext<Roles>): Promise<void> {
  for (;;) {
    const rows = await journal.underWay(CHUNK);
    if (rows.length === 0) return;
    log.warn(
      { documents: rows.length },
      "documents were being sent when the last run ended; looking for them in the archive",
    );
    const at = clock.now();
    await journal.apply(
      rows.map(({ id }): Change => {
        const event = { type: "inDoubt", at, dueAt: at, problem: PROBLEM } as const;
        return { type: "event", id, event, from: ["uploading"] };
      }),
    );
  }
}

/** Looks again whenever another instance is lost, until `stopping` aborts. */
export async function followLost(
  context: SyncContext<Roles>,
  stopping: AbortSignal,
): Promise<never> {
  const { journal, ownership } = context;
  if (!ownership.isShared) return aborted(stopping);
  const wakeup = new Wakeup();
  const remove = journal.cluster.listen(({ type }) => {
    if (type === "others-lost") wakeup.notify();
  });
  try {
    return await loop(wakeup, context, stopping, async () => {
      await doubtInterrupted(context);
      return Number.POSITIVE_INFINITY;
    });
  } finally {
    remove();
  }
}
