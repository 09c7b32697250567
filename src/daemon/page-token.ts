/** The token that the daemon makes for a page which listens beyond this host and has none. */
import { randomBytes } from "node:crypto";
import { existsSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Config } from "../config/config.ts";
import { readText } from "../std/small-file.ts";
import { addressOf, urlOf } from "../dashboard/address.ts";
import { codeOf } from "../std/fault.ts";
import { makeDirectory } from "../std/make-directory.ts";

const TOKEN_BYTES = 24;

type Placed = Pick<Config, "journal" | "web">;

/** Where the page's token is kept that nobody gave: with the journal. Undefined where none is needed, or the journal is in a database. */
export async function tokenPlace({ journal, web }: Placed): Promise<string | undefined> {
  if (!web || web.token !== undefined || typeof journal !== "string") return undefined;
  // A name that does not resolve cannot be listened on, which is reported.
  const address = await addressOf(web).catch(() => undefined);
  return address === undefined || address.isLoopback
    ? undefined
    : join(dirname(journal), "web.token");
}

/**
 * The configuration with the page's token: the one that was kept, or a new one, which `print` is given once with the
 * page's address. Never rejects: without a token the page answers `/healthz` and `/readyz` alone, and `print` gets the reason.
 */
export async function withPageToken(
  config: Config,
  print: (line: string) => void,
): Promise<Config> {
  const file = await tokenPlace(config);
  const { web } = config;
  if (file === undefined || !web) return config;
  try {
    const isNew = !existsSync(file);
    if (isNew) {
      makeDirectory(dirname(file), 0o700);
      const made = `${randomBytes(TOKEN_BYTES).toString("base64url")}\n`;
      writeFileSync(file, made, { mode: 0o600, flag: "wx" });
    }
    const kept = await readText(file);
    const token = kept && "text" in kept ? kept.text.trim() : "";
    if (token.length < TOKEN_BYTES) {
      const why = kept && "message" in kept ? kept.message : "holds no token";
      print(`the page is closed: ${file} ${why}; delete it, and the next start makes another one`);
      return config;
    }
    if (isNew) {
      const url = urlOf(await addressOf(web), web.port);
      print(`the page: ${url}/?token=${token} (shown once; the token is kept in ${file})`);
    }
    return { ...config, web: { ...web, token } };
  } catch (error) {
    print(`the page is closed: no token can be written to ${file} (${codeOf(error)})`);
    return config;
  }
}
