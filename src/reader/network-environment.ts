/**
 * What of this process's environment concerns the network: a reader that was given less of it, or more, would reach
 * another archive than the daemon, or none. All else stays here, for it may hold secrets.
 */
import { resolve } from "node:path";

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
export function networkEnvironment(env: NodeJS.ProcessEnv = process.env): Record<string, string> {
  const paths = environmentOf(PATHS, env);
  const inFull = Object.entries(paths).map(([key, list]) => {
    const full = (path: string) => (path === "" ? "" : resolve(path));
    return [key, list.split(":").map(full).join(":")];
  });
  return { ...Object.fromEntries(inFull), ...environmentOf(SWITCHES, env) };
}

/** Of the options that this process was started with, on its command line or in `NODE_OPTIONS`, those of the network. */
export function networkOptions(
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
