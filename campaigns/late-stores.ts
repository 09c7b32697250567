/**
 * When the archive stored what it was sent. A document that it stores later than the doubt's window
 * after the reply was lost is sent again, as is documented: what breaks a promise and what was only
 * a machine too slow for its window are told apart here.
 */
import type { StoredDocument, StoredUpload } from "../src/embedded-archive/embedded-archive.ts";
import type { AttemptRow, HistoryRow } from "../src/journal/journal.ts";
import { type Doubled, rowsOf } from "../test/fixtures/auditor.ts";
import { readJournal } from "../test/fixtures/read-journal.ts";
import type { World } from "../test/fixtures/world.ts";

/** What became of one attempt to send a document, as the journal tells it. */
type Attempt = AttemptRow & {
  readonly row: number;
  /** Its reply was lost; undefined: it was not. */
  readonly lostAt: number | undefined;
};

/**
 * Since when the archive takes its time: since the reply was lost, whatever was still on its way then;
 * or since it had all of the request, where its sender has to end in time.
 */
export type Since = "lost" | "received";

type Row = { readonly attempts: readonly AttemptRow[]; readonly history: readonly HistoryRow[] };

/** The moments at which one world's archive stored what; its `note` is an `onStored`. */
export class LateStores {
  readonly windowMs: number;
  readonly #since: Since;
  readonly #uploads = new Map<number, StoredUpload>();
  readonly #lateMs = new Map<number, number>();
  readonly #rows = new Map<number, Row>();
  readonly #rowOf = new Map<number, number>();

  constructor(windowMs: number, since: Since = "lost") {
    this.windowMs = windowMs;
    this.#since = since;
  }

  readonly note = (upload: StoredUpload): void => {
    this.#uploads.set(upload.documentId, upload);
  };

  /** Documents that were stored so far. */
  get count(): number {
    return this.#uploads.size;
  }

  /** Compares the journal's attempts with what was stored, once all is at rest. */
  async measure({ journal, archive }: World): Promise<void> {
    const rows = await rowsOf(journal);
    await using reader = await readJournal(journal);
    const attempts: Attempt[] = [];
    for (const { id: row } of rows) {
      const history = await reader.history(row);
      const all = await reader.attempts(row);
      this.#rows.set(row, { attempts: all, history });
      attempts.push(...all.map((attempt, n) => attemptOf(row, attempt, all[n + 1], history)));
    }
    const stored = archive.documents();
    const owned = new Set(attempts.map(({ documentId }) => documentId));
    for (const document of [...stored].sort((a, b) => this.#begunAt(b) - this.#begunAt(a))) {
      const attempt = owned.has(document.id)
        ? attempts.find(({ documentId }) => documentId === document.id)
        : this.#lostAttempt(document, attempts);
      if (attempt) this.#compare(document.id, attempt);
    }
  }

  /** The longest time between the loss of a reply and the storing of its document, in ms. */
  get longestMs(): number {
    return Math.max(0, ...this.#lateMs.values());
  }

  /** True where a document was stored after its window: this world says nothing about doubles. */
  get isVoid(): boolean {
    return this.longestMs > this.windowMs;
  }

  /** True when what this tells of is there too often only because it was stored too late. */
  explains({ documents, allowed }: Doubled): boolean {
    const late = documents.filter(({ id }) => this.#isLate(id)).length;
    return late >= documents.length - allowed;
  }

  /** True where this is about a document that was stored too late. */
  isAbout(problem: string): boolean {
    const id = Number(/^document (\d+) /.exec(problem)?.[1]);
    return this.#isLate(id);
  }

  /** The whole story of documents, for who must find the cause of there being too many. */
  tell(documents: readonly StoredDocument[]): string {
    const rows = new Set(documents.flatMap(({ id }) => this.#rowOf.get(id) ?? []));
    return [
      ...documents.map((document) => this.#storedLine(document)),
      ...[...rows].flatMap((row) => this.#rowLines(row)),
    ]
      .map((line) => `\n    ${line}`)
      .join("");
  }

  #isLate(documentId: number): boolean {
    return (this.#lateMs.get(documentId) ?? 0) > this.windowMs;
  }

  #begunAt({ id, uploadedAt }: StoredDocument): number {
    return this.#uploads.get(id)?.begunAt ?? uploadedAt;
  }

  /** The latest attempt at this document that nothing came of, as far as the journal knows. */
  #lostAttempt(document: StoredDocument, attempts: readonly Attempt[]): Attempt | undefined {
    return attempts.findLast(
      ({ digest, sentName, folderId, documentId, startedAt }) =>
        documentId === null &&
        digest === document.sha256 &&
        sentName === document.filename &&
        folderId === document.folderId &&
        startedAt <= this.#begunAt(document),
    );
  }

  #compare(documentId: number, { row, lostAt }: Attempt): void {
    this.#rowOf.set(documentId, row);
    const upload = this.#uploads.get(documentId);
    if (!upload || lostAt === undefined) return;
    const { storedAt, receivedAt } = upload;
    const from = this.#since === "lost" ? lostAt : Math.max(lostAt, receivedAt);
    this.#lateMs.set(documentId, storedAt - from);
  }

  #storedLine({ id, filename, folderPath, uploadedAt }: StoredDocument): string {
    const { begunAt, receivedAt, goneAt, storedAt } = this.#uploads.get(id) ?? {};
    const late = this.#lateMs.get(id);
    const when = `begun ${moment(begunAt)}, received ${moment(receivedAt)}, connection gone ${moment(goneAt)}, stored ${moment(storedAt ?? uploadedAt)}`;
    const after = late === undefined ? "no reply lost" : `${late} ms after its reply was lost`;
    return `document ${id}, ${folderPath}/${filename}: ${when}; ${after}; row ${this.#rowOf.get(id)}`;
  }

  #rowLines(row: number): string[] {
    const { history = [], attempts = [] } = this.#rows.get(row) ?? {};
    return [
      ...history.map(
        ({ at, event, from, to, detail, times = 1 }) =>
          `row ${row}, ${moment(at)}: ${event}, ${from} -> ${to}, ${detail ?? "-"}, ${times} times`,
      ),
      ...attempts.map(
        ({ startedAt, endedAt, outcome, documentId }) =>
          `row ${row}, attempt: ${moment(startedAt)} to ${moment(endedAt)}, ${outcome}, document ${documentId}`,
      ),
    ];
  }
}

function attemptOf(
  row: number,
  attempt: AttemptRow,
  next: AttemptRow | undefined,
  history: readonly HistoryRow[],
): Attempt {
  const { startedAt } = attempt;
  const lost = history.find(
    ({ event, at }) =>
      event === "inDoubt" && at >= startedAt && at <= (next?.startedAt ?? Infinity),
  );
  return { ...attempt, row, lostAt: lost?.at };
}

function moment(at: number | null | undefined): string {
  return at === null || at === undefined ? "never" : new Date(at).toISOString().slice(11, 23);
}
