/** Asks a person for what no option said, tries it on the archive, and asks again where that fails. */
import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { archiveUrl, isShareAddress, SHARE_FIX } from "../../config/place-kinds.ts";
import { digest } from "../../config/kinds.ts";
import type { Kind } from "../../config/kind.ts";
import type { Questions } from "../questions.ts";
import type { Shell } from "../shell.ts";
import { credentialsOf, SCHEMES, type Setup, type ArchiveAccess } from "./write-setup.ts";
import { findingLine } from "../text-table.ts";
import { Fault } from "../../std/fault.ts";
import { Folders } from "../../sync/folders.ts";
import { type CheckResult, fail, failOf, ok, warn } from "../../check/check-result.ts";
import { openClient } from "../../archive/archive-settings.ts";

/** A share that is away must not keep the question from being answered. */
const PATIENCE_MS = 3_000;

/** Resolves with a setup that has everything. */
export async function interview(
  shell: Shell,
  given: Setup,
  questions: Questions,
  isTrying: boolean,
): Promise<Setup> {
  const source = given.source ?? (await askSource(shell, questions));
  const target =
    given.target ??
    (await questions.ask("Target folder in the archive", {
      otherwise: "/Scans",
      wrong: (path) => (path.startsWith("/") ? undefined : `it starts with /; write /${path}`),
    }));
  let setup: Setup = { ...given, source: resolve(shell.cwd, source), target };
  // What options said is not asked for, until it turns out to be wrong.
  for (let isFirst = true; ; isFirst = false) {
    setup = { ...setup, ...(await askArchive(questions, setup, isFirst)) };
    const credentials = credentialsOf(setup);
    if (!isTrying || !credentials) return setup;
    await shell.out.line("asking the archive …");
    const findings = await tryArchive(credentials, target, shell);
    for (const finding of findings) await shell.out.line(findingLine(finding, shell.out));
    if (!findings.some(({ level }) => level === "FAIL")) return setup;
    if (!(await questions.confirm("Change the answers", true))) return setup;
  }
}

async function askSource(shell: Shell, questions: Questions): Promise<string> {
  return questions.ask("Folder with the scans", {
    otherwise: "/srv/scans",
    wrong: async (path) => {
      if (path.startsWith("~")) return "~ is not expanded; write the whole path";
      if (isShareAddress(path))
        return `${path} is a Windows path or the address of a share; ${SHARE_FIX}`;
      return whyNoFolder(resolve(shell.cwd, path), shell);
    },
  });
}

/** Why no scans can be in `path`; undefined where it is a folder. With `isLater` it need not be there yet. */
export async function whyNoFolder(
  path: string,
  { clock }: Shell,
  isLater = false,
): Promise<string | undefined> {
  const over = new AbortController();
  const late = clock.sleep(PATIENCE_MS, over.signal).then(
    () => `${path} does not answer; check the share that it is on`,
    () => undefined,
  );
  const look = stat(path).then(
    (found) => (found.isDirectory() ? undefined : `${path} is not a folder; name one`),
    () => (isLater ? undefined : `there is no folder ${path}; create it, or name another`),
  );
  try {
    return await Promise.race([look, late]);
  } finally {
    over.abort();
  }
}

/** With `isFirst` only for what is not known yet, else for everything, what is known being offered. */
async function askArchive(questions: Questions, known: Setup, isFirst: boolean): Promise<Setup> {
  const isAsked = (value: unknown) => value === undefined || !isFirst;
  const { url, accountKey, scheme, algorithm, encoding, signingSecret } = known;
  const answers: { -readonly [K in keyof Setup]: Setup[K] } = {};
  if (isAsked(url)) {
    answers.url = await questions.ask("The archive's address", {
      otherwise: url,
      wrong: unfit(archiveUrl()),
    });
  }
  if (isAsked(accountKey))
    answers.accountKey = await questions.askSecret("Account key", accountKey);
  if (isAsked(scheme)) {
    const meant = (text: string) => SCHEMES.find((each) => each === text);
    const answer = await questions.ask(`How requests are signed (${SCHEMES.join(", ")})`, {
      otherwise: scheme ?? "hmac",
      wrong: (text) => (meant(text) ? undefined : `write one of ${SCHEMES.join(", ")}`),
    });
    answers.scheme = meant(answer);
  }
  if ((answers.scheme ?? scheme) === "none") return answers;
  if (isAsked(algorithm)) {
    answers.algorithm = await questions.ask("Digest algorithm of the signature", {
      otherwise: algorithm ?? "sha256",
      wrong: unfit(digest()),
    });
  }
  if (isAsked(encoding)) {
    const answer = await questions.ask("Encoding of the signature (base64, hex)", {
      otherwise: encoding ?? "base64",
      wrong: (text) => (/^(base64|hex)$/.test(text) ? undefined : "write base64 or hex"),
    });
    answers.encoding = answer === "hex" ? "hex" : "base64";
  }
  if (isAsked(signingSecret)) {
    answers.signingSecret = await questions.askSecret("Secret for signing", signingSecret);
  }
  return answers;
}

/** What the configuration would say of such a value. */
function unfit(kind: Kind<string>): (text: string) => string | undefined {
  return (text) => {
    const [issue] = kind.safeParse(text).error?.issues ?? [];
    if (!issue) return undefined;
    const fix: unknown = issue.code === "custom" ? issue.params?.["fix"] : undefined;
    return typeof fix === "string" ? `${issue.message}; ${fix}` : issue.message;
  };
}

/** A person waits for the answer. */
const TIMEOUT_MS = 15_000;

/** Asks the archive for its root folder and for `target`; what it says to that. Sends nothing. */
export async function tryArchive(
  { url, accountKey, signing }: ArchiveAccess,
  target: string,
  shell: Shell,
): Promise<CheckResult[]> {
  const settings = { url, accountKey, signing, timeoutMs: TIMEOUT_MS, connections: 1 };
  try {
    await using client = await openClient(settings, shell.clock);
    await client.folder(undefined, shell.stopping());
    const reached = ok(`the archive ${url} accepts the account`);
    const found = await new Folders(client).resolve(target, shell.stopping());
    if (found.kind === "found") return [reached, ok(`archive folder ${target} exists`)];
    const fix = "Create it in the archive; documents wait until it is there.";
    return [reached, warn(found.problem.message, fix)];
  } catch (error) {
    if (error instanceof Fault) return [failOf("archive", error)];
    return [fail(`archive: ${String(error)}`, "See scanferry check.")];
  }
}
