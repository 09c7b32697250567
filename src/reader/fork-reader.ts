import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { THRIFTY_HEAP, THRIFTY_MALLOC } from "../std/heap.ts";
import { NO_INSPECTOR } from "../std/no-inspector.ts";
import { environmentOf, networkEnvironment, networkOptions } from "./network-environment.ts";

/** Environment that readers and hooks are given: nothing that could hold a secret. */
export const HARMLESS = ["PATH", "TZ", "LANG", "LC_ALL", "TMPDIR"];

/** Starts a reader process. Throws where no process can be started. */
export function forkReader(): ChildProcess {
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  const entry = fileURLToPath(new URL(`./child.${extension}`, import.meta.url));
  const child = fork(entry, [], {
    serialization: "advanced",
    execArgv: [
      "--disable-warning=ExperimentalWarning",
      NO_INSPECTOR,
      ...THRIFTY_HEAP,
      ...networkOptions(),
    ],
    env: {
      ...environmentOf(HARMLESS),
      ...networkEnvironment(),
      ...THRIFTY_MALLOC,
    },
    // Not this process's own: inherited, it would be made to block, here too where stdout is the same pipe.
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  child.stderr?.on("data", (said: Buffer) => void process.stderr.write(said));
  return child;
}
