/**
 * V8's options for a process that lives for years next to others. On its own V8 lets a heap grow to
 * several times of what is alive in it, for throughput, and gives little of it back: with these and
 * `growSlowly`, daemon and reader of a million files keep 300 MB instead of 560 (docs/runs/experiments.csv).
 * Threads of the collector's own take a sixteenth of the processor time of a busy daemon to save it a few pauses.
 * `bin/scanferry` and the Dockerfile start the daemon with the same.
 */
export const THRIFTY_HEAP = ["--max-semi-space-size=16", "--single-threaded-gc"] as const;

/**
 * The other half of it, for a process whose modules are loaded: V8 takes such an option for another program, and
 * compiles whatever of Node itself is loaded after it again, which takes a command a tenth of its time. While V8 marks
 * old objects bit by bit it collects no young ones, which then take several times their room; marking at once, it
 * stops the process for some 40 ms, and seldom.
 */
export function growSlowly(): void {
  const { setFlagsFromString } = process.getBuiltinModule("node:v8");
  setFlagsFromString("--heap-growing-percent=30");
  setFlagsFromString("--no-incremental-marking");
}

/**
 * The same for glibc's `malloc`, as environment variables: on its own it gives each thread memory of its own and keeps
 * large pieces that were freed, so that a daemon, and more so a reader that opens PDFs in a thread, grows for hours.
 * Another C library does not know them.
 */
export const THRIFTY_MALLOC = {
  MALLOC_ARENA_MAX: "2",
  MALLOC_MMAP_THRESHOLD_: "131072",
  MALLOC_TRIM_THRESHOLD_: "131072",
} as const;

/**
 * Node opens its inspector, to which every user of the host may give orders, at a SIGUSR1 that comes before the
 * program handles that signal. At a reserved address (RFC 1112, 4), which no host has, it cannot. Node's own
 * `--disable-sigusr1` blocks the signal, and with it the rescan. `bin/scanferry` and the Dockerfile say the same.
 */
export const NO_INSPECTOR = "--inspect-port=240.0.0.1:9229";
