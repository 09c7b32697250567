import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { THRIFTY_HEAP } from "../std/heap.ts";

/** Environment that a reader is given: nothing that could hold a secret. */
const ENVIRONMENT = [
  "PATH",
  "TZ",
  "LANG",
  "LC_ALL",
  "NODE_EXTRA_CA_CERTS",
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
  "TMPDIR",
];

/** Starts a reader process. Throws where no process can be started. */
export function forkReader(): ChildProcess {
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  const entry = fileURLToPath(new URL(`./child.${extension}`, import.meta.url));
  return fork(entry, [], {
    serialization: "advanced",
    execArgv: ["--disable-warning=ExperimentalWarning", ...THRIFTY_HEAP],
    env: environmentOf(ENVIRONMENT),
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
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
