/** Where a fault can be injected: every call that a traced run made, by name and count. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** What befalls the k-th call; a kill comes before the call has done anything. */
export type Injection = "signal=KILL" | "error=EIO" | "error=ENOSPC";

export type Point = { readonly call: string; readonly k: number; readonly injection: Injection };

/** Calls that change something outside of the process, or ask for it. */
const CALLS =
  "pwrite64 write writev sendmsg connect fsync fdatasync ftruncate rename renameat renameat2 link " +
  "linkat unlink unlinkat mkdir copy_file_range";
const JOURNAL_CALLS = ["pwrite64", "fsync", "fdatasync"];

/** The words that run a command under strace, with this point's fault in it. */
export function injecting({ call, k, injection }: Point, more: readonly string[] = []): string[] {
  const inject = `inject=${call}:${injection}:when=${k}`;
  return ["strace", "-qq", "-o", "/dev/null", ...more, "-e", `trace=${call}`, "-e", inject];
}

/** Traces what `run` starts with the words that it is given, and reads the calls that were made. */
export async function traced(
  run: (within: readonly string[]) => Promise<void>,
  more: readonly string[] = [],
): Promise<Map<string, number[]>> {
  const dir = mkdtempSync(join(tmpdir(), "scanferry-trace-"));
  const file = join(dir, "trace");
  try {
    await run([
      "strace",
      "-qq",
      "-y",
      "-o",
      file,
      ...more,
      "-e",
      `trace=${CALLS.replaceAll(" ", ",")}`,
    ]);
    return countsOf(readFileSync(file, "utf8"));
  } finally {
    rmSync(dir, { recursive: true });
  }
}

/**
 * The counts at which each call did something: strace counts by call and thread, and what threads
 * tell one another (eventfd) is left out.
 */
export function countsOf(trace: string): Map<string, number[]> {
  const byThread = new Map<string, number>();
  const counts = new Map<string, Set<number>>();
  for (const line of trace.split("\n")) {
    const { thread = "", call, rest = "" } = CALL.exec(line)?.groups ?? {};
    if (call === undefined) continue;
    const k = (byThread.get(thread + call) ?? 0) + 1;
    byThread.set(thread + call, k);
    if (rest.includes("[eventfd]")) continue;
    counts.set(call, (counts.get(call) ?? new Set()).add(k));
  }
  return new Map([...counts].map(([call, ks]) => [call, [...ks].toSorted((a, b) => a - b)]));
}

/** `call(rest`, after a thread's id where there are several; the second half of a cut line is none. */
const CALL = /^(?<thread>\d+ +)?(?<call>[a-z]\w*)\((?<rest>.{0,60})/;

/** A kill at every call; with `journal`, also an error at every write and sync of it. */
export function pointsOf(
  counts: ReadonlyMap<string, readonly number[]>,
  journal: boolean,
): Point[] {
  return [...counts].flatMap(([call, ks]) => {
    const errors = journal && JOURNAL_CALLS.includes(call);
    const injections: Injection[] = errors
      ? ["signal=KILL", "error=EIO", "error=ENOSPC"]
      : ["signal=KILL"];
    return injections.flatMap((injection) => ks.map((k) => ({ call, k, injection })));
  });
}
