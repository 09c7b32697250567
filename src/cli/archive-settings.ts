import { dirname, resolve } from "node:path";
import type { ArchiveSettings } from "../archive/http-archive.ts";
import type { SigningSettings } from "../archive/signing.ts";
import type { Config } from "../config/config.ts";
import { ConfigError } from "../config/config-error.ts";
import { type ConfigPlaces, readConfigFile } from "../config/config-file.ts";
import { reportConflicts } from "../config/conflicts.ts";
import { layoutOf } from "../config/layout.ts";
import { readFileShape } from "../config/read-file-shape.ts";
import type { Sketch } from "../config/schema.ts";
import { findSecrets, type Secrets } from "../config/secrets.ts";
import { parseYamlSource } from "../config/yaml-source.ts";
import { invariant } from "../std/invariant.ts";

/** One request after another, and one to spare. */
const CONNECTIONS = 2;

/** How the archive is spoken to by a command that has the whole configuration. */
export function lookUpSettings({ archive }: Config): ArchiveSettings {
  const { url, accountKey, signing, timeoutMs } = archive;
  return { url, accountKey, signing, timeoutMs, connections: CONNECTIONS };
}

/**
 * How the archive is spoken to, from the `archive` part of the configuration alone: what is wrong
 * with mirrors or journal does not matter here. Throws `ConfigError` with what does.
 */
export async function readArchiveSettings(places: ConfigPlaces): Promise<ArchiveSettings> {
  const file = await readConfigFile(places);
  const { value, findings } = parseYamlSource(file.path, file.text);
  const sketch = readFileShape(value, findings);
  reportConflicts(sketch, layoutOf(sketch, dirname(file.path)), findings);
  const secrets = await findSecrets(sketch, { config: file, env: places.env, findings });
  try {
    findings.throwIfAny();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const problems = error.problems.filter(({ key }) => /^archive\b|^$/.test(key));
    if (problems.length > 0) throw new ConfigError(problems);
  }
  return settingsOf(sketch, secrets, dirname(file.path));
}

function settingsOf({ archive }: Sketch, secrets: Secrets, folder: string): ArchiveSettings {
  const { url, timeout } = archive ?? {};
  const { accountKey } = secrets;
  invariant(
    url !== undefined && timeout !== undefined && accountKey !== undefined,
    "a checked archive part is whole",
  );
  const signing = signingOf(archive?.signing, secrets, folder);
  return { url, accountKey, signing, timeoutMs: timeout, connections: CONNECTIONS };
}

function signingOf(
  signing: NonNullable<Sketch["archive"]>["signing"],
  { signingSecret }: Secrets,
  folder: string,
): SigningSettings {
  const { scheme, algorithm, encoding, module } = signing ?? {};
  if (scheme === "none") return { scheme };
  if (scheme === "module") {
    invariant(module !== undefined, "a checked configuration names its signing module");
    return { scheme, module: resolve(folder, module) };
  }
  invariant(
    algorithm !== undefined && encoding !== undefined && signingSecret !== undefined,
    "a checked configuration has its secret",
  );
  return { scheme: "hmac", algorithm, encoding, secret: signingSecret };
}
