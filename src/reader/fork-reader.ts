import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { resolve } from "node:path";
import { NO_INSPECTOR, THRIFTY_HEAP, THRIFTY_MALLOC } from "../std/heap.ts";

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

/**
 * What of this process's environment concerns the network: a reader that was given less of it, or more, would reach
 * another archive than the daemon, or none. All else stays here, for it may hold secrets.
 */

/** Files of certificates or settings, and lists of directories with such. */
const PATHS = [
  "NODE_EXTRA_CA_CERTS",
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
  "OPENSSL_CONF",
  "OPENSSL_MODULES",
];

/** Switches of Node, and how glibc looks up names. */
const SWITCHES = ["NODE_USE_SYSTEM_CA", "RES_OPTIONS", "LOCALDOMAIN"];

/** Node's options that decide whom TLS trusts and how, and which addresses a name has. */
const OPTION =
  /^--(?:use-(?:system|openssl|bundled)-ca|no-use-system-ca|tls-(?:cipher-list|m(?:in|ax)-v[\d.]+)|openssl-[\w-]+|(?:enable|force)-fips|dns-result-order|max-http-header-size)(?:=|$)/;

/** Options whose value may be the next word. */
const WITH_VALUE = /^--(?:tls-cipher-list|openssl-config|dns-result-order|max-http-header-size)$/;

/** These variables of this process, as far as they are set. */
export function environmentOf(
  keys: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): Record<string, string> {
  return Object.fromEntries(
    keys.flatMap((key) => {
      const value = env[key];
      return value === undefined ? [] : [[key, value]];
    }),
  );
}

/** The variables that a reader is given; paths in full, for it works in one directory after another. */
function networkEnvironment(env: NodeJS.ProcessEnv = process.env): Record<string, string> {
  const paths = environmentOf(PATHS, env);
  const inFull = Object.entries(paths).map(([key, list]) => {
    const full = (path: string) => (path === "" ? "" : resolve(path));
    return [key, list.split(":").map(full).join(":")];
  });
  return { ...Object.fromEntries(inFull), ...environmentOf(SWITCHES, env) };
}

/** Of the options that this process was started with, on its command line or in `NODE_OPTIONS`, those of the network. */
function networkOptions(
  execArgv: readonly string[] = process.execArgv,
  nodeOptions = process.env["NODE_OPTIONS"] ?? "",
): string[] {
  const words = [...nodeOptions.split(/\s+/), ...execArgv];
  return words.flatMap((word, at) => {
    if (!OPTION.test(word)) return [];
    const next = words[at + 1];
    return WITH_VALUE.test(word) && next !== undefined ? [`${word}=${next}`] : [word];
  });
}
