import type { Mirror } from "../../src/config/config.ts";
import type { Journal } from "../../src/journal/journal.ts";
import type { DaemonCalls, MirrorStatus } from "../../src/reader/protocol.ts";
import type { Reader } from "../../src/reader/reader.ts";
import type { Clock } from "../../src/std/clock.ts";
import { Wakeup } from "../../src/std/wakeup.ts";
import type { LiveMirror } from "../../src/sync/context.ts";
import type { Sync } from "../../src/sync/sync.ts";
import type { Dice } from "./dice.ts";
import type { Life } from "./life.ts";
import type { SimulatedArchive } from "./simulated-archive.ts";
import { SimulatedReader, type Source, type UsedReader } from "./simulated-reader.ts";

/** A source with its settings, anyone who reads it just now. */
export type Place = {
  /** Another one where the mirror is made again under another name and source. */
  mirrorId: number;
  settings: Mirror;
  /** It was made again: what it has sent is another mirror's, known by its content alone. */
  isMoved: boolean;
  /** It is out of the configuration. */
  isOut: boolean;
  /** Another mirror has copies of its files, which may stand for them where it is not configured any more. */
  isCopied: boolean;
  /** Where it was carried before, and until when by the monotonic clock. */
  readonly formerTargets: { readonly path: string; readonly until: number }[];
  /** When its hook, or what becomes of unfinished files, was changed, by the monotonic clock. */
  readonly rulesChanged: number[];
  readonly source: Source;
};

type Outside = {
  readonly life: Life;
  readonly clock: Clock;
  readonly dice: Dice;
  readonly archive: SimulatedArchive;
  readonly journal: Journal;
  readonly tidies: () => boolean;
  readonly mayEnd: () => Promise<boolean>;
  readonly sabotage: ((reader: UsedReader, source: Source) => UsedReader) | undefined;
};

/** A mirror of one life of the daemon, and the reader of its source. */
export async function liveMirror(
  { mirrorId, settings, source }: Place,
  { journal, sabotage, ...parts }: Outside,
  ready: Promise<Sync>,
  started: (status: MirrorStatus, restart: boolean) => void,
): Promise<{ reader: SimulatedReader; mirror: LiveMirror }> {
  const row = await journal.mirror(settings.name, settings.source);
  const daemon: DaemonCalls = {
    listing: async (...all) => (await ready).readerCalls.listing(...all),
    hint: async (...all) => (await ready).readerCalls.hint(...all),
    vanished: async (...all) => (await ready).readerCalls.vanished(...all),
    allowance: async (...all) => (await ready).readerCalls.allowance(...all),
    sent: async (...all) => (await ready).readerCalls.sent(...all),
    doubt: async (...all) => (await ready).readerCalls.doubt(...all),
    status: async (...all) => (await ready).readerCalls.status(...all),
  };
  const known = () => journal.directories(mirrorId);
  const reader = new SimulatedReader({
    ...parts,
    source,
    mirrorId,
    daemon,
    known,
    started,
  });
  const used = sabotage?.(reader, source) ?? reader;
  const settling = { small: new Wakeup(), large: new Wakeup() };
  return { reader, mirror: { row, settings, reader: used as Reader, settling } };
}
