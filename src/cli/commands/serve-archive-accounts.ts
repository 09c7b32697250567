/** Where `serve-archive` has its accounts from; a secret among the arguments is shown to everyone by `ps`. */
import { resolve } from "node:path";
import { InvalidArgumentError } from "commander";
import { quotedPath } from "../../config/quoted.ts";
import { readText } from "../../config/secret-file.ts";
import { UsageError } from "../exit.ts";
import { accounts } from "../option-values.ts";
import type { Shell } from "../shell.ts";

type Accounts = { key: string; secret: string }[];

/** What the options say of accounts. */
export type AccountOptions = {
  readonly account?: Accounts | undefined;
  readonly accountFile?: string | undefined;
};

const VARIABLE = "SCANFERRY_ARCHIVE_ACCOUNTS";

/**
 * Those of `--account`, then those of `--account-file`; without either, those of the variable. Undefined:
 * nobody named any. Throws `UsageError`, never with a secret in it.
 */
export async function accountsFrom(
  { account, accountFile }: AccountOptions,
  { cwd, processContext: { env } }: Pick<Shell, "cwd" | "processContext">,
): Promise<Accounts | undefined> {
  if (accountFile !== undefined) {
    const path = resolve(cwd, accountFile);
    const what = `--account-file: ${quotedPath(path)}`;
    const outcome = await readText(path);
    if (outcome === undefined) throw new UsageError(`${what} is not there; name one that exists`);
    if (!("text" in outcome)) throw new UsageError(`${what} ${outcome.message}; ${outcome.fix}`);
    return linesOf(outcome.text, what, account);
  }
  const given = env[VARIABLE];
  return account ?? (given ? linesOf(given, `$${VARIABLE}`, undefined) : undefined);
}

/** `KEY:SECRET` a line; empty lines and those that begin with `#` are passed over. */
function linesOf(text: string, what: string, before: Accounts | undefined): Accounts {
  let found = before;
  for (const [at, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === "" || line.startsWith("#")) continue;
    try {
      found = accounts(line, found);
    } catch (error) {
      if (!(error instanceof InvalidArgumentError)) throw error;
      throw new UsageError(`${what}, line ${at + 1}: ${error.message}`);
    }
  }
  if (found === undefined)
    throw new UsageError(`${what} names no account; write KEY:SECRET a line`);
  return found;
}
