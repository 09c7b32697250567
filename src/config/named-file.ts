/** Small files that a configuration names, most of them with a secret in them. */
import { dirname, isAbsolute, join, resolve } from "node:path";
import { quoted, quotedPath } from "../std/quoted.ts";
import {
  chmodOf,
  type FileKind,
  readableByOthers,
  readText,
  SECRET,
  type StampedFile,
} from "../std/small-file.ts";
import type { ConfigFile } from "./config-file.ts";
import type { ConfigProblems } from "./config-problems.ts";
import type { KeyPath } from "./kind.ts";

/** What every look-up needs to know. */
export type SecretContext = {
  readonly config: ConfigFile;
  readonly env: NodeJS.ProcessEnv;
  readonly findings: ConfigProblems;
  /** Where each file that was read is noted. */
  readonly files: StampedFile[];
};

/** Reports a secret in a configuration that others can read. */
export function reportIfOpen(key: KeyPath, { config, findings }: SecretContext): void {
  if (!readableByOthers(config.mode, 0o044)) return;
  const mode = config.mode.toString(8);
  const message = `the file holds a secret, and others can read it (mode ${mode})`;
  findings.report(key, message, chmodOf(config.path));
}

/**
 * Reads a file that the configuration names; undefined, and reported, when that cannot be. A relative one is looked
 * for next to the configuration file, then among the credentials that systemd hands over in `$CREDENTIALS_DIRECTORY`, then in `secrets` next to the
 * configuration, where those credentials come from: a service must not, and root may look there.
 */
export async function readNamedFile(
  written: string,
  key: KeyPath,
  { config, env, findings, files }: SecretContext,
  kind: FileKind = SECRET,
): Promise<{ readonly text: string; readonly shown: string } | undefined> {
  const places = [resolve(dirname(config.path), written)];
  const credentials = env["CREDENTIALS_DIRECTORY"];
  if (credentials && !isAbsolute(written)) places.push(join(credentials, written));
  for (const path of places) {
    const outcome = await readText(path, kind);
    if (outcome === undefined) continue;
    if ("text" in outcome) {
      files.push({ path, stamp: outcome.stamp });
      return { text: outcome.text, shown: quotedPath(path) };
    }
    findings.report(key, `${quotedPath(path)} ${outcome.message}`, outcome.fix);
    return undefined;
  }
  const kept = written.includes("/")
    ? undefined
    : await readText(join(dirname(config.path), "secrets", written), kind);
  if (kept && "text" in kept) return { text: kept.text, shown: quoted(written) };
  if (kept && !kept.message.startsWith("cannot be read")) {
    findings.report(key, `${quoted(`secrets/${written}`)} ${kept.message}`, kept.fix);
    return undefined;
  }
  const message = `there is no file ${places.map(quotedPath).join(" or ")}`;
  const mode = kind.isSecret ? ", with mode 600" : "";
  findings.report(key, message, `write the ${kind.what} into it${mode}`);
  return undefined;
}
