import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { THRIFTY_HEAP, THRIFTY_MALLOC } from "../std/heap.ts";
import { NO_INSPECTOR } from "../std/no-inspector.ts";
import { environmentOf, networkEnvironment, networkOptions } from "./network-environment.ts";

/** Environment that readers and hooks are given: nothing that could hold a secret. */
export const HARMLESS = ["PATH", "TZ", "LANG", "LC_ALL", "TMPDIR"];

/** A process that was started ahead, until it is taken. */
let prepared: ChildProcess | undefined;

/**
 * Starts the first reader ahead: it takes as long to load as this process, side by side with it. Disposed of, it
 * ends where nobody took it.
 */
export function prepareReader(): Disposable {
  let child: ChildProcess | undefined;
  try {
    child = newReader().on("error", () => {});
  } catch {
    // Who needs one gets the error.
  }
  prepared = child;
  return {
    [Symbol.dispose]: () => {
      if (prepared !== child) return;
      prepared = undefined;
      child?.kill("SIGKILL");
    },
  };
}

/** A reader process: the one that was prepared, or a new one. Throws where no process can be started. */
export function forkReader(): ChildProcess {
  const child = prepared;
  prepared = undefined;
  return child?.connected === true ? child : newReader();
}

function newReader(): ChildProcess {
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
      ...environmentOf([...HARMLESS, "NODE_COMPILE_CACHE"]),
      ...networkEnvironment(),
      ...THRIFTY_MALLOC,
    },
    // Not this process's own: inherited, it would be made to block, here too where stdout is the same pipe.
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  child.stderr?.on("data", (said: Buffer) => void process.stderr.write(said));
  return child;
}
