/** What people and scanners do to a source, all day long: one thing after another, from a seed. */
import { createCipheriv } from "node:crypto";
import { appendFileSync, mkdirSync, renameSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { basename, dirname, join } from "node:path";
import { digestOf } from "../../test/fixtures/auditor.ts";
import { pdfOf, pngOf, tiffOf } from "../../test/fixtures/documents.ts";
import type { Dice } from "../../test/simulation/dice.ts";

/** Files that are kept; beyond it someone tidies up. */
const FILES_MAX = 250;

/** Folders of the archive that files are put into; others are made as work goes on. */
const FOLDERS_MAX = 12;

const KINDS: readonly (readonly [number, "pdf" | "tiff" | "png"])[] = [
  [6, "pdf"],
  [2, "tiff"],
  [2, "png"],
];

const LARGE_BYTES = 20 * 1024 * 1024;

export class Work {
  /** SHA-256 of all that was ever a whole file. */
  readonly digests = new Set<string>();
  /** Folders below the source that the archive has to have. */
  readonly folders: string[] = [];
  readonly done = new Map<string, number>();
  readonly #source: string;
  readonly #dice: Dice;
  readonly #files: string[] = [];
  #made = 0;

  constructor(source: string, dice: Dice) {
    this.#source = source;
    this.#dice = dice;
  }

  get files(): number {
    return this.#files.length;
  }

  /** Does one thing. Slow writers take seconds; anyone who calls need not wait for them. */
  async step(signal: AbortSignal): Promise<void> {
    const crowded = this.#files.length > FILES_MAX;
    const [name, act] = this.#dice.weighted<readonly [string, () => void | Promise<void>]>([
      [30, ["new", () => this.#create()]],
      [8, ["slow", () => this.#writeSlowly(signal)]],
      [5, ["part", () => this.#renamedInto()]],
      [6, ["rename", () => this.#rename()]],
      [6, ["move", () => this.#move()]],
      [8, ["touch", () => this.#touch()]],
      [10, ["edit", () => this.#edit()]],
      [crowded ? 60 : 12, ["delete", () => this.#delete()]],
      [0.4, ["large", () => this.#writeLarge()]],
    ]);
    this.done.set(name, (this.done.get(name) ?? 0) + 1);
    await act();
  }

  #create(): void {
    this.#put(this.#document());
  }

  /** A scanner that writes piece after piece, with pauses longer than `settle`; only the format tells. */
  async #writeSlowly(signal: AbortSignal): Promise<void> {
    const { path, bytes } = this.#document("pdf");
    this.digests.add(digestOf(bytes));
    const pieces = this.#dice.int(2, 6);
    const size = Math.ceil(bytes.length / pieces);
    const pauses = Array.from({ length: pieces }, () => this.#dice.int(100, 2_500));
    mkdirSync(dirname(this.#full(path)), { recursive: true });
    for (const [index, pause] of pauses.entries()) {
      appendFileSync(this.#full(path), bytes.subarray(index * size, (index + 1) * size));
      // A writer that is asked to stop still writes its file to the end.
      if (!signal.aborted) await delay(pause, undefined, { signal }).catch(() => {});
    }
    this.#files.push(path);
  }

  /** Written under a name that is not mirrored, then given its own. */
  #renamedInto(): void {
    const { path, bytes } = this.#document();
    this.digests.add(digestOf(bytes));
    mkdirSync(dirname(this.#full(path)), { recursive: true });
    writeFileSync(this.#full(`${path}.part`), bytes);
    renameSync(this.#full(`${path}.part`), this.#full(path));
    this.#files.push(path);
  }

  #rename(): void {
    this.#take((path) =>
      join(dirname(path), `renamed-${++this.#made}-${basename(path).slice(-12)}`),
    );
  }

  #move(): void {
    this.#take((path) =>
      join(this.#folder(), `moved-${++this.#made}-${basename(path).slice(-12)}`),
    );
  }

  #take(to: (path: string) => string): void {
    const path = this.#dice.pick(this.#files);
    if (path === undefined) return;
    const target = to(path);
    mkdirSync(dirname(this.#full(target)), { recursive: true });
    renameSync(this.#full(path), this.#full(target));
    this.#files[this.#files.indexOf(path)] = target;
  }

  #touch(): void {
    const path = this.#dice.pick(this.#files);
    if (path !== undefined) utimesSync(this.#full(path), new Date(), new Date());
  }

  #edit(): void {
    const path = this.#dice.pick(this.#files);
    if (path === undefined) return;
    // What its name promises, it stays.
    const { bytes } = this.#document(KINDS.find(([, kind]) => path.endsWith(kind))?.[1]);
    this.digests.add(digestOf(bytes));
    if (this.#dice.chance(0.5)) writeFileSync(this.#full(path), bytes);
    else {
      writeFileSync(this.#full(`${path}.tmp`), bytes);
      renameSync(this.#full(`${path}.tmp`), this.#full(path));
    }
  }

  #delete(): void {
    const path = this.#dice.pick(this.#files);
    if (path === undefined) return;
    rmSync(this.#full(path));
    this.#files.splice(this.#files.indexOf(path), 1);
  }

  #writeLarge(): void {
    const path = join(this.#folder(), `large-${++this.#made}.bin`);
    const key = Buffer.alloc(16);
    key.writeUInt32LE(this.#made);
    const noise = createCipheriv("aes-128-ctr", key, Buffer.alloc(16));
    this.#put({ path, bytes: noise.update(Buffer.alloc(LARGE_BYTES)) });
  }

  #put({ path, bytes }: { path: string; bytes: Buffer }): void {
    this.digests.add(digestOf(bytes));
    mkdirSync(dirname(this.#full(path)), { recursive: true });
    writeFileSync(this.#full(path), bytes);
    this.#files.push(path);
  }

  /** A document like none before it, and where it goes. */
  #document(kind = this.#dice.weighted(KINDS)): { path: string; bytes: Buffer } {
    const seed = ++this.#made;
    // Dots repeat where seeds are far apart; a few bytes behind the end make each its own.
    const own = Buffer.from(`#${seed}`);
    const bytes = {
      pdf: () => pdfOf(1 + (seed % 3), { seed, text: `document ${seed}` }),
      tiff: () => Buffer.concat([tiffOf(1 + (seed % 4), seed), own]),
      png: () => Buffer.concat([pngOf(seed), own]),
    }[kind]();
    return { path: join(this.#folder(), `scan-${seed}.${kind}`), bytes };
  }

  #folder(): string {
    if (this.folders.length < FOLDERS_MAX && this.#dice.chance(0.02)) {
      const below = this.#dice.chance(0.5) ? (this.#dice.pick(this.folders) ?? "") : "";
      this.folders.push(join(below, `folder-${this.folders.length + 1}`));
    }
    return this.#dice.chance(0.3) ? "" : (this.#dice.pick(this.folders) ?? "");
  }

  #full(path: string): string {
    return join(this.#source, path);
  }
}
