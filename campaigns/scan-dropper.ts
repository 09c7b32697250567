/**
 * What scanners and people do to a folder, step by step and by dice: whole files, files that grow,
 * files that are renamed into place, copies, renamings, and corrections of what was just dropped.
 */
import { appendFileSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { digestOf } from "../test/fixtures/auditor.ts";
import { pdfOf } from "../test/fixtures/documents.ts";
import type { Dice } from "../test/simulation/dice.ts";

/** Archive folders that there must be below the mirror's target. */
export const FOLDERS = ["", "inbox", "inbox/2026"] as const;

/** How many of the last files may still be corrected or renamed. */
const RECENT = 12;

export class ScanDropper {
  readonly #source: string;
  readonly #dice: Dice;
  readonly #folders: readonly string[];
  /** The rest of files that are being written, by path. */
  readonly #growing = new Map<string, Buffer>();
  readonly #expected = new Map<string, string>();
  readonly #formerly: string[] = [];
  readonly #tales = new Map<string, string[]>();
  #dropped = 0;

  /** `folders` are made below the source. */
  constructor(source: string, dice: Dice, folders: readonly string[] = FOLDERS) {
    this.#source = source;
    this.#dice = dice;
    this.#folders = folders;
    for (const folder of folders) mkdirSync(join(source, folder), { recursive: true });
  }

  /** Files in the tree, whole or growing. */
  get files(): number {
    return this.#expected.size;
  }

  /** Digests that were whole files once and were corrected since, one for each of those files. */
  get formerly(): readonly string[] {
    return this.#formerly;
  }

  /** All that was done with a content, in order. */
  told(digest: string): readonly string[] {
    return this.#tales.get(digest) ?? [];
  }

  step(): void {
    const [grown] = this.#growing.keys();
    if (grown !== undefined) this.#grow(grown);
    const what = this.#dice.random();
    if (what < 0.45) this.#whole();
    else if (what < 0.6) this.#beginning();
    else if (what < 0.75) this.#intoPlace();
    else if (what < 0.85) this.#renamed();
    else if (what < 0.93) this.#copied();
    else this.#corrected();
  }

  /** Completes what is growing. */
  finish(): void {
    for (const path of this.#growing.keys()) this.#grow(path);
  }

  /** Every file that is not there any more as it was dropped: nobody but this may touch them. */
  touched(): string[] {
    return [...this.#expected].flatMap(([path, digest]) => {
      try {
        const found = digestOf(readFileSync(join(this.#source, path)));
        return found === digest ? [] : [`${path}: other bytes than were dropped`];
      } catch (error) {
        return [`${path}: ${String(error)}`];
      }
    });
  }

  #whole(): void {
    const path = this.#newPath();
    const content = this.#content();
    writeFileSync(join(this.#source, path), content);
    this.#expect(path, digestOf(content), "dropped");
  }

  #beginning(): void {
    const path = this.#newPath();
    const content = this.#content();
    const half = Math.floor(content.length * this.#dice.random());
    writeFileSync(join(this.#source, path), content.subarray(0, half));
    this.#growing.set(path, content.subarray(half));
    this.#expect(path, digestOf(content), "begun");
  }

  #grow(path: string): void {
    appendFileSync(join(this.#source, path), this.#growing.get(path) ?? "");
    this.#growing.delete(path);
  }

  #intoPlace(): void {
    const path = this.#newPath();
    const content = this.#content();
    const draft = join(this.#source, `${path}.part`);
    writeFileSync(draft, content);
    renameSync(draft, join(this.#source, path));
    this.#expect(path, digestOf(content), "moved into place");
  }

  #renamed(): void {
    const path = this.#recent();
    const digest = path && this.#expected.get(path);
    if (!path || !digest) return;
    // Within its folder: what moves to another one stays where the archive has it.
    const to = join(dirname(path), this.#name());
    renameSync(join(this.#source, path), join(this.#source, to));
    this.#expected.delete(path);
    this.#expect(to, digest, `renamed from ${path}`);
  }

  #copied(): void {
    const path = this.#recent();
    const digest = path && this.#expected.get(path);
    if (!path || !digest) return;
    const to = this.#newPath();
    writeFileSync(join(this.#source, to), readFileSync(join(this.#source, path)));
    this.#expect(to, digest, `copied from ${path}`);
  }

  #corrected(): void {
    const path = this.#recent();
    const digest = path && this.#expected.get(path);
    if (!path || !digest) return;
    const content = this.#content();
    writeFileSync(join(this.#source, path), content);
    this.#formerly.push(digest);
    this.#tell(path, digest, "overwritten");
    this.#expect(path, digestOf(content), "written over another");
  }

  #expect(path: string, digest: string, what: string): void {
    this.#expected.set(path, digest);
    this.#tell(path, digest, what);
  }

  #tell(path: string, digest: string, what: string): void {
    const at = new Date().toISOString().slice(11, 23);
    this.#tales.set(digest, [...this.told(digest), `${path} ${what} ${at}`]);
  }

  /** One of the files dropped last that is not being written. */
  #recent(): string | undefined {
    const whole = [...this.#expected.keys()].slice(-RECENT).filter((p) => !this.#growing.has(p));
    return whole.length === 0 ? undefined : this.#dice.pick(whole);
  }

  #content(): Buffer {
    const large = this.#dice.chance(0.05);
    const text = large ? "A line of a long page\n".repeat(20_000) : undefined;
    const seed = ++this.#dropped;
    return pdfOf(this.#dice.int(1, 3), text === undefined ? { seed } : { seed, text });
  }

  #newPath(): string {
    return join(this.#dice.pick(this.#folders) ?? "", this.#name());
  }

  #name(): string {
    return `scan-${++this.#dropped}.pdf`;
  }
}
