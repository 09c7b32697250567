import { type ChildProcess, fork } from "node:child_process";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { THRIFTY_HEAP, THRIFTY_MALLOC } from "../std/heap.ts";

/** Files of certificates, and lists of directories with such. */
const CERTIFICATES = ["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR"];

/** Environment that readers and hooks are given: nothing that could hold a secret. */
export const HARMLESS = ["PATH", "TZ", "LANG", "LC_ALL", "TMPDIR"];

/** Starts a reader process. Throws where no process can be started. */
export function forkReader(): ChildProcess {
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  const entry = fileURLToPath(new URL(`./child.${extension}`, import.meta.url));
  const child = fork(entry, [], {
    serialization: "advanced",
    execArgv: ["--disable-warning=ExperimentalWarning", ...THRIFTY_HEAP],
    env: {
      ...environmentOf(HARMLESS),
      ...inFull(environmentOf(CERTIFICATES)),
      ...THRIFTY_MALLOC,
    },
    // Not this process's own: inherited, it would be made to block, here too where stdout is the same pipe.
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  child.stderr?.on("data", (said: Buffer) => void process.stderr.write(said));
  return child;
}

/** A reader works in one directory after another: certificates must not be looked for in those. */
function inFull(paths: Record<string, string>): Record<string, string> {
  const full = (list: string) =>
    list
      .split(":")
      .map((path) => (path === "" ? "" : resolve(path)))
      .join(":");
  return Object.fromEntries(Object.entries(paths).map(([key, list]) => [key, full(list)]));
}

/** These variables of this process, as far as they are set. */
export function environmentOf(keys: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    keys.flatMap((key) => {
      const value = process.env[key];
      return value === undefined ? [] : [[key, value]];
    }),
  );
}
