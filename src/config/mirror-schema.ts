import { z } from "zod";
import { CHANGES_PER_HOUR } from "../domain/change-rate.ts";
import { glob } from "./glob.ts";
import { hooksSection } from "./hook-schema.ts";
import { section, setting } from "./kind.ts";
import { archiveName, choice, duration, givenName, wholeNumber } from "./kinds.ts";
import { afterwards, localPath, missingFolder } from "./place-kinds.ts";
import { targetTemplate } from "./rule-kinds.ts";
import { ruleKeys } from "./rule-schema.ts";

/** The keys of one mirror: a source folder and the archive folder that it is carried into. */
export const mirrorSchema = section(
  {
    name: setting(givenName().optional(), {
      meaning: "The mirror's name. Unique.",
      example: "scans",
      without: "the source's last folder",
    }),
    source: setting(localPath(), {
      meaning: "The local folder whose files are sent, with all folders below it.",
      example: "/srv/scans",
      required: true,
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
      example: "polling",
    }),
    settle: setting(duration("0", "1d").prefault("10s"), {
      meaning:
        "A file that has not changed for this long is stable. A growing file waits up to three times as " +
        "long; if files grow after they were sent, the whole mirror waits longer, until `settle` is set to a " +
        "shorter time.",
      example: "30s",
    }),
    incomplete: setting(duration("0", "30d").prefault("10m"), {
      meaning:
        "How long a file that is not complete by its format may take to become complete, counted from its " +
        "modification time.",
      example: "1h",
    }),
    stillIncomplete: setting(choice("hold", "upload").prefault("hold"), {
      meaning:
        "What happens then: `hold` (`FILE_INCOMPLETE`) until the file changes or a user sends it (`scanferry " +
        'retry --anyway PATH`, or "Send anyway" on the page), or `upload` it as it is.',
      example: "upload",
    }),
    missingFolder: setting(missingFolder().prefault("hold"), {
      meaning:
        "If an archive folder does not exist: `hold` the document, or send it to the `nearest` folder above " +
        "or the `fallback` folder.",
      example: "fallback:/Inbox",
    }),
    firstRun: setting(choice("hold", "upload").prefault("hold"), {
      meaning:
        "A file that the archive may already have, on the first run or after the journal or the machine was " +
        "restored: `hold` it until `scanferry adopt` compares them, or `upload` it as another document.",
      example: "upload",
    }),
    changed: setting(choice("upload", "ignore").prefault("upload"), {
      meaning:
        "What an edit of an archived file does: `upload` sends it as another document, `ignore` nothing.",
      example: "ignore",
    }),
    changesPerHour: setting(wholeNumber(1, 100_000).prefault(CHANGES_PER_HOUR), {
      meaning:
        "With `changed: upload`: how many contents of one path are sent within an hour. More are held until " +
        "the hour has passed.",
      example: "20",
    }),
    after: setting(afterwards().prefault("keep"), {
      meaning:
        "What happens to the local file after its document is CONVERTED and proven: `keep`, `delete`, or " +
        "`move` to a folder outside every other mirror's source. A change does not apply to files that were " +
        "kept before.",
      example: "move:/srv/done",
    }),
    ...ruleKeys,
    hooks: hooksSection,
  },
  "A source folder and the archive folder that its files go to. Sources must not overlap.",
);
