import type { Mirror } from "../config/config.ts";
import type { DaemonCalls, MirrorStatus } from "../reader/protocol.ts";
import { Reader } from "../reader/reader.ts";
import { comes, START_MS } from "../reader/liveness.ts";
import { mountOf, readMounts } from "../source/mounts.ts";
import type { Listing } from "../source/source.ts";
import type { Clock, Random } from "../std/clock.ts";
import { Fault } from "../std/fault.ts";
import { silentLog } from "../std/log.ts";
import { assertOpenFiles } from "../std/open-files.ts";
import { sourceSettings } from "../sync/reader-mirror.ts";

/** A source on a dead share never answers. How long the process takes to start is another matter. */
const PATIENCE_MS = 15_000;

/** A reader of a command reports to nobody. */
export const UNHEARD: DaemonCalls = {
  listing: async () => true,
  hint: async () => {},
  vanished: async () => {},
  allowance: async () => {},
  sent: async () => {},
  doubt: async () => {},
  status: async () => {},
};

export type StatReaderOptions = {
  readonly clock: Clock;
  readonly random: Random;
  /** Told, and waited for, for every directory of a scan. */
  readonly listing?: (listing: Listing) => Promise<void>;
};

/**
 * A reader process that only looks at one mirror's source, sends nothing and remembers nothing: the
 * command line's process never touches a source itself, since a dead share would hang it for good.
 */
export class StatReader implements AsyncDisposable {
  readonly reader: Reader;
  /** What the reader knows the mirror by. */
  readonly mirrorId: number;
  /** The source as it was at the start. */
  readonly status: MirrorStatus;

  private constructor(reader: Reader, mirrorId: number, status: MirrorStatus) {
    this.reader = reader;
    this.mirrorId = mirrorId;
    this.status = status;
  }

  /** Rejects with SOURCE_OFFLINE when the source does not answer in time. */
  static async open(
    mirror: Mirror,
    row: { readonly id: number; readonly device: string | null },
    { clock, random, listing = async () => {} }: StatReaderOptions,
  ): Promise<StatReader> {
    assertOpenFiles();
    const begun = Promise.withResolvers<void>();
    const opened = Promise.withResolvers<MirrorStatus | undefined>();
    const settings = sourceSettings(mirror, mountOf(mirror.source, readMounts()), row.device);
    const reader = Reader.open({
      name: mirror.name,
      mirrors: async () => [{ id: row.id, settings, mode: "off", tidies: false, known: [] }],
      archive: () => null,
      daemon: {
        ...UNHEARD,
        listing: async (_, found) => {
          await listing(found);
          return true;
        },
      },
      begun: () => begun.resolve(),
      started: ([status]) => opened.resolve(status),
      clock,
      random,
      log: silentLog,
    });
    const isOpen =
      (await comes(begun.promise, START_MS, clock)) &&
      (await comes(
        opened.promise.then(() => {}),
        PATIENCE_MS,
        clock,
      ));
    const status = isOpen ? await opened.promise : undefined;
    if (status) return new StatReader(reader, row.id, status);
    await reader.close();
    const message = `${mirror.source} does not answer (${PATIENCE_MS / 1000} s)`;
    throw new Fault("SOURCE_OFFLINE", message, "Check the share or disk that it is on.");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.reader.close();
  }
}
