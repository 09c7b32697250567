import { archiveSettings } from "../archive/archive-settings.ts";
import type { Signer } from "../archive/credentials.ts";
import type { Config, Mirror } from "../config/config.ts";
import type { Journal } from "../journal/journal.ts";
import type { MirrorRow } from "../journal/rows.ts";
import type { DaemonCalls, MirrorStatus } from "../reader/protocol.ts";
import { Reader } from "../reader/reader.ts";
import { readMounts } from "../source/mounts.ts";
import type { Clock, Random } from "../std/clock.ts";
import type { Log } from "../std/log.ts";
import type { Ownership } from "../sync/ownership.ts";
import type { Sync } from "../sync/sync.ts";
import { readerMirror } from "../sync/reader-mirror.ts";

type ReaderOptions = {
  readonly config: Config;
  readonly log: Log;
  readonly clock: Clock;
  readonly random: Random;
  /** A reader was started again; told with the names of its mirrors. */
  readonly readerRestarted?: (mirrors: readonly string[]) => void;
};

/** What the readers of an archive have in common. */
export type ForReaders = {
  readonly journal: Journal;
  readonly ownership: Ownership;
  /** The loops; readers report nothing before they are there. */
  readonly ready: Promise<Sync>;
  readonly signer: Signer;
};

/** A mirror, and its row in the journal. */
type Hosted = { readonly mirror: Mirror; readonly row: MirrorRow };

/** Starts the reader of mirrors whose sources are on one file system, and of one archive. */
export function openReader(
  name: string,
  hosted: readonly Hosted[],
  { config, log, clock, random, readerRestarted }: ReaderOptions,
  { journal, ownership, ready, signer }: ForReaders,
): Reader {
  // Once there are loops to tell; what goes wrong then ends them.
  const tell = (told: (sync: Sync) => Promise<void>) =>
    void ready.then((sync) => told(sync).catch((error) => sync.fail(error)));
  return Reader.open({
    name,
    mirrors: async (only) => {
      // Nothing may be reported before a daemon can journal it.
      await ready;
      const asHosted = ({ row, mirror }: Hosted) =>
        readerMirror(journal, row, mirror, readMounts(), ownership);
      const asked = hosted.filter(({ row }) => only === undefined || row.id === only);
      return Promise.all(asked.map(asHosted));
    },
    archive: () => ({
      ...archiveSettings(config.archive, config.upload.concurrency),
      stepwise: ownership.isShared,
    }),
    cluster: journal.cluster,
    daemon: callsTo(ready),
    sign: async (...request) => signer.sign(...request),
    started: (statuses, restart) => {
      if (restart) readerRestarted?.(hosted.map(({ mirror }) => mirror.name));
      tell(async (sync) => {
        for (const status of statuses) await sync.told(status);
        if (restart) for (const { row } of hosted) sync.rescan("reader restarted", row.id);
      });
    },
    down: (what) =>
      tell(async (sync) => {
        for (const { row } of hosted) await sync.told(offline(row, what));
      }),
    silence: () => void ready.then((sync) => sync.readerSilence()),
    clock,
    random,
    log,
  });
}

/** What is known of a source without a reader; the next reader says more, once it gets through. */
function offline({ id, source }: MirrorRow, what: string): MirrorStatus {
  const why = `${source} ${what}`;
  return { mirrorId: id, online: false, why, device: null, mode: "off", unwatched: null };
}

/** The loops are opened after the readers; what readers say before that waits. */
function callsTo(ready: Promise<Sync>): DaemonCalls {
  return {
    listing: async (...all) => (await ready).readerCalls.listing(...all),
    hint: async (...all) => (await ready).readerCalls.hint(...all),
    vanished: async (...all) => (await ready).readerCalls.vanished(...all),
    allowance: async (...all) => (await ready).readerCalls.allowance(...all),
    sent: async (...all) => (await ready).readerCalls.sent(...all),
    doubt: async (...all) => (await ready).readerCalls.doubt(...all),
    status: async (...all) => (await ready).readerCalls.status(...all),
  };
}
