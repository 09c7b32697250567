import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { ConfigError } from "../../../src/config/config-problems.ts";
import { loadConfig } from "../../../src/config/load-config.ts";

/** Secrets from the environment, so that a file needs none and may have any mode. */
export const SECRETS = { SCANFERRY_ACCOUNT_KEY: "key", SCANFERRY_SIGNING_SECRET: "secret" };

/** The least that a file must say. */
export const LEAST = `archive: { url: "https://archive.example.com" }
mirrors: [{ source: /srv/scans, target: /Scans }]
`;

/** A temporary folder with a configuration in it; removed when it goes out of scope. */
export class ConfigFolder {
  readonly path = mkdtempSync(join(tmpdir(), "scanferry-config-"));
  readonly file = join(this.path, "scanferry.yaml");

  constructor(text?: string, mode = 0o600) {
    if (text !== undefined) this.write("scanferry.yaml", text, mode);
  }

  write(name: string, content: string | Uint8Array, mode = 0o600): string {
    const path = join(this.path, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
    // Explicitly: the mode given on creation is subject to the umask.
    chmodSync(path, mode);
    return path;
  }

  load(env: NodeJS.ProcessEnv = SECRETS) {
    return loadConfig({ file: this.file, env, cwd: this.path });
  }

  /** The lines of the error, with the folder left out; none when it loads. */
  async problems(env: NodeJS.ProcessEnv = SECRETS): Promise<string[]> {
    return (
      (await this.error(env))?.lines().map((line) => line.replaceAll(`${this.path}/`, "")) ?? []
    );
  }

  async error(env: NodeJS.ProcessEnv = SECRETS): Promise<ConfigError | undefined> {
    try {
      await this.load(env);
      return undefined;
    } catch (error) {
      if (error instanceof ConfigError) return error;
      throw error;
    }
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}
