import type { Document } from "../domain/document.ts";
import { Fault, invariant } from "../std/fault.ts";
import type {
  ArchiveRow,
  Batch,
  BatchProgress,
  Content,
  GateRow,
  MirrorRow,
  PaceRow,
  Unreceipted,
  WarnedRow,
} from "./journal.ts";
import type { OutboxEntry } from "./outbox-entry.ts";
import { type InState, outboxEntryOf, type OutboxEntryRow, progressOf } from "./row-shapes.ts";
import { SqlReading } from "./sql-reading.ts";
import type { UsageBucket } from "./usage-bucket.ts";
import { problemOf } from "./columns.ts";

type OfBatch = InState & { readonly batch: string };

/** What SQLite and PostgreSQL answer and keep by the same statements; see `Journal`. */
export abstract class SqlJournal extends SqlReading {
  archives(): Promise<ArchiveRow[]> {
    return this.driver.rows(this.queries.archives, []);
  }

  async archive(name: string, url: string): Promise<ArchiveRow> {
    const { makeArchive, moveArchive } = this.queries;
    await this.driver.write([makeArchive, [name, url]], [moveArchive, [name, url]]);
    const row = (await this.archives()).find((archive) => archive.name === name);
    invariant(row, `archive ${name} was just made`);
    return row;
  }

  async retireArchive(archiveId: number, suffix: string): Promise<void> {
    const values = [archiveId, suffix];
    const { retireArchive, retireMirrors } = this.queries;
    await this.driver.write([retireArchive, values], [retireMirrors, values]);
  }

  async mirror(name: string, source: string): Promise<MirrorRow> {
    const { archiveId } = this;
    const known = await this.#mirror(name);
    if (known?.source === source && known.archiveId === archiveId) return known;
    const { makeMirror, lockMirror, bindMirror, bindDocuments, moveMirror } = this.queries;
    await this.driver.write(
      [makeMirror, [name, source, archiveId]],
      [lockMirror, [name]],
      [bindMirror, [name, archiveId]],
      [bindDocuments, [name, archiveId]],
      [moveMirror, [name, source, archiveId]],
    );
    const made = await this.#mirror(name);
    invariant(made, `mirror ${name} was just made`);
    if (made.archiveId !== archiveId) throw archiveChanged(made, await this.archives(), archiveId);
    return made;
  }

  mirrors(): Promise<MirrorRow[]> {
    return this.driver.rows(this.queries.mirrors, []);
  }

  renameMirror(mirrorId: number, name: string): Promise<void> {
    return this.#write(this.queries.renameMirror, mirrorId, name);
  }

  setDevice(mirrorId: number, device: string): Promise<void> {
    return this.#write(this.queries.setDevice, mirrorId, device);
  }

  async firstRuns(): Promise<number[]> {
    const values = [this.archiveId, Number(this.driver.isCopy)];
    const rows = await this.driver.rows<{ id: number }>(this.queries.firstRuns, values);
    return rows.map(({ id }) => id);
  }

  endFirstRun(mirrorId: number, at: number): Promise<void> {
    return this.#write(this.queries.endFirstRun, mirrorId, at);
  }

  async setContents(id: number, contents: readonly Content[]): Promise<void> {
    const { dropContents, addContent } = this.queries;
    const added = contents.map(({ documentId, filename, sizeBytes, pages }, position) => {
      return [addContent, [id, position, documentId, filename, sizeBytes, pages]] as const;
    });
    await this.driver.write([dropContents, [id]], ...added);
  }

  async lastBatch(mirrorId: number): Promise<Batch | undefined> {
    return (await this.driver.rows<Batch>(this.queries.lastBatch, [mirrorId]))[0];
  }

  async latestBatches(limit: number): Promise<BatchProgress[]> {
    const batches = await this.driver.rows<Batch>(this.queries.latestBatches, [limit]);
    const states = await this.#statesOf(batches);
    return batches.map((batch) => progressOf(batch, states.get(batch.id) ?? []));
  }

  async unreceipted(after: number, limit: number): Promise<Unreceipted> {
    type Row = Batch & { number: number; begun: 1 | null; open: 1 | null };
    const values = [after, this.archiveId, limit];
    const rows = await this.driver.durableRows<Row>(this.queries.openBatches, values);
    const closed = rows.filter(({ begun, open }) => begun && !open);
    return {
      batches: closed.map(({ number: _number, begun: _begun, open: _open, ...batch }) => batch),
      next: rows.length < limit ? null : (rows.at(-1)?.number ?? null),
    };
  }

  async setReceipt(batch: string, documents: number, at: number): Promise<boolean> {
    const { lockBatch, setReceipt } = this.queries;
    const values = [batch, documents, at];
    return (await this.driver.write([lockBatch, [batch]], [setReceipt, values])) > 0;
  }

  inBatch(batch: string, limit: number): Promise<Document[]> {
    return this.documents(this.queries.inBatch, [batch, limit]);
  }

  usageBuckets(from: number, to: number): Promise<UsageBucket[]> {
    return this.driver.rows(this.queries.usageBuckets, [from, to]);
  }

  async pendingOver(mirrorId: number, pages: number): Promise<number> {
    type Row = { readonly documents: number };
    const [row] = await this.driver.rows<Row>(this.queries.pendingOver, [mirrorId, pages]);
    return row?.documents ?? 0;
  }

  pagesUsed(from: number, to: number): Promise<{ mirrorId: number; pages: number }[]> {
    return this.driver.rows(this.queries.pagesUsed, [from, to]);
  }

  keepOutboxEntries(mirrorIds: readonly number[]): Promise<void> {
    return this.#write(this.queries.keepOutboxEntries, mirrorIds);
  }

  /** Durable before it is reported. */
  async outboxEntries(mirrorId: number, now: number, limit: number): Promise<OutboxEntry[]> {
    const values = [mirrorId, now, limit];
    const rows = await this.driver.durableRows<OutboxEntryRow>(this.queries.outboxEntries, values);
    return rows.map(outboxEntryOf);
  }

  undelivered(): Promise<{ mirrorId: number; outboxEntries: number }[]> {
    return this.driver.rows(this.queries.undelivered, []);
  }

  endOutboxEntry(number: number): Promise<void> {
    return this.#write(this.queries.endOutboxEntry, number);
  }

  putOffOutboxEntry(number: number, tries: number, dueAt: number): Promise<void> {
    return this.#write(this.queries.putOffOutboxEntry, number, tries, dueAt);
  }

  pullInOutboxEntries(mirrorId: number, laterThan: number, dueAt: number): Promise<void> {
    return this.#write(this.queries.pullInOutboxEntries, mirrorId, laterThan, dueAt);
  }

  async gate(): Promise<GateRow> {
    return gateOf(await this.#archive<GateColumns>(this.queries.gate));
  }

  setGate({ closedAt, problem, probes, nextProbeAt }: GateRow): Promise<void> {
    const why = [problem?.code ?? null, problem?.message ?? null];
    return this.#write(this.queries.setGate, this.archiveId, closedAt, ...why, probes, nextProbeAt);
  }

  async pace(): Promise<PaceRow> {
    return paceOf(await this.#archive<PaceColumns>(this.queries.pace));
  }

  setPace({ limit, pausedAt, pausedUntil, problem }: PaceRow): Promise<void> {
    const why = [problem?.code ?? null, problem?.message ?? null];
    return this.#write(this.queries.setPace, this.archiveId, limit, pausedAt, pausedUntil, ...why);
  }

  async warned(): Promise<WarnedRow> {
    return (await this.#archive<WarnedRow>(this.queries.warned)) ?? { from: null, level: 0 };
  }

  setWarned({ from, level }: WarnedRow): Promise<void> {
    return this.#write(this.queries.setWarned, this.archiveId, from, level);
  }

  async paused(): Promise<boolean> {
    const rows = await this.driver.rows<{ paused: number }>(this.queries.paused, []);
    return rows[0]?.paused === 1;
  }

  setPaused(paused: boolean): Promise<void> {
    return this.#write(this.queries.setPaused, Number(paused));
  }

  async keyValue(name: string): Promise<string | null> {
    const rows = await this.driver.rows<{ text: string }>(this.queries.keyValue, [name]);
    return rows[0]?.text ?? null;
  }

  setKeyValue(name: string, text: string): Promise<void> {
    return this.#write(this.queries.setKeyValue, name, text);
  }

  async #mirror(name: string): Promise<MirrorRow | undefined> {
    return (await this.driver.rows<MirrorRow>(this.queries.mirror, [name]))[0];
  }

  /** Documents of these batches by their state. */
  async #statesOf(batches: readonly Batch[]): Promise<Map<string, OfBatch[]>> {
    if (batches.length === 0) return new Map();
    const ids = batches.map(({ id }) => id);
    const rows = await this.driver.rows<OfBatch>(this.queries.ofBatches, [ids]);
    return Map.groupBy(rows, ({ batch }) => batch);
  }

  /** A row of this archive. */
  async #archive<Row extends object>(text: string): Promise<Row | undefined> {
    return (await this.driver.rows<Row>(text, [this.archiveId]))[0];
  }

  async #write(text: string, ...values: readonly unknown[]): Promise<void> {
    await this.driver.write([text, values]);
  }
}

/** A gate's columns. Times are epoch ms; `closedAt` null: it is open. */
type GateColumns = {
  readonly closedAt: number | null;
  readonly code: string | null;
  readonly message: string | null;
  readonly probes: number;
  readonly nextProbeAt: number | null;
};

/** A pace's columns. Times are epoch ms; `limit` null: uploads at a time as configured, `code` null: no problem. */
type PaceColumns = Omit<PaceRow, "problem"> & Pick<GateColumns, "code" | "message">;

/** The gate of an archive's row; open where there is none. */
function gateOf(row: GateColumns | undefined): GateRow {
  const { closedAt = null, code, message, probes = 0, nextProbeAt = null } = row ?? {};
  return { closedAt, problem: problemOf(code, message), probes, nextProbeAt };
}

/** The pace of an archive's row; as configured where there is none. */
function paceOf(row: PaceColumns | undefined): PaceRow {
  const { limit = null, pausedAt = null, pausedUntil = null, code, message } = row ?? {};
  return { limit, pausedAt, pausedUntil, problem: problemOf(code, message) };
}

/** A mirror cannot go on in another archive: nothing there is what its rows speak of. */
function archiveChanged(
  mirror: Pick<MirrorRow, "name" | "archiveId">,
  archives: readonly ArchiveRow[],
  archiveId: number,
): Fault {
  const nameOf = (id: number) => archives.find((archive) => archive.id === id)?.name ?? `#${id}`;
  const was = nameOf(mirror.archiveId);
  return new Fault(
    "ARCHIVE_CHANGED",
    `mirror ${mirror.name}: its documents were sent to the archive ${was}, and the configuration says ${nameOf(archiveId)}`,
    `Say archive: ${was} again; or give the mirror another name, and all its files are sent to the other archive.`,
  );
}
