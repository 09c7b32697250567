import type { Health } from "../dashboard/dashboard.ts";
import type { Mirror } from "../config/config.ts";
import { type Document, SENT_STATES, type State } from "../domain/document.ts";
import type { Clock } from "../std/clock.ts";
import type { LiveAccount } from "./bind-archives.ts";
import type { StatusReport } from "../report/status.ts";

/** A document that is ready and is not taken up for this long means that work has stopped. */
const STALLED_MS = 15 * 60_000;
/** While something is being sent: large files over a slow line may be all there is for a while. */
const STALLED_SENDING_MS = 4 * STALLED_MS;

const TAKEN_UP: readonly State[] = [...SENT_STATES, "held", "failed"];

/** What is another one once work of this mirror has moved; compared, and nothing else. */
export type Head = { readonly id: number; readonly mirrorId: number };

/**
 * The head of a mirror whose longest ready document is `oldest`: that document, where it is the
 * next to be sent; else how many were taken up, as it may rightly wait for long. None, where some of
 * what is ready has to wait for pages.
 */
export function headOf(
  oldest: Document,
  { name, rules: { order } }: Pick<Mirror, "name" | "rules">,
  { mirrors, pages: { allowance } }: Pick<StatusReport, "mirrors" | "pages">,
): Head[] {
  const { mirrorId } = oldest;
  const documents = mirrors.find((mirror) => mirror.name === name)?.documents;
  if (allowance?.keeps.mirrors.includes(name)) return [];
  if (order === "oldest" && allowance === null) return [oldest];
  // Taken up, whatever became of it.
  const gone = documents ? TAKEN_UP.reduce((sum, state) => sum + documents[state], 0) : 0;
  return [{ id: -1 - gone, mirrorId }];
}

/** What the daemon sees of its own work. */
export type Work = {
  readonly status: Pick<StatusReport, "paused" | "gate" | "sending" | "mirrors" | "pages">;
  /** Of each mirror that has something to send, and whose source is there. */
  readonly heads: readonly Head[];
  /** Documents that are claimed or being sent. */
  readonly underWay: number;
  /** The archive cannot be reached. */
  readonly isOut: boolean;
  /** Some source has been asked whether it is there. */
  readonly started: boolean;
  /** Milliseconds by a clock that is never set. */
  readonly now: number;
};

/**
 * Healthy means that work is moving, not that the process is up: of some mirror the document that
 * is ready longest is another one than before, or there is a reason that sending waits for. How
 * long it has been ready says nothing: behind a hundred thousand others that takes its time.
 */
export class HealthWatch {
  /** The document that was ready longest, by mirror. */
  readonly #heads = new Map<number, number>();
  /** When something was last seen to move. */
  #movedAt = 0;

  /** Looks at the work as it is now; what it is compared with are the looks before. */
  look(work: Work): Health {
    const { started: ready } = work;
    const stuckMs = this.#stuckMs(work);
    if (isWaiting(work) || stuckMs <= (work.underWay > 0 ? STALLED_SENDING_MS : STALLED_MS))
      return { healthy: true, ready, why: ready ? "ok" : "starting" };
    const minutes = Math.floor(stuckMs / 60_000);
    const why = `nothing has moved for ${minutes} minutes, and documents are ready`;
    return { healthy: false, ready, why };
  }

  /** For how long nothing has moved although something is ready; 0 while nothing is. */
  #stuckMs(work: Work): number {
    const { heads, now } = work;
    const waits = isWaiting(work);
    for (const mirrorId of this.#heads.keys()) {
      if (heads.some((head) => head.mirrorId === mirrorId)) continue;
      this.#heads.delete(mirrorId);
      this.#movedAt = now;
    }
    for (const { id, mirrorId } of heads) {
      const known = this.#heads.get(mirrorId);
      if (known === id && !waits) continue;
      this.#heads.set(mirrorId, id);
      this.#movedAt = now;
    }
    return heads.length === 0 ? 0 : now - this.#movedAt;
  }
}

/** Sending waits for what no restart changes. */
function isWaiting({ status: { paused, gate, sending }, isOut }: Work): boolean {
  return paused || gate !== null || sending.waits !== null || isOut;
}

/**
 * The health of all accounts together: as bad as the worst, and ready once one of them is. Each is
 * watched on its own, in `watches` by its archive's name: one that rightly waits hides no other.
 */
export async function healthOf(
  accounts: readonly LiveAccount[],
  watches: Map<string, HealthWatch>,
  report: StatusReport,
  clock: Clock,
): Promise<Health> {
  const all = await Promise.all(
    accounts.map(async (account) => {
      const { name } = account.config.archive;
      const watch = watches.get(name) ?? new HealthWatch();
      watches.set(name, watch);
      const health = watch.look(await workOf(account, report, clock));
      const why =
        accounts.length > 1 && health.why !== "ok" ? `${name}: ${health.why}` : health.why;
      return { ...health, why };
    }),
  );
  const told = all.find(({ healthy }) => !healthy) ?? all.find(({ why }) => why !== "ok") ?? all[0];
  return {
    healthy: all.every(({ healthy }) => healthy),
    ready: all.some(({ ready }) => ready),
    why: told?.why ?? "ok",
  };
}

async function workOf(
  { journal, sync, config }: LiveAccount,
  report: StatusReport,
  clock: Clock,
): Promise<Work> {
  const now = clock.now();
  const scanSchedulers = [...sync.scanSchedulers];
  const own = report.archives.find(({ name }) => name === config.archive.name);
  const pages = { ...report.pages, allowance: own?.allowance ?? null };
  const { gate, sending } = own ?? report;
  const status = { ...report, gate, sending, pages };
  const heads: Head[] = [];
  for (const [mirrorId, { state, mirror }] of scanSchedulers) {
    if (!state.status?.online) continue;
    const [oldest] = await journal.due({ state: "pending", now, limit: 1, mirrorId });
    if (oldest) heads.push(...headOf(oldest, mirror.settings, status));
  }
  return {
    status,
    heads,
    underWay: sync.underWay,
    isOut: sync.outage !== undefined,
    started:
      scanSchedulers.length === 0 ||
      scanSchedulers.some(([, { state }]) => state.status !== undefined),
    now: clock.monotonic(),
  };
}
