import { z } from "zod";
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
      meaning: "Only files that match one of these globs, relative to the source.",
      example: '["**/*.pdf", "**/*.tif"]',
    }),
    exclude: setting(z.array(glob()).prefault([]), {
      meaning:
        "No files that match one of these globs, beside the built-in list of temporary and system files " +
        "(`scanferry explain PATH` names the pattern).",
      example: '["drafts/**"]',
    }),
    watch: setting(choice("auto", "native", "polling", "off").prefault("auto"), {
      meaning:
        "How changes are noticed early: `native` file events, `polling`, or `off` (the rescan alone). " +
        "`auto` takes events on local disks and rescans where a network share gives none.",
      example: "polling",
    }),
    parts: setting(wholeNumber(1, 64).prefault(1), {
      meaning:
        "Of several daemons on one journal each may scan some of this mirror: its top folders, with all " +
        "below them, are divided into so many parts. Two to four for each daemon; the same on all.",
      example: "8",
    }),
    settle: setting(duration("0", "1d").prefault("3s"), {
      meaning: "A file that has not changed for this long is stable.",
      example: "10s",
    }),
    incomplete: setting(duration("0", "30d").prefault("10m"), {
      meaning:
        "The same for a file that looks unfinished by its own format, counted from its modification " +
        "time: an old one goes at once, but for those of 1970 and 1980, which copy programs leave behind.",
      example: "1h",
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
        "or `upload` it as a further document.",
      example: "upload",
    }),
    changed: setting(choice("upload", "ignore").prefault("upload"), {
      meaning:
        "What an edit of an archived file does: `upload` sends it as a further document, `ignore` nothing.",
      example: "ignore",
    }),
    after: setting(afterwards().prefault("keep"), {
      meaning:
        "What happens to the local file once it is CONVERTED and proven: `keep` it, `delete` it, or " +
        "`move` it to a folder outside of every other mirror's source.",
      example: "move:/srv/done",
    }),
    ...ruleKeys,
    hooks: hooksSection,
  },
  "A source folder and the archive folder it is carried into. The sources must not overlap. Sources " +
    "are not looked at when the configuration is read: a share may be away at that time.",
);
