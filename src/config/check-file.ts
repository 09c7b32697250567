/** What only the whole file tells: what follows from other keys, and what contradicts them. */
import { basename } from "node:path";
import { certificateProblem, keyProblem, type PemProblem } from "../network/trust.ts";
import { proxyIn } from "../network/network.ts";
import { isWithin } from "../std/local-path.ts";
import { nearest } from "../std/nearest.ts";
import { quoted } from "../std/printable.ts";
import { archiveNameOf, archivesIn } from "./archive-section.ts";
import type { FileSketch } from "./config.ts";
import type { ConfigProblems, Place } from "./config-problems.ts";
import { givenName } from "./kinds.ts";
import { calledBy, writtenChannels } from "./notify-section.ts";
import { type After, proxyProblem } from "./place-kinds.ts";
import { journalPathIn } from "./service-sections.ts";

/** Fills in what follows from other keys, and reports every conflict among what could be read. */
export function checkFile(sketch: FileSketch, findings: ConfigProblems): void {
  const { mirrors = [], journal } = sketch;
  for (const mirror of mirrors)
    if (mirror?.source !== undefined) mirror.name ??= basename(mirror.source);
  // A password in the address is like one that is written by its key.
  if (journal?.url?.password !== undefined) journal.password ??= journal.url.password;
  checkArchives(sketch, findings);
  for (const [index, mirror] of mirrors.entries()) {
    if (mirror === undefined) continue;
    const at = findings.at("mirrors", index);
    const earlier = mirrors.slice(0, index);
    checkName(mirror.name, earlier, at);
    checkSource(mirror.source, earlier, at);
    checkMove(mirror.after, mirrors, at, "after", index);
    checkMove(mirror.hooks?.before?.afterVeto, mirrors, at.below("hooks", "before"), "afterVeto");
  }
  checkOwnFiles(sketch, findings);
  checkReserve(sketch, findings.at("quota", "reserve"));
  checkChannels(sketch, findings);
}

type Mirrors = NonNullable<FileSketch["mirrors"]>;

/** Reports archives given in two ways, and mirrors of none. */
function checkArchives(sketch: FileSketch, findings: ConfigProblems): void {
  const { archive, archives, mirrors = [] } = sketch;
  if (archive !== undefined && archives !== undefined)
    findings.report(["archive"], "is given next to archives", "write it among them, as main");
  const all = archivesIn(sketch);
  if (all.length === 0) return;
  const fix = `write one of ${all.map(({ name }) => name).join(", ")}`;
  for (const [at, mirror] of mirrors.entries()) {
    if (archiveNameOf(mirror, all) !== undefined) continue;
    const message =
      mirror?.archive === undefined
        ? "is missing: there are several archives"
        : `there is no archive ${quoted(mirror.archive)}`;
    findings.report(["mirrors", at, "archive"], message, fix);
  }
}

function checkName(name: string | undefined, earlier: Mirrors, at: Place): void {
  if (name === undefined || at.has("name")) return;
  const other = earlier.findIndex((mirror) => mirror?.name === name);
  if (other >= 0) {
    const message = `${quoted(name)} is the name of mirrors[${other}] too`;
    at.report("name", message, "give it a name of its own");
  }
  // That of the source's last folder has passed no check yet; `/` has none at all.
  const [issue] = givenName().safeParse(name).error?.issues ?? [];
  if (issue) at.report("name", `${issue.message} (the source's last folder)`, "give one");
}

function checkSource(source: string | undefined, earlier: Mirrors, at: Place): void {
  if (source === undefined) return;
  for (const [index, mirror] of earlier.entries()) {
    const other = mirror?.source;
    if (other === undefined || !(isWithin(other, source) || isWithin(source, other))) continue;
    const how = source === other ? "is the source of" : "overlaps the source of";
    const message = `${quoted(source)} ${how} mirrors[${index}] (${quoted(other)}), so files would be sent twice`;
    at.report("source", message, "give folders of which none lies in another");
  }
}

/** What was moved away must not be found, and sent, again; a mirror leaves out what it moved within its own source. */
function checkMove(
  after: After | undefined,
  mirrors: Mirrors,
  at: Place,
  key: string,
  own?: number,
): void {
  if (after?.kind !== "move") return;
  const { to } = after;
  if (own !== undefined && to === mirrors[own]?.source)
    return at.report(key, `${quoted(to)} is the source itself`, "move to another folder");
  const other = mirrors.findIndex(
    (mirror, index) => index !== own && mirror?.source !== undefined && isWithin(mirror.source, to),
  );
  if (other < 0) return;
  const message = `${quoted(to)} lies in the source of mirrors[${other}], which would send it again`;
  at.report(key, message, "move to a folder outside of it");
}

/** Reports files that the daemon writes itself and would find in a source. */
function checkOwnFiles(
  { journal, log, receipts, mirrors = [] }: FileSketch,
  findings: ConfigProblems,
): void {
  const files = [
    [["journal"], journal && journalPathIn(journal), "/var/lib/scanferry/journal.db"],
    [["log", "file"], log?.file, "/var/log/scanferry/scanferry.log"],
    [["receipts"], receipts?.dir, "/var/lib/scanferry/receipts"],
  ] as const;
  for (const [key, file, example] of files) {
    const at = mirrors.findIndex(
      (mirror) => mirror?.source && file && isWithin(mirror.source, file),
    );
    if (at < 0) continue;
    const message = `${quoted(file)} lies in the source of mirrors[${at}], which would send it`;
    findings.report(key, message, `keep it outside, e.g. ${example}`);
  }
}

/** Reports a reserve for mirrors that there are not. */
function checkReserve({ quota, mirrors = [] }: FileSketch, at: Place): void {
  const names = mirrors.flatMap((mirror) => mirror?.name ?? []);
  for (const [index, name] of (quota?.reserve?.mirrors ?? []).entries()) {
    if (name === undefined || names.includes(name)) continue;
    const meant = nearest(name, names);
    const fix = meant === undefined ? `write one of ${names.join(", ")}` : `did you mean ${meant}?`;
    at.report(["mirrors", index], `${quoted(name)} is no mirror's name`, fix);
  }
}

/** Reports channels that cannot be told apart. */
function checkChannels({ notify }: FileSketch, findings: ConfigProblems): void {
  const names = new Set<string>();
  for (const { way, channel, key } of writtenChannels(notify)) {
    const { name = way.by } = channel as { name?: string };
    if (names.has(name)) {
      const message = `${quoted(name)} is the name of another channel too`;
      findings.report([...key, "name"], message, "give it a name of its own");
    }
    names.add(name);
  }
}

/**
 * Reports certificates and keys that are none, once their files were read, and proxies that nothing can go by. What
 * `notify` calls goes the way of the first archive.
 */
export function checkWays(
  sketch: FileSketch,
  env: NodeJS.ProcessEnv,
  findings: ConfigProblems,
): void {
  for (const [at, { key, section }] of archivesIn(sketch).entries()) {
    const { url, ca, clientCert: cert, clientKey } = section;
    const report = (name: string, problem: PemProblem | undefined) => {
      if (problem) findings.report([...key, name], problem.message, problem.fix);
      return problem === undefined;
    };
    if (ca !== undefined) report("ca", certificateProblem(ca));
    if (
      cert !== undefined &&
      clientKey !== undefined &&
      report("clientCert", certificateProblem(cert))
    )
      report("clientKey", keyProblem(cert, clientKey));
    // What is written goes before the environment.
    if (section.proxy !== undefined) continue;
    // A proxy that cannot be used must not be passed by in silence.
    const why = [url, ...(at === 0 ? calledBy(sketch.notify) : [])]
      .map((called) => (called === undefined ? undefined : proxyIn(env, called)))
      .map((proxy) => (proxy === undefined ? undefined : proxyProblem(proxy)))
      .find((problem) => problem !== undefined);
    const fix = "set it to http://HOST:PORT, or write proxy: off";
    if (why !== undefined)
      report("proxy", { message: `the environment's HTTPS_PROXY or HTTP_PROXY ${why}`, fix });
  }
}
