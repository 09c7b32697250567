import { z } from "zod";
import { CHANGES_PER_HOUR } from "../domain/change-rate.ts";
import { glob } from "./glob.ts";
import { hooksSection } from "./hook-schema.ts";
import { section, setting } from "./kind.ts";
import { archiveName, choice, duration, givenName, wholeNumber } from "./kinds.ts";
import { afterwards, localPath, missingFolder } from "./places.ts";
import { targetTemplate } from "./rule-kinds.ts";
import { ruleKeys } from "./rule-schema.ts";

/** The keys of one mirror: a source folder and the archive folder that it is carried into. */
export const mirrorSchema = section(
  {
    name: setting(givenName().optional(), {
      meaning: "What the mirror is called in commands, logs and the journal. Unique.",
      example: "scans",
      without: "the source's last folder",
    }),
    source: setting(localPath(), {
      meaning: "The local folder whose files are carried into the archive, with all below it.",
      example: "/srv/scans",
      required: true,
    }),
    archive: setting(archiveName().optional(), {
      meaning:
        "Which of `archives` it is carried into. It stays so once anything was sent: the journal knows " +
        "the mirror's documents by the numbers of that archive.",
      example: "legal",
      without: "the only one, or the one called `main`",
    }),
    target: setting(targetTemplate().optional(), {
      meaning:
        "The archive folder it is carried into, as a path; `/` is the root. The tree below the source " +
        "is mirrored there; a template such as `/{year}/{group.department}` puts each document where it " +
        "says instead. Either this or `targetId`.",
      example: "/Scans",
      without: "`targetId` is required",
    }),
    targetId: setting(wholeNumber(1, Number.MAX_SAFE_INTEGER).optional(), {
      meaning: "The same by the folder's id, which survives a renaming of the folder.",
      example: "17",
      without: "`target` is required",
    }),
    include: setting(z.array(glob()).min(1).prefault(["**/*"]), {
      meaning:
        "Only files that match one of these globs, relative to the source. As in a shell, `*` matches no leading " +
        'dot: hidden files and folders stay out unless a glob names the dot (`"**/.*"`, `".inbox/**"`).',
      example: '["**/*.pdf", "**/*.tif"]',
    }),
    exclude: setting(z.array(glob()).prefault([]), {
      meaning:
        "No files that match one of these globs, beside the built-in list of temporary and system files " +
        "([rules.md](rules.md#what-is-left-out); `scanferry explain PATH` names the pattern).",
      example: '["drafts/**"]',
    }),
    watch: setting(choice("auto", "native", "polling", "off").prefault("auto"), {
      meaning:
        "How changes are noticed early: `native` file events, `polling`, or `off` (the rescan alone). " +
        "`auto` takes events on local disks and rescans where a network share gives none.",
      example: "polling",
    }),
    settle: setting(duration("0", "1d").prefault("10s"), {
      meaning:
        "A file that has not changed for this long is stable. One that was seen to grow waits for as much longer, up to " +
        "three times as long. Where files are seen to grow after they were sent, all of the mirror wait longer from " +
        "then on, as `status` and `explain` tell, until `settle` is set shorter than it was then.",
      example: "30s",
    }),
    incomplete: setting(duration("0", "30d").prefault("10m"), {
      meaning:
        "How long a file that is unfinished by its own format may take to become whole, counted from its " +
        "modification time, but for those of 1970 and 1980, which copy programs leave behind.",
      example: "1h",
    }),
    stillIncomplete: setting(choice("hold", "upload").prefault("hold"), {
      meaning:
        "What happens then: `hold` the file (`FILE_INCOMPLETE`) until it changes or a person sends it by " +
        '`scanferry retry --anyway PATH` or "Send anyway" on the page; or `upload` it as it is, marked in ' +
        "`list` and in the receipt.",
      example: "upload",
    }),
    missingFolder: setting(missingFolder().prefault("hold"), {
      meaning:
        "What happens while a document's archive folder does not exist: `hold` the document, send it " +
        "to the `nearest` folder above that exists, or to the `fallback` folder.",
      example: "fallback:/Inbox",
    }),
    firstRun: setting(choice("hold", "upload").prefault("hold"), {
      meaning:
        "What happens on the first run over this mirror, or after the journal was lost, to a file whose " +
        "name the archive folder holds already: `hold` it until `scanferry adopt` has told them apart, " +
        "or `upload` it as a further document. The same on any other run for a file whose name and size a " +
        "document has that came later than all that the journal knows there: the machine, or the " +
        "journal, may have been taken back to an earlier state.",
      example: "upload",
    }),
    changed: setting(choice("upload", "ignore").prefault("upload"), {
      meaning:
        "What an edit of an archived file does: `upload` sends it as a further document, `ignore` nothing.",
      example: "ignore",
    }),
    changesPerHour: setting(wholeNumber(1, 100_000).prefault(CHANGES_PER_HOUR), {
      meaning:
        "With `changed: upload`, so many contents of one path are sent within an hour; what a program writes " +
        "to again and again is held after that, until the hour has passed. Leave such files out with `exclude`.",
      example: "20",
    }),
    after: setting(afterwards().prefault("keep"), {
      meaning:
        "What happens to the local file once it is CONVERTED and proven: `keep` it, `delete` it, or " +
        "`move` it to a folder outside of every other mirror's source. Changed, it counts for what becomes " +
        "CONVERTED from then on, and for what is still to be put away: what was kept stays.",
      example: "move:/srv/done",
    }),
    ...ruleKeys,
    hooks: hooksSection,
  },
  "A source folder and the archive folder it is carried into. The sources must not overlap. Sources " +
    "are not looked at when the configuration is read: a share may be away at that time.",
);
