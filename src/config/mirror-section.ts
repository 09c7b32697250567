/** `mirrors`: source folders, the archive folders that their files go to, and the hooks that have a say in it. */
import { resolve } from "node:path";
import { z } from "zod";
import { CHANGES_PER_HOUR } from "../domain/change-rate.ts";
import { baseOf } from "../rules/folder.ts";
import { invariant } from "../std/fault.ts";
import { wayDown } from "../std/local-path.ts";
import { section, setting, settings } from "./kind.ts";
import { archiveName, choice, duration, givenName, wholeNumber, word } from "./kinds.ts";
import { afterVeto, afterwards, localPath, missingFolder } from "./place-kinds.ts";
import { glob, globBelow, targetTemplate } from "./rule-kinds.ts";
import { checkRules, ruleKeys, rulesOf } from "./rule-section.ts";

/** What every hook has. */
function running(example: string) {
  return {
    command: setting(z.array(word()).min(1).optional(), {
      meaning: "The program and its arguments, without a shell.",
      example,
      without: "no hook",
    }),
    timeout: setting(duration("100ms", "1h").prefault("30s"), {
      meaning: "After this time it is killed with all that it started, and has failed.",
    }),
    concurrency: setting(wholeNumber(1, 32).prefault(2), {
      meaning: "How many run at the same time.",
    }),
  };
}

const before = section(
  {
    ...running("[/etc/scanferry/hooks/check-invoice]"),
    onFailure: setting(choice("hold", "send").prefault("hold"), {
      meaning:
        "If the hook fails: `hold` the document and run the hook again later, or `send` it without the hook.",
    }),
    afterVeto: setting(afterVeto().prefault("keep"), {
      meaning:
        "What happens to the file of a vetoed document: `keep`, or `move` to a folder outside every source.",
    }),
  },
  "A command that runs before each document is sent. It may reject it, name it, and set metadata.",
);

const after = section(
  running("[/etc/scanferry/hooks/tell-accounting, --quiet]"),
  "A command that runs after each document was converted, failed, vetoed or skipped.",
);

/** Hooks of a mirror. */
export const hooksSection = section(
  { before, after },
  "Programs of yours. See [hooks.md](hooks.md).",
);

type HooksShape = z.output<typeof hooksSection>;

/** The hooks of a mirror in which nothing was found wrong, if any; `folder`: the configuration file's. */
export function hooksOf({ before, after }: HooksShape, folder: string) {
  const asked = hookOf(before, folder);
  const told = hookOf(after, folder);
  if (!asked && !told) return undefined;
  const { onFailure, afterVeto } = before;
  return settings({ before: asked && { ...asked, onFailure, afterVeto }, after: told });
}

function hookOf({ command, timeout, concurrency }: HooksShape["after"], folder: string) {
  const [program, ...rest] = command ?? [];
  if (program === undefined) return undefined;
  const called = [programAt(program, folder), ...rest];
  return settings({ command: called, timeoutMs: timeout, concurrency });
}

/** How a command is run: the program, absolute or a name that is looked for in `PATH`, and its arguments. */
export type Hook = NonNullable<ReturnType<typeof hookOf>>;

/** Asked before a document is sent. */
export type BeforeHook = Hook & Pick<HooksShape["before"], "onFailure" | "afterVeto">;

/** The hooks of one mirror; absent ones are not asked. */
export type Hooks = NonNullable<ReturnType<typeof hooksOf>>;

/** A relative path is relative to the configuration file; a bare name is looked for in `PATH`. */
export function programAt(program: string, folder: string): string {
  return program.includes("/") ? resolve(folder, program) : program;
}

/** The keys of one mirror: a source folder and the archive folder that it is carried into. */
const mirrorSchema = section(
  {
    name: setting(givenName().optional(), {
      meaning: "The mirror's name. Unique.",
      example: "scans",
      without: "the source's last folder",
    }),
    source: setting(localPath(), {
      meaning: "The local folder whose files are sent, with all folders below it.",
      example: "/srv/scans",
    }),
    archive: setting(archiveName().optional(), {
      meaning: "Which of `archives` its documents go to. Cannot be changed once anything was sent.",
      example: "legal",
      without: "the only one, or `main`",
    }),
    target: setting(targetTemplate().optional(), {
      meaning:
        "The archive folder; `/` is the root. The folders below the source go into the same folders below " +
        "it; a template such as `/{year}/{group.department}` puts each document where it says instead.",
      example: "/Scans",
      without: "`targetId` instead",
    }),
    targetId: setting(wholeNumber(1, Number.MAX_SAFE_INTEGER).optional(), {
      meaning: "The same by the folder's id, which stays the same when the folder is renamed.",
      example: "17",
      without: "`target` instead",
    }),
    include: setting(z.array(glob()).min(1).prefault(["**/*"]), {
      meaning:
        "Only files that match one of these globs. `*` does not match a leading dot: hidden files and " +
        'folders are left out unless a glob names the dot (`"**/.*"`, `".inbox/**"`).',
      example: '["**/*.pdf", "**/*.tif"]',
    }),
    exclude: setting(z.array(glob()).prefault([]), {
      meaning:
        "No files that match one of these globs, in addition to the built-in list " +
        "([rules.md](rules.md#what-is-left-out)).",
      example: '["drafts/**"]',
    }),
    watch: setting(choice("auto", "native", "polling", "off").prefault("auto"), {
      meaning:
        "How changes are noticed: by file events (`native`), by `polling`, or only by `schedule.rescan` " +
        "(`off`). `auto` uses events on local disks and polling on network shares.",
    }),
    settle: setting(duration("0", "1d").prefault("10s"), {
      meaning:
        "A file that has not changed for this long is stable. A growing file waits up to three times as " +
        "long; if files grow after they were sent, the whole mirror waits longer, until `settle` is set to a " +
        "shorter time.",
    }),
    incomplete: setting(duration("0", "30d").prefault("10m"), {
      meaning:
        "How long a file that is not complete by its format may take to become complete, counted from its " +
        "modification time.",
    }),
    stillIncomplete: setting(choice("hold", "upload").prefault("hold"), {
      meaning:
        "What happens then: `hold` (`FILE_INCOMPLETE`) until the file changes or a user sends it (`scanferry " +
        'retry --anyway PATH`, or "Send anyway" on the page), or `upload` it as it is.',
    }),
    missingFolder: setting(missingFolder().prefault("hold"), {
      meaning:
        "If an archive folder does not exist: `hold` the document, or send it to the `nearest` folder above " +
        "or the `fallback` folder.",
    }),
    firstRun: setting(choice("hold", "upload").prefault("hold"), {
      meaning:
        "A file that the archive may already have, on the first run or after the journal or the machine was " +
        "restored: `hold` it until `scanferry adopt` compares them, or `upload` it as another document.",
    }),
    changed: setting(choice("upload", "ignore").prefault("upload"), {
      meaning:
        "What an edit of an archived file does: `upload` sends it as another document, `ignore` nothing.",
    }),
    changesPerHour: setting(wholeNumber(1, 100_000).prefault(CHANGES_PER_HOUR), {
      meaning:
        "With `changed: upload`: how many contents of one path are sent within an hour. More are held until " +
        "the hour has passed.",
    }),
    after: setting(afterwards().prefault("keep"), {
      meaning:
        "What happens to the local file after its document is CONVERTED and proven: `keep`, `delete`, or " +
        "`move` to a folder outside every other mirror's source. A change does not apply to files that were " +
        "kept before.",
    }),
    ...ruleKeys,
    hooks: hooksSection,
  },
  "A source folder and the archive folder that its files go to. Sources must not overlap.",
  (mirror, at) => {
    checkRules(mirror, at);
    const { target, targetId } = mirror;
    if (target !== undefined && targetId !== undefined)
      at.report("targetId", "is given next to target", "keep one of target and targetId");
    if (target === undefined && targetId === undefined && !at.has("targetId"))
      at.report("target", "is missing", "write e.g. target: /Scans, or targetId: 17");
  },
);

/** The mirrors of a file. */
export const mirrorsSchema = setting(z.array(mirrorSchema).min(1), {
  meaning: "The mirrors, one or more.",
  example: "[{ source: /srv/scans, target: /Scans }]",
});

type MirrorShape = z.output<typeof mirrorSchema>;

/** A mirror in which nothing was found wrong; `archive` is the name of its own, `folder` the configuration file's. */
export function mirrorOf(mirror: MirrorShape, archive: string | undefined, folder: string) {
  const { name, source, include, watch, stillIncomplete, missingFolder } = mirror;
  const { firstRun, changed, changesPerHour, after } = mirror;
  invariant(name !== undefined, "a checked mirror has a name");
  invariant(archive !== undefined, "a checked mirror has an archive");
  return settings({
    /** Unique among the mirrors. */
    name,
    /** Absolute, normalised, never looked at while the configuration is read. */
    source,
    /** The name of the archive it is carried into. */
    archive,
    target: targetOf(mirror),
    include,
    /** Next to the built-in list; holds the folder of `after: move` when that lies in the source. */
    exclude: excludeOf(mirror),
    watch,
    settleMs: mirror.settle,
    incompleteMs: mirror.incomplete,
    stillIncomplete,
    missingFolder,
    firstRun,
    changed,
    changesPerHour,
    after,
    /** What goes with its documents, and where they go. */
    rules: rulesOf(mirror),
    hooks: hooksOf(mirror.hooks, folder),
  });
}

function targetOf({
  target,
  targetId,
}: MirrorShape): { readonly path: string } | { readonly id: number } {
  if (targetId !== undefined) return { id: targetId };
  invariant(target !== undefined, "a checked mirror has a target");
  return { path: baseOf(target) };
}

/** What was moved within the source must not be found there and sent a second time. */
function excludeOf({ exclude, source, after }: MirrorShape): string[] {
  const way = after.kind === "move" ? wayDown(source, after.to) : undefined;
  return way === undefined || way === "" ? exclude : [...exclude, globBelow(way)];
}
