/** Puts the page together: words, the line to the daemon, what a click does. */
import { showActivity } from "./activity.js";
import { ask, follow, tell } from "./connection.js";
import { listenToAsk } from "./ask-first.js";
import { showDocuments } from "./documents.js";
import { byId, element, refreshTimes, setText } from "./dom.js";
import { fillMirrors, filterQuery, listenToFilters, setFilters } from "./filters.js";
import { timeOfDay } from "./format.js";
import { choose, language, LANGUAGES } from "./languages.js";
import { listenToInspection } from "./inspection.js";
import { showNow, showUploads } from "./now.js";
import { showOverview, showProblem } from "./overview.js";
import { listenToStory, openStory } from "./story.js";
import { strings } from "./strings.js";

const LIST_GAP_MS = 2_000;
/** A list that took long is asked for more rarely: the pause is so many times as long. */
const LIST_REST = 10;
const TYPING_MS = 250;
const COUNT_DOWN_MS = 1_000;
const AFTER_CLICK_MS = 100;
/** Documents of a page of the list. */
const PAGE = 25;
const NOW_MAX = 8;

let snapshot;
/** How far the daemon's clock is ahead of this one. */
let ahead = 0;
let listTimer;
let listGapMs = LIST_GAP_MS;
let listedAt = 0;
let lists = 0;
/** Where each page of the list up to the one that is shown begins, but for the first; and where the next one does. */
let places = [];
let next;

/** All pages of this browser: one signs out for each. */
const sessions = new BroadcastChannel("scanferry");

const now = () => Date.now() + ahead;

function showWords() {
  document.documentElement.lang = strings.lang;
  for (const one of document.querySelectorAll("[data-text]")) setText(one, strings[one.dataset.text]);
  for (const one of document.querySelectorAll("[data-label]"))
    one.setAttribute("aria-label", strings[one.dataset.label]);
  const options = LANGUAGES.map((name) =>
    element("option", { value: name, lang: name }, strings.languages[name]),
  );
  byId("language").append(...options);
  byId("language").value = language;
}

function showLine(line, heardAt) {
  // In this page's place comes the one on which to sign in.
  if (line === "refused") location.reload();
  const isLost = line === "lost";
  document.body.dataset.line = line;
  setText(byId("connection"), strings.line[line]);
  byId("lost").hidden = !isLost;
  if (isLost) setText(byId("lost"), strings.lost(timeOfDay(heardAt)));
}

function showStatus(fresh) {
  const isFirst = snapshot === undefined;
  snapshot = { ...fresh, findings: fresh.findings.map((one) => strings.findingOf(one, fresh)) };
  ahead = fresh.at - Date.now();
  showOverview(snapshot, { work: act, onDocuments: showOnly });
  fillMirrors(fresh.mirrors);
  byId("sign-out").hidden = !fresh.signsIn;
  byId("inspection").hidden = !fresh.inspects;
  listSoon();
  // What keeps a document is said in the words of the findings.
  if (isFirst) openAddressed();
}

/** Lists cost the daemon more than a snapshot: fewer of them, and none for a page nobody sees. */
function listSoon() {
  listTimer ??= setTimeout(list, Math.max(0, listedAt + listGapMs - Date.now()));
}

function listAfter(ms) {
  clearTimeout(listTimer);
  listTimer = setTimeout(list, ms);
}

async function list() {
  listTimer = undefined;
  if (document.hidden || document.body.dataset.line === "lost") return;
  listedAt = Date.now();
  const mine = ++lists;
  try {
    const [underWay, recent, activity] = await Promise.all([
      askNow(),
      askDocuments(mine),
      ask("/api/activity"),
    ]);
    listGapMs = Math.max(LIST_GAP_MS, LIST_REST * (Date.now() - listedAt));
    // What was typed meanwhile has a list of its own.
    if (mine !== lists) return;
    showNow({ ...underWay, at: now() }, openStory);
    showActivity(activity);
    showList(recent);
  } catch (error) {
    setText(byId("documents-note"), strings.documentsFailed(error.message));
  }
}

async function askNow() {
  const { uploading = 0, inDoubt = 0, settling = 0, pending = 0, uploaded = 0 } =
    snapshot?.documents ?? {};
  const oldest = (snapshot?.mirrors ?? []).flatMap(({ oldestAt }) => oldestAt.uploaded ?? []);
  const converting = { documents: uploaded, since: Math.min(...oldest) };
  const counts = { settling, waiting: pending, converting };
  if (uploading + inDoubt === 0) return { documents: [], ...counts };
  const { documents } = await ask(`/api/documents?state=uploading,inDoubt&limit=${NOW_MAX}`);
  return { documents, ...counts };
}

/** One answer takes the daemon a short time only: asks until the page is full, and shows what there is meanwhile. */
async function askDocuments(mine) {
  const found = { documents: [], next: places.at(-1), complete: false };
  while (!found.complete && mine === lists) {
    const query = filterQuery();
    query.set("limit", PAGE - found.documents.length);
    if (found.next) query.set("after", found.next);
    const part = await ask(`/api/documents?${query}`);
    found.documents.push(...part.documents);
    found.next = part.next;
    found.complete = part.complete || found.documents.length === PAGE;
    if (!found.complete && mine === lists) showList(found);
  }
  return found;
}

function showList(found) {
  next = found.next;
  const list = { ...found, at: now(), mirrors: snapshot?.mirrors.length ?? 0 };
  showDocuments({ ...list, isFirst: places.length === 0 }, openStory);
}

/** Does what was asked for; what `work` resolves with is reported. */
async function act(work) {
  try {
    const outcome = await work();
    if (outcome === undefined) return;
    setText(byId("outcome"), outcome);
    // Anyone who clicked waits to see what came of it.
    listAfter(AFTER_CLICK_MS);
  } catch (error) {
    setText(byId("outcome"), strings.notDone(error.message));
  }
}

const asked = (path, outcome) => () => act(() => tell(path).then(() => outcome));

function showOnly({ state, code }) {
  setFilters({ state, code });
  fromTheTop();
  listAfter(0);
  byId("documents-title").scrollIntoView();
  byId("documents-title").focus({ preventScroll: true });
}

function fromTheTop() {
  places = [];
}

function turnTo(pages) {
  places = pages;
  listAfter(0);
  byId("documents-title").scrollIntoView();
}

async function signOut() {
  await tell("/sign-out");
  sessions.postMessage("signedOut");
  location.reload();
}

function listenToClicks() {
  byId("pause").addEventListener("click", () =>
    snapshot?.paused
      ? asked("/api/resume", strings.asked.resume)()
      : asked("/api/pause", strings.asked.pause)(),
  );
  byId("rescan").addEventListener("click", asked("/api/rescan", strings.asked.rescan));
  byId("language").addEventListener("change", ({ target }) => choose(target.value));
  byId("next").addEventListener("click", () => turnTo([...places, next]));
  byId("previous").addEventListener("click", () => turnTo(places.slice(0, -1)));
  byId("sign-out").addEventListener("click", () => act(signOut));
  sessions.addEventListener("message", () => location.reload());
  document.addEventListener("visibilitychange", listSoon);
}

/** A document has an address of its own, which opens its story. */
function openAddressed() {
  const id = new URLSearchParams(location.search).get("document");
  if (/^\d+$/.test(id ?? "")) openStory({ id });
}

showWords();
listenToFilters(({ wait }) => {
  fromTheTop();
  listAfter(wait ? TYPING_MS : 0);
});
listenToClicks();
listenToAsk();
listenToStory(act, (id) => snapshot?.findings.find((one) => one.id === id));
listenToInspection();
follow({
  onStatus: showStatus,
  onUploads: (uploads) => showUploads(uploads, snapshot?.documents),
  onProblem: showProblem,
  onLine: showLine,
});
setInterval(() => refreshTimes(now()), COUNT_DOWN_MS);
