/** The one thing that matters first, from a snapshot. Pure: the page shows what this returns. */
import { strings } from "./strings.js";

/** States of documents that are neither archived nor stopped. */
const MOVING = ["settling", "pending", "uploading", "inDoubt", "uploaded"];
/** Of those, the ones a pause keeps back. */
const WAITING = ["settling", "pending"];

const sum = (documents, states) => states.reduce((all, state) => all + documents[state], 0);

/**
 * `tone` is `bad` (a person is needed), `warn` (stopped, continues automatically or by a click), `busy`
 * or `good`; `facts` are rows of [label, value, time?], the value a text or epoch milliseconds.
 */
export function headlineOf(snapshot) {
  const words = strings.headline;
  const { gate, health, sending } = snapshot;
  if (!health.healthy) return { tone: "bad", title: words.unhealthy, detail: health.why, facts: [] };
  if (gate) return ofGate(snapshot);
  const headline = (snapshot.paused ? undefined : ofOutage(snapshot)) ?? ofWork(snapshot);
  if (!sending.waits) return headline;
  const { message, until } = sending.waits;
  const facts = [...headline.facts, { label: words.sendingWaits, text: message }];
  if (until !== null) facts.push({ label: words.until, at: until });
  return { ...headline, facts };
}

function ofWork(snapshot) {
  const { documents, paused, foldersToCreate, sending, mirrors, afterPending } = snapshot;
  const words = strings.headline;
  const moving = sum(documents, MOVING);
  if (paused) {
    const waiting = sum(documents, WAITING);
    return { tone: "warn", title: words.paused, detail: words.pausedDetail(waiting), facts: [] };
  }
  if (documents.failed > 0)
    return { tone: "bad", title: words.failed(documents.failed), detail: words.failedDetail, facts: [] };
  const away = mirrors.filter(({ offline }) => offline);
  if (away.length > 0) return ofOffline(away);
  const unread = mirrors.filter((mirror) => mirror.unread);
  if (unread.length > 0) return ofUnread(unread);
  if (foldersToCreate.length > 0) {
    const folders = new Set(foldersToCreate.map(({ path }) => path)).size;
    const waiting = foldersToCreate.reduce((all, folder) => all + folder.documents, 0);
    return { tone: "warn", title: words.folders(folders), detail: words.foldersDetail(waiting), facts: [] };
  }
  if (documents.held > 0) {
    const detail = words.heldDetail(documents.held);
    return { tone: "warn", title: words.held(documents.held), detail, facts: [] };
  }
  if (afterPending.length > 0) return ofAfterPending(afterPending);
  const keptBack = sum(documents, WAITING);
  if (sending.waits && keptBack > 0)
    return { tone: "warn", title: words.waits[sending.waits.why], detail: words.waiting(keptBack), facts: [] };
  if (moving > 0)
    return { tone: "busy", title: words.moving(moving), detail: words.movingDetail(documents.converted), facts: [] };
  if (documents.converted === 0)
    return { tone: "quiet", title: words.empty, detail: words.emptyDetail, facts: [] };
  return ofAllDone(snapshot);
}

/** What stays where it is for good is archived all the same: told, and no alarm. */
function ofAllDone({ documents, afterFailed }) {
  const words = strings.headline;
  const facts = afterFailed.map(({ mirror, files, path, why }) => ({
    label: mirror,
    text: words.afterFailed(files, path, why),
  }));
  return { tone: "good", title: words.done(documents.converted), detail: words.doneDetail, facts };
}

/** The archive that does not answer for the longest; of several, others that do not are facts of it. */
function ofOutage({ archives, documents }) {
  const words = strings.headline;
  const silent = archives.filter(({ outage }) => outage).toSorted((a, b) => a.outage.since - b.outage.since);
  if (silent.length === 0) return undefined;
  const [{ name, outage }, ...others] = silent;
  const facts = [
    { label: words.reason, text: `${outage.message} (${outage.code})` },
    { label: words.fix, hint: outage.hint },
    { label: words.since, at: outage.since },
    { label: words.nextTry, at: outage.nextAttemptAt },
    ...others.map(({ name: other, outage: { message, code } }) => ({ label: other, text: `${message} (${code})` })),
  ];
  const title = archives.length > 1 ? words.outageOf(name) : words.outage;
  return { tone: "bad", title, detail: words.waiting(sum(documents, WAITING)), facts };
}

/** Archived they are; where they lie is all that is wrong. */
function ofAfterPending(files) {
  const words = strings.headline;
  const [{ mirror, path, why, nextAttemptAt }] = files;
  const facts = [{ label: mirror, text: `${path}: ${why}` }];
  if (nextAttemptAt !== null) facts.push({ label: words.nextTry, at: nextAttemptAt });
  return { tone: "warn", title: words.afterPending(files.length), detail: words.afterPendingDetail, facts };
}

function ofOffline(mirrors) {
  const words = strings.headline;
  const facts = mirrors.map(({ name, offline: { why } }) => ({ label: name, text: why }));
  const since = Math.min(...mirrors.map(({ offline }) => offline.since));
  return {
    tone: "bad",
    title: words.offline(mirrors.map(({ name }) => name)),
    detail: words.offlineDetail,
    facts: [...facts, { label: words.since, at: since }],
  };
}

/** Folders that nobody can look into: what is in them is on none of the lists. */
function ofUnread(mirrors) {
  const words = strings.headline;
  const facts = mirrors.map(({ name, unread: { path, why } }) => ({ label: name, text: `${path}: ${why}` }));
  const folders = mirrors.reduce((all, { unread }) => all + unread.directories, 0);
  return {
    tone: "bad",
    title: words.unread(folders),
    detail: words.unreadDetail,
    facts: [...facts, { label: words.fix, text: words.unreadFix }],
  };
}

/** The gate that is closed the longest; of several archives, others that are closed are facts of it. */
function ofGate({ gate, archives, mirrors }) {
  const words = strings.headline;
  const reason = words.gateReasons[gate.code] ?? words.gateOther(gate.code);
  const shut = archives.filter((archive) => archive.gate);
  const first = shut.find((archive) => archive.gate.closedAt === gate.closedAt);
  const isOf = (mirror) => shut.some(({ name }) => name === mirror.archive);
  const waiting = mirrors
    .filter(isOf)
    .reduce((all, { documents }) => all + sum(documents, WAITING) + documents.held, 0);
  const facts = [
    { label: words.reason, text: `${gate.message} (${gate.code})` },
    { label: words.fix, hint: gate.hint },
    { label: words.since, at: gate.closedAt },
  ];
  if (gate.nextProbeAt !== null) facts.push({ label: words.nextTry, at: gate.nextProbeAt });
  for (const { name, gate: other } of shut.filter((archive) => archive !== first)) {
    facts.push({ label: name, text: `${other.message} (${other.code})` });
  }
  const title = archives.length > 1 ? words.gateOf(first.name, reason) : words.gate(reason);
  return { tone: "bad", title, detail: words.waiting(waiting), facts };
}

/** Documents in all states together. */
export function allOf(documents) {
  return Object.values(documents).reduce((all, count) => all + count, 0);
}
