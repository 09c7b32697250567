import { FIRST_ARCHIVE } from "../domain/archive-name.ts";
import type { Config } from "./config.ts";
import type { ConfigProblems, KeyPath } from "./config-problems.ts";
import { quoted } from "./quoted.ts";
import type { Sketch } from "./file-schema.ts";

type Section<S extends Pick<Sketch, "archive" | "archives">> = NonNullable<S["archive"]>;

/** An archive as the file has it: its name, and where its section stands. */
export type WrittenArchive<S extends Pick<Sketch, "archive" | "archives"> = Sketch> = {
  readonly name: string;
  readonly key: KeyPath;
  readonly section: Section<S>;
};

/** The archives of a file, in its order; that of `archive:` is called `main`. */
export function archivesIn<S extends Pick<Sketch, "archive" | "archives">>(
  sketch: S,
): WrittenArchive<S>[] {
  const { archive, archives = {} } = sketch;
  const single = archive && [{ name: FIRST_ARCHIVE, key: ["archive"], section: archive }];
  const several = Object.entries(archives).flatMap(([name, section]) =>
    section === undefined ? [] : [{ name, key: ["archives", name], section }],
  );
  return [...(single ?? []), ...several] as WrittenArchive<S>[];
}

/**
 * Which archive a mirror is carried into: the one it names, else the only one, else `main`; never
 * one by its place in the file, which may change. Undefined where that is none.
 */
export function archiveNameOf(
  mirror: { readonly archive?: string | undefined } | undefined,
  archives: readonly { readonly name: string }[],
): string | undefined {
  const [only] = archives;
  const byDefault = archives.length === 1 ? only?.name : FIRST_ARCHIVE;
  const name = mirror?.archive ?? byDefault;
  return archives.some((archive) => archive.name === name) ? name : undefined;
}

/** Reports archives given in two ways, and mirrors of none. */
export function reportArchives(sketch: Sketch, findings: ConfigProblems): void {
  const { archive, archives, mirrors = [] } = sketch;
  if (archive !== undefined && archives !== undefined) {
    const fix = "write it among them, as main";
    findings.report(["archive"], "is given next to archives", fix);
  }
  const all = archivesIn(sketch);
  const names = all.map(({ name }) => name).join(", ");
  if (all.length === 0) return;
  for (const [at, mirror] of mirrors.entries()) {
    const key = ["mirrors", at, "archive"];
    if (archiveNameOf(mirror, all) !== undefined || findings.has(key)) continue;
    if (mirror?.archive === undefined) {
      findings.report(key, "is missing: there are several archives", `write one of ${names}`);
    } else {
      const message = `there is no archive ${quoted(mirror.archive)}`;
      findings.report(key, message, `write one of ${names}`);
    }
  }
}

/** All archives of a configuration, one or more. */
export function archivesOf(config: Pick<Config, "archive" | "furtherArchives">) {
  return [config.archive, ...(config.furtherArchives ?? [])];
}

/** The configuration as each archive has it: with its own mirrors, and no other archive. */
export function accountsOf(config: Config): Config[] {
  return archivesOf(config).map((archive) => ({
    ...config,
    archive,
    furtherArchives: [],
    mirrors: config.mirrors.filter((mirror) => mirror.archive === archive.name),
  }));
}
