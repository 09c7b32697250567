import type { Document } from "../../src/domain/document.ts";
import type {
  ArchiveRow,
  AttemptRow,
  Batch,
  Content,
  GateRow,
  HistoryRow,
  MirrorRow,
  PaceRow,
  WarnedRow,
} from "../../src/journal/journal.ts";
import type { Tombstone } from "../../src/journal/tidiness.ts";
import type { OutboxEntry } from "../../src/journal/outbox-entry.ts";
import { sumOf, type UsageBucket } from "../../src/journal/usage-bucket.ts";
import { type Assignment, UNCLEAN_KEYS } from "../../src/journal/cluster.ts";
import type { RawPath } from "../../src/std/raw-path.ts";

import type { InstanceRow, MemoryCluster } from "./memory-cluster.ts";

/** An attempt with its number, by which events find it. */
export type NumberedAttempt = AttemptRow & { readonly number: number };

/** The key of a path, or of a directory, of one mirror. */
export function placeKey(mirrorId: number, ...parts: RawPath[]): string {
  return [mirrorId, ...parts].join("\0");
}

/**
 * What a `MemoryJournal` remembers. Values are never changed in place, and every change goes
 * through `set` and `delete`, so that a call that breaks a rule halfway can be undone.
 */
export class MemoryStore {
  readonly archives = new Map<string, ArchiveRow>([["main", { id: 1, name: "main", url: null }]]);
  readonly mirrors = new Map<string, MirrorRow>();
  readonly documents = new Map<number, Document>();
  /** Ids of current rows, by place. */
  readonly current = new Map<string, number>();
  /** Fingerprints, by directory. */
  readonly directories = new Map<string, { mirrorId: number; dir: RawPath; print: string }>();
  readonly history = new Map<number, readonly HistoryRow[]>();
  readonly forgotten = new Map<number, { mirrorId: number; path: RawPath }>();
  readonly attempts = new Map<number, readonly NumberedAttempt[]>();
  readonly batches = new Map<string, Batch>();
  /** When the receipt was written, by batch. */
  readonly receipts = new Map<string, number>();
  readonly contents = new Map<number, readonly Content[]>();
  /** When the first run was over, by mirror. */
  readonly firstRunsOver = new Map<number, number>();
  readonly usageBuckets = new Map<string, UsageBucket>();
  /** Mirrors whose outcomes are kept, and the outcomes, by their numbers. */
  readonly tells = new Map<number, true>();
  readonly outboxEntries = new Map<number, OutboxEntry>();
  nextOutboxEntry = 1;
  /** By archive. */
  readonly gates = new Map<number, GateRow>();
  readonly paces = new Map<number, PaceRow>();
  /** What stays of dropped rows, by `archivedKey`, in the order they were dropped. */
  readonly tombstones = new Map<string, Tombstone & { readonly droppedAt: number }>();
  paused = false;
  readonly keyValues = new Map<string, string>();
  /** By archive. */
  readonly warned = new Map<number, WarnedRow>();
  /** Everybody who ever joined, and those who can be told about something. */
  readonly instances = new Map<number, InstanceRow>();
  readonly clusters = new Set<MemoryCluster>();
  readonly assignments = new Map<Assignment, number>();
  /** Whose a row is for a while, and who claimed it last. */
  readonly taken = new Map<number, { readonly by: number; readonly until: number }>();
  readonly senders = new Map<number, number>();
  /** Writes of every handle, and what is the next new row's id. */
  writes = 0;
  nextId = 1;
  #undo: (() => void)[] = [];

  /** All that is kept as it is now; the returned function takes the store back to it. */
  snapshot(): () => void {
    const { paused, nextOutboxEntry, nextId } = this;
    const maps = Object.values(this).filter(
      (value): value is Map<unknown, unknown> => value instanceof Map,
    );
    const copies = maps.map((map) => [map, new Map(map)] as const);
    return () => {
      for (const [map, copy] of copies) {
        map.clear();
        for (const [key, value] of copy) map.set(key, value);
      }
      Object.assign(this, { paused, nextOutboxEntry, nextId });
      this.writes += 1;
    };
  }

  /** Runs `change` whole or not at all. */
  transact<T>(change: () => T): T {
    this.#undo = [];
    const { nextId } = this;
    try {
      return change();
    } catch (error) {
      for (const step of this.#undo.toReversed()) step();
      this.nextId = nextId;
      throw error;
    }
  }

  set<K, V>(map: Map<K, V>, key: K, value: V): void {
    this.#remember(map, key);
    map.set(key, value);
  }

  delete<K, V>(map: Map<K, V>, key: K): void {
    this.#remember(map, key);
    map.delete(key);
  }

  #remember<K, V>(map: Map<K, V>, key: K): void {
    const was = map.get(key);
    this.#undo.push(() => {
      if (was === undefined) map.delete(key);
      else map.set(key, was);
    });
  }

  /** Writes a row and what finds it by its place. */
  put(document: Document): void {
    this.#forgetPlace(document.id);
    this.set(this.documents, document.id, document);
    if (!document.current) return;
    const { mirrorId, dir, name } = document;
    this.set(this.current, placeKey(mirrorId, dir, name), document.id);
  }

  /** Removes a row; what superseded it supersedes its predecessor instead. */
  remove(document: Document): void {
    this.#forgetPlace(document.id);
    this.delete(this.documents, document.id);
    this.#relink(document, document.supersedes);
  }

  /** What superseded the row does so no more. */
  unlink(document: Document): void {
    this.#relink(document, null);
  }

  #relink({ id }: Document, supersedes: number | null): void {
    for (const other of this.documents.values()) {
      if (other.supersedes === id) this.put({ ...other, supersedes });
    }
  }

  #forgetPlace(id: number): void {
    const was = this.documents.get(id);
    if (!was?.current) return;
    const key = placeKey(was.mirrorId, was.dir, was.name);
    if (this.current.get(key) === id) this.delete(this.current, key);
  }

  /** Adds to the usage bucket of its mirror and time. */
  usageBucket(more: UsageBucket): void {
    const { mirrorId, at } = more;
    const key = `${at} ${mirrorId}`;
    const known = this.usageBuckets.get(key);
    this.set(this.usageBuckets, key, { mirrorId, at, ...sumOf(known ? [known, more] : [more]) });
  }

  /** The archive of a mirror. */
  archiveOf(mirrorId: number): number {
    return [...this.mirrors.values()].find(({ id }) => id === mirrorId)?.archiveId ?? 1;
  }

  /** The key of a document that the archive of this mirror has. */
  archivedKey(mirrorId: number, documentId: number): string {
    return `${this.archiveOf(mirrorId)} ${documentId}`;
  }

  /** A daemon did not end in good order. */
  markUnclean(): void {
    for (const { id } of this.archives.values()) {
      const name = `${UNCLEAN_KEYS}${id}`;
      this.keyValues.set(name, this.keyValues.get(name) || "yes");
    }
  }

  /** Instances that are not lost, by their ids. */
  living(): InstanceRow[] {
    return [...this.instances.values()].filter(({ lost }) => !lost).sort((a, b) => a.id - b.id);
  }

  hasMirror(id: number): boolean {
    return [...this.mirrors.values()].some((mirror) => mirror.id === id);
  }
}
