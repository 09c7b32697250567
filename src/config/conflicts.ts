/** What no key can say alone: keys that do not go together. */
import { archivesIn, reportArchives } from "./archives.ts";
import { formatDuration } from "./duration.ts";
import type { ConfigProblems } from "./config-problems.ts";
import { nameIn } from "./kinds.ts";
import { isWithin, type Layout } from "./layout.ts";
import { nearest } from "./nearest.ts";
import { quoted } from "./quoted.ts";
import { reportChannels } from "./notify.ts";
import { reportRules } from "./rule-conflicts.ts";
import type { Sketch } from "./file-schema.ts";
import { writtenJournal } from "./written-journal.ts";

/** Reports every conflict among what could be read. */
export function reportConflicts(sketch: Sketch, layout: Layout, findings: ConfigProblems): void {
  reportSigning(sketch, findings);
  reportArchives(sketch, findings);
  reportTargets(sketch, findings);
  reportRules(sketch, layout, findings);
  reportNames(layout, findings);
  reportOverlaps(layout, findings);
  reportMoves(layout, findings);
  reportOwnFiles(layout, findings);
  reportJournal(sketch, findings);
  reportIntervals(sketch, findings);
  reportChannels(sketch.notify, findings);
  reportReserve(sketch, layout, findings);
}

function reportSigning(sketch: Sketch, findings: ConfigProblems): void {
  for (const archive of archivesIn(sketch)) {
    const { signing } = archive.section;
    const key = [...archive.key, "signing", "module"];
    if (signing?.scheme === "module" && signing.module === undefined && !findings.has(key)) {
      findings.report(key, "is missing", "write e.g. module: ./sign.mjs");
    }
  }
}

function reportTargets({ mirrors = [] }: Sketch, findings: ConfigProblems): void {
  for (const [at, mirror] of mirrors.entries()) {
    const target = ["mirrors", at, "target"];
    const id = ["mirrors", at, "targetId"];
    if (mirror?.target !== undefined && mirror.targetId !== undefined) {
      findings.report(id, "is given next to target", "keep one of target and targetId");
    }
    if (mirror === undefined || mirror.target !== undefined || mirror.targetId !== undefined)
      continue;
    if (findings.has(target) || findings.has(id)) continue;
    findings.report(target, "is missing", "write e.g. target: /Scans, or targetId: 17");
  }
}

function reportNames({ mirrors }: Layout, findings: ConfigProblems): void {
  const first = new Map<string, number>();
  for (const [at, { name }] of mirrors.entries()) {
    const key = ["mirrors", at, "name"];
    if (name === undefined || findings.has(key)) continue;
    const other = first.get(name);
    if (other !== undefined) {
      const message = `${quoted(name)} is the name of mirrors[${other}] too`;
      findings.report(key, message, "give it a name of its own");
    } else first.set(name, at);
    reportUnfit(name, at, findings);
  }
}

/** A name that came from the source's last folder has passed no check yet; `/` has none at all. */
function reportUnfit(name: string, at: number, findings: ConfigProblems): void {
  const wrong: string[] = [];
  try {
    nameIn(name, (message) => {
      wrong.push(message);
      throw new Error(message);
    });
  } catch (error) {
    if (wrong.length === 0) throw error;
    findings.report(
      ["mirrors", at, "name"],
      `${wrong.join()} (the source's last folder)`,
      "give one",
    );
  }
}

function reportOverlaps({ mirrors }: Layout, findings: ConfigProblems): void {
  for (const [at, { source }] of mirrors.entries()) {
    for (const [before, other] of mirrors.slice(0, at).entries()) {
      if (source === undefined || other.source === undefined) continue;
      if (!isWithin(other.source, source) && !isWithin(source, other.source)) continue;
      const how = source === other.source ? "is the source of" : "overlaps the source of";
      findings.report(
        ["mirrors", at, "source"],
        `${quoted(source)} ${how} mirrors[${before}] (${quoted(other.source)}), so files would be sent twice`,
        "give folders of which none lies in another",
      );
    }
  }
}

function reportMoves({ mirrors }: Layout, findings: ConfigProblems): void {
  for (const [at, { source, moveTo }] of mirrors.entries()) {
    if (moveTo === undefined) continue;
    const key = ["mirrors", at, "after"];
    if (moveTo === source) {
      findings.report(key, `${quoted(moveTo)} is the source itself`, "move to another folder");
      continue;
    }
    const other = mirrors.findIndex((mirror, index) => {
      return index !== at && mirror.source !== undefined && isWithin(mirror.source, moveTo);
    });
    if (other < 0) continue;
    const message = `${quoted(moveTo)} lies in the source of mirrors[${other}], which would send it again`;
    findings.report(key, message, "move to a folder outside of it");
  }
}

/** What the daemon writes itself must not be found in a source. */
function reportOwnFiles(
  { journal, log, receipts, mirrors }: Layout,
  findings: ConfigProblems,
): void {
  const files = [
    [["journal"], journal, "/var/lib/scanferry/journal.db"],
    [["log", "file"], log, "/var/log/scanferry/scanferry.log"],
    [["receipts"], receipts, "/var/lib/scanferry/receipts"],
  ] as const;
  for (const [key, file, example] of files) {
    if (file === undefined) continue;
    const at = mirrors.findIndex(({ source }) => source !== undefined && isWithin(source, file));
    if (at < 0) continue;
    const message = `${quoted(file)} lies in the source of mirrors[${at}], which would send it`;
    findings.report([...key], message, `keep it outside, e.g. ${example}`);
  }
}

/** What holds for a file alone, or for PostgreSQL alone, next to the other. */
function reportJournal({ journal }: Sketch, findings: ConfigProblems): void {
  const { path, url, passwordFile, instance } = writtenJournal(journal);
  if (path !== undefined && url !== undefined) {
    findings.report(["journal", "path"], "is given next to url", "keep one of path and url");
  }
  if (url !== undefined) return;
  for (const [name, value] of Object.entries({ passwordFile, instance })) {
    if (value === undefined || findings.has(["journal", "url"])) continue;
    const message = "is for a journal in PostgreSQL alone";
    findings.report(["journal", name], message, "write journal.url, or leave it out");
  }
}

function reportIntervals({ upload, quota, conversion }: Sketch, findings: ConfigProblems): void {
  const intervals = [
    [["upload", "retry"], upload?.retry],
    [["quota", "retry"], quota?.retry],
    [["conversion", "poll"], conversion?.poll],
  ] as const;
  for (const [key, interval] of intervals) {
    const { initial, max } = interval ?? {};
    if (initial === undefined || max === undefined || initial <= max) continue;
    const message = `${formatDuration(initial)} is longer than max (${formatDuration(max)})`;
    findings.report([...key, "initial"], message, "make initial shorter, or max longer");
  }
}

function reportReserve({ quota }: Sketch, { mirrors }: Layout, findings: ConfigProblems): void {
  const { reserve, monthlyPages } = quota ?? {};
  const { pages = 0, mirrors: named = [] } = reserve ?? {};
  const key = ["quota", "reserve"];
  if (pages > 0 && named.length === 0)
    findings.report([...key, "mirrors"], "is missing", "write e.g. mirrors: [contracts]");
  if (pages === 0 && named.length > 0)
    findings.report([...key, "pages"], "is missing", "write e.g. pages: 500");
  if (pages > 0 && monthlyPages === undefined)
    findings.report(
      [...key, "pages"],
      "has no monthlyPages to be taken from",
      "write e.g. monthlyPages: 5000",
    );
  if (pages > (monthlyPages ?? pages)) {
    const message = `${pages} is more than monthlyPages (${monthlyPages})`;
    findings.report([...key, "pages"], message, "reserve fewer pages");
  }
  const names = mirrors.flatMap(({ name }) => name ?? []);
  for (const [at, name] of named.entries()) {
    if (name === undefined || names.includes(name)) continue;
    const meant = nearest(name, names);
    const fix = meant === undefined ? `write one of ${names.join(", ")}` : `did you mean ${meant}?`;
    findings.report([...key, "mirrors", at], `${quoted(name)} is no mirror's name`, fix);
  }
}
