/**
 * The least that looks at every file of a tree: reads its directories and asks for each entry, in so many threads,
 * compares with nothing and remembers nothing. A program of its own:
 *
 *     node bench/floor/walk.ts ROOT THREADS FILES    fails unless it has seen so many files
 */
import { once } from "node:events";
import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Worker, workerData } from "node:worker_threads";

type Share = { readonly directories: readonly string[]; readonly seen: SharedArrayBuffer };

if (workerData) look(workerData as Share);
else await divide(process.argv[2] ?? ".", Number(process.argv[3]), Number(process.argv[4]));

async function divide(root: string, threads: number, files: number): Promise<void> {
  const seen = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  const tops = readdirSync(root).map((name) => join(root, name));
  const shares = Array.from({ length: threads }, (_, at) =>
    tops.filter((_top, index) => index % threads === at),
  );
  const workers = shares.map(
    (directories) =>
      new Worker(fileURLToPath(import.meta.url), { workerData: { directories, seen } }),
  );
  await Promise.all(workers.map((worker) => once(worker, "exit")));
  const [found] = new Int32Array(seen);
  if (found !== files) throw new Error(`${found} of ${files} files were seen`);
}

function look({ directories, seen }: Share): void {
  const left = [...directories];
  let files = 0;
  for (let directory = left.pop(); directory !== undefined; directory = left.pop()) {
    for (const name of readdirSync(directory, "buffer")) {
      const path = `${directory}/${name.toString("latin1")}`;
      if (lstatSync(path).isDirectory()) left.push(path);
      else files++;
    }
  }
  Atomics.add(new Int32Array(seen), 0, files);
}
