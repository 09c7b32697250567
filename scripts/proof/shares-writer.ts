/**
 * Run by shares-inside.sh: writes every file of a directory into another one as a scanner does, a
 * piece at a time. After each piece the file is closed, and opened again after 0.2 to 8 s. A piece
 * that cannot be written, because the server is away, is written again until it can be.
 *
 *     node shares-writer.ts FROM TO SECONDS
 *
 * All files are begun within SECONDS. Prints what it did.
 */
import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { open, readdir, readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";

const PAUSE_MS = { min: 200, max: 8_000 };
const PIECES = { min: 2, max: 5 };
const AGAIN_MS = 1_000;

const [from = "", to = "", seconds = "0"] = process.argv.slice(2);
const done = { files: 0, pauses: 0, again: 0 };

/** Numbers from 0 to 1 that are the same in every run for a name. */
function* chances(name: string): Generator<number, never> {
  for (let round = 0; ; round++) {
    yield createHash("sha256").update(`${round} ${name}`).digest().readUInt32BE() / 2 ** 32;
  }
}

async function writePiece(path: string, piece: Buffer, at: number): Promise<void> {
  for (;;) {
    try {
      await using file = await open(path, constants.O_CREAT | constants.O_WRONLY, 0o644);
      await file.write(piece, 0, piece.length, at);
      await file.sync();
      return;
    } catch {
      done.again += 1;
      await delay(AGAIN_MS);
    }
  }
}

async function scan(name: string): Promise<void> {
  const bytes = await readFile(`${from}/${name}`);
  const dice = chances(name);
  const between = ({ min, max }: typeof PAUSE_MS) => min + dice.next().value * (max - min);
  await delay(dice.next().value * Number(seconds) * 1_000);
  const pieces = Math.floor(between({ ...PIECES, max: PIECES.max + 1 }));
  const length = Math.ceil(bytes.length / pieces);
  for (let at = 0; at < bytes.length; at += length) {
    if (at > 0) {
      await delay(between(PAUSE_MS));
      done.pauses += 1;
    }
    await writePiece(`${to}/${name}`, bytes.subarray(at, at + length), at);
  }
  done.files += 1;
}

await Promise.all((await readdir(from)).map(scan));
console.log(`${done.files} files, ${done.pauses} pauses, ${done.again} times tried again`);
