import { buildConfig } from "./build-config.ts";
import type { Config } from "./config.ts";
import { type ConfigPlaces, readConfigFile } from "./config-file.ts";
import { findNetworks } from "./find-networks.ts";
import type { FileShape } from "./file-schema.ts";
import { findSecrets } from "./secrets.ts";
import { sketchOf } from "./sketch-of.ts";

/**
 * Finds, reads and checks the configuration. Looks at no source: a share may be away, or hang.
 * Throws `ConfigError` with everything that is wrong, never with a secret in it.
 */
export async function loadConfig(options: ConfigPlaces): Promise<Config> {
  const file = await readConfigFile(options);
  const { sketch, findings } = sketchOf(file, options.env);
  const around = { config: file, env: options.env, findings, files: [] };
  const secrets = await findSecrets(sketch, around);
  const networks = await findNetworks(sketch, around);
  findings.throwIfAny();
  // Nothing was found wrong, so nothing is left out of the sketch.
  return buildConfig(file, sketch as FileShape, { ...secrets, networks });
}
