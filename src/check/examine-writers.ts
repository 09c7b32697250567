/** Can others change what the daemon reads its settings from, and what it runs? They would have the rights of the daemon's user. */
import { dirname, resolve } from "node:path";
import { accountsOf } from "../config/config.ts";
import type { Config } from "../config/config.ts";
import { type Caller, foreignPlace } from "../std/other-writer.ts";
import { type CheckResult, fail, warn } from "./check-result.ts";

type Named = readonly [what: string, path: string];

const FIX =
  "Make root or the daemon's user its owner (chown), and remove the write permission of others (chmod go-w).";

/** Root is refused: it would run here what another user wrote. */
export function* examineForeign(config: Config, caller: Caller): Generator<CheckResult> {
  const told = new Set<string>();
  for (const [what, path] of namedIn(config)) {
    const foreign = foreignPlace(path, caller);
    if (foreign === undefined || told.has(foreign)) continue;
    told.add(foreign);
    const found = `${what} can be changed by another user: ${foreign}`;
    yield caller === 0
      ? fail(found, `${FIX} As root, check stops here; or run check as the daemon's user.`)
      : warn(found, FIX);
  }
}

function* namedIn(config: Config): Generator<Named> {
  const { file, mirrors, notify, secretFiles = [] } = config;
  if (file !== undefined) yield ["configuration", file];
  for (const { path } of secretFiles) yield ["secret", path];
  for (const { archive } of accountsOf(config)) {
    if (archive.signing.scheme === "module") yield ["signing module", archive.signing.module];
  }
  const folder = file === undefined ? "/" : dirname(file);
  for (const { name, hooks } of mirrors) {
    for (const kind of ["before", "after"] as const)
      yield* pathsIn(`mirror ${name}: ${kind} hook`, hooks?.[kind]?.command ?? [], folder);
  }
  for (const channel of notify?.channels ?? []) {
    if (channel.by === "command")
      yield* pathsIn(`notify ${channel.name}: program`, channel.run, channel.cwd);
  }
}

/** The program, and what an interpreter is given: `[node, ./hook.mjs]`. */
function* pathsIn(what: string, words: readonly string[], folder: string): Generator<Named> {
  for (const word of words) if (word.includes("/")) yield [what, resolve(folder, word)];
}
