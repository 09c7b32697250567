/**
 * What nobody is sending any more though it is under way: it was when this daemon's last run ended,
 * or when another one of the crew was lost. It is in doubt from then on; nothing else may become of
 * it (invariant (4) of the life of a document).
 */
import type { Change } from "../journal/journal.ts";
import { aborted } from "../std/abort.ts";
import { Bell } from "../std/bell.ts";
import type { SyncContext } from "./context.ts";
import { loop } from "./loop.ts";

/** Rows of one commit. */
const CHUNK = 500;

const TROUBLE = { code: "REPLY_LOST", message: "the daemon ended while it was under way" };

/** All that was under way is in doubt once this resolves. */
export async function doubtInterrupted({ journal, clock, log }: SyncContext): Promise<void> {
  for (;;) {
    const rows = await journal.underWay(CHUNK);
    if (rows.length === 0) return;
    log.warn({ documents: rows.length }, "under way when the last run ended; asking the archive");
    const at = clock.now();
    await journal.apply(
      rows.map(({ id }): Change => {
        const event = { type: "replyLost", at, dueAt: at, trouble: TROUBLE } as const;
        return { type: "event", id, event, from: ["uploading"] };
      }),
    );
  }
}

/** Looks again whenever another member is lost, until `stopping` aborts. */
export async function followLost(context: SyncContext, stopping: AbortSignal): Promise<never> {
  const { journal, duties } = context;
  if (!duties?.isShared) return aborted(stopping);
  const bell = new Bell();
  const remove = journal.crew.listen(({ type }) => {
    if (type === "others-lost") bell.ring();
  });
  try {
    return await loop(bell, context, stopping, async () => {
      await doubtInterrupted(context);
      return Number.POSITIVE_INFINITY;
    });
  } finally {
    remove();
  }
}
