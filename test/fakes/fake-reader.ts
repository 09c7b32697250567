import type { Outcome } from "../../src/domain/outcome.ts";
import type { Seen } from "../../src/domain/document.ts";
import { ChannelClosed } from "../../src/reader/rpc-channel.ts";
import type { HookEnd, HookOrder, Look, SendOrder } from "../../src/reader/protocol.ts";
import type { Reader } from "../../src/reader/reader.ts";
import type { Acted, ArchivedFile, Inspection, ScanReport } from "../../src/source/source.ts";
import type { RawPath } from "../../src/std/raw-path.ts";

/** The part of a reader that the loops use. */
type Used = Pick<
  Reader,
  "pid" | "silent" | "host" | "inspect" | "look" | "send" | "act" | "scan" | "unlearn" | "hook"
>;

type Whole = Extract<Inspection, { kind: "whole" }>;

/** A file as the reader finds it. */
export type FakeFile = {
  readonly seen: Seen;
  readonly digest: string;
  readonly completeness?: Whole["completeness"];
  readonly beginning?: Whole["digest"];
  readonly pages?: number;
  readonly bornAt?: number;
};

/**
 * A reader without a process. Files are what a test puts in; uploads are answered by `onSend`,
 * after-actions by `onAct`, scans by `onScan`. Everything it was asked to do is kept.
 */
export class FakeReader implements Used {
  /** Undefined while the process is down. */
  pid: number | undefined = 4711;
  silent = false;
  readonly files = new Map<string, FakeFile | Inspection>();
  /** What files are that wait for what is to stand next to them. */
  readonly alone = new Map<string, FakeFile>();
  /** Paths that find the file of another one, as on a share that cares for no letter case. */
  readonly otherwiseSpelt = new Map<string, string>();
  readonly sent: SendOrder[] = [];
  readonly inspected: string[] = [];
  readonly acted: string[] = [];
  /** What was to be there where it acted. */
  readonly actedOn: ArchivedFile[] = [];
  scans = 0;
  onSend: (order: SendOrder, cut: AbortSignal) => Outcome | Promise<Outcome>;
  onAct: (path: RawPath) => Acted | Promise<Acted> = () => ({ kind: "done" });
  /** What hooks were run with. */
  readonly hooked: HookOrder[] = [];
  onHook: (order: HookOrder) => HookEnd | Promise<HookEnd> = () => ({ output: Buffer.from("{}") });
  onScan: () => ScanReport | Promise<ScanReport> = () => emptyScan();
  readonly #cut = new Set<keyof Used>();

  /** `firstDocumentId`: what the archive answers the first upload with; then one more each. */
  constructor(firstDocumentId = 1_000) {
    let documentId = firstDocumentId;
    this.onSend = () => ({ kind: "accepted", documentId: documentId++, status: "UPLOADED" });
  }

  /** As what the loops are given; the class itself holds a process. */
  get asReader(): Reader {
    return this as Used as Reader;
  }

  /** Mirrors that it was to host in another way. */
  readonly hosted: number[] = [];

  async host(mirrorId: number): Promise<void> {
    this.hosted.push(mirrorId);
  }

  /** Directories that are to be reported again. */
  readonly unlearned: RawPath[] = [];

  async unlearn(_mirrorId: number, dirs: readonly RawPath[]): Promise<void> {
    this.unlearned.push(...dirs);
  }

  /** The next such call finds the reader dying under it. */
  cutNext(call: keyof Used): void {
    this.#cut.add(call);
  }

  async inspect(
    _mirrorId: number,
    files: Parameters<Used["inspect"]>[1],
    { alone = false }: { alone?: boolean } = {},
  ): Promise<Inspection[]> {
    this.#assertUncut("inspect");
    return files.map(({ path, seen, sentBytes }) => {
      this.inspected.push(path);
      const file = (alone ? this.alone.get(path) : undefined) ?? this.files.get(path);
      if (!file) return { kind: "gone" };
      if ("kind" in file) return file;
      if (seen && seen.stamp !== file.seen.stamp) return { kind: "changed", seen: file.seen };
      const { beginning, ...rest } = file;
      const begins =
        beginning !== undefined && sentBytes !== undefined
          ? { beginning: { digest: beginning, pages: 1 } }
          : {};
      return { kind: "whole", completeness: "complete", ...rest, ...begins };
    });
  }

  async look(_mirrorId: number, paths: readonly RawPath[], spelt = false): Promise<Look[]> {
    this.#assertUncut("look");
    return paths.map((path) => {
      const other = spelt ? undefined : this.otherwiseSpelt.get(path);
      const file = this.files.get(other ?? path);
      return file && "seen" in file ? file.seen : null;
    });
  }

  async send(order: SendOrder, cut: AbortSignal): Promise<Outcome> {
    if (this.pid === undefined) return { kind: "released" };
    this.sent.push(order);
    return this.onSend(order, cut);
  }

  async act(_mirrorId: number, path: RawPath, expected: ArchivedFile): Promise<Acted> {
    this.#assertUncut("act");
    if (this.pid === undefined) throw new ChannelClosed("the reader is not up");
    this.acted.push(path);
    this.actedOn.push(expected);
    return this.onAct(path);
  }

  async hook(order: HookOrder): Promise<HookEnd> {
    this.#assertUncut("hook");
    this.hooked.push(order);
    return this.onHook(order);
  }

  async scan(): Promise<ScanReport> {
    this.scans += 1;
    this.#assertUncut("scan");
    return this.onScan();
  }

  #assertUncut(call: keyof Used): void {
    if (this.#cut.delete(call)) throw new ChannelClosed("the reader ended: SIGKILL");
  }
}

const NO_LINKS = { paths: [], number: 0 };

/** A scan that found nothing out of the ordinary. */
export function emptyScan(set: Partial<ScanReport> = {}): ScanReport {
  return {
    directories: 1,
    files: 0,
    vanished: [],
    unreadable: [],
    leftOut: 0,
    links: NO_LINKS,
    ...set,
  };
}
