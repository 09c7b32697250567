/** Puts the page together: words, the line to the daemon, what a click does. */
import { showActivity } from "./activity.js";
import { ask, follow, tell } from "./connection.js";
import { fillStates, showDocuments, showNow, showProblems } from "./documents.js";
import { byId, refreshTimes, setText } from "./dom.js";
import { timeOfDay } from "./format.js";
import { showOverview, showProblem } from "./overview.js";
import { listenToStory, openStory } from "./story.js";
import { strings } from "./strings.js";

const LIST_GAP_MS = 2_000;
/** A list that took long is asked for more rarely: the pause is so many times as long. */
const LIST_REST = 10;
const TYPING_MS = 250;
const AFTER_CLICK_MS = 100;
const PROBLEMS_MAX = 50;
const RECENT_MAX = 50;
const NOW_MAX = 8;

let snapshot;
/** How far the daemon's clock is ahead of this one. */
let ahead = 0;
let lostAt;
let listTimer;
let listGapMs = LIST_GAP_MS;
let listedAt = 0;
let lists = 0;

const now = () => Date.now() + ahead;

function showWords() {
  document.documentElement.lang = strings.lang;
  for (const one of document.querySelectorAll("[data-text]")) setText(one, strings[one.dataset.text]);
  for (const one of document.querySelectorAll("[data-label]"))
    one.setAttribute("aria-label", strings[one.dataset.label]);
  fillStates(byId("state"));
}

/** The address keeps no token: it would stand in the history and in screenshots. */
function hideToken() {
  if (new URLSearchParams(location.search).has("token")) history.replaceState(null, "", "/");
}

function showLine(line) {
  lostAt = line === "lost" ? (lostAt ?? Date.now()) : undefined;
  const words = {
    live: strings.live,
    polling: strings.polling,
    refused: strings.tokenNeeded,
    lost: lostAt === undefined ? "" : strings.lost(timeOfDay(lostAt)),
  };
  byId("connection").dataset.line = line;
  setText(byId("connection"), words[line]);
}

function showStatus(fresh) {
  snapshot = fresh;
  ahead = fresh.at - Date.now();
  showOverview(fresh);
  listSoon();
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
  if (document.hidden) return;
  listedAt = Date.now();
  const mine = ++lists;
  try {
    const [problems, underWay, recent, activity] = await Promise.all([
      askProblems(),
      askNow(),
      askRecent(),
      ask("/api/activity"),
    ]);
    listGapMs = Math.max(LIST_GAP_MS, LIST_REST * (Date.now() - listedAt));
    // What was typed meanwhile has a list of its own.
    if (mine !== lists) return;
    showProblems({ ...problems, at: now() }, { onRetry: retry, onAnyway: sendAnyway, onStory: openStory });
    showNow({ ...underWay, at: now() }, openStory);
    showActivity(activity);
    showDocuments({ ...recent, at: now() }, openStory);
  } catch (error) {
    setText(byId("documents-note"), strings.documentsFailed(error.message));
  }
}

async function askProblems() {
  const total = snapshot ? snapshot.documents.held + snapshot.documents.failed : 0;
  if (total === 0) return { documents: [], total };
  const { documents } = await ask(`/api/documents?state=failed,held&limit=${PROBLEMS_MAX}`);
  return { documents: documents.toSorted((a, b) => a.state.localeCompare(b.state)), total };
}

async function askNow() {
  const { uploading = 0, inDoubt = 0, settling = 0, pending = 0 } = snapshot?.documents ?? {};
  const waiting = pending;
  if (uploading + inDoubt === 0) return { documents: [], settling, waiting };
  const { documents } = await ask(`/api/documents?state=uploading,inDoubt&limit=${NOW_MAX}`);
  return { documents, settling, waiting };
}

function askRecent() {
  const query = new URLSearchParams({ limit: RECENT_MAX });
  if (byId("search").value.trim() !== "") query.set("q", byId("search").value.trim());
  if (byId("state").value !== "") query.set("state", byId("state").value);
  return ask(`/api/documents?${query}`);
}

async function act(work, outcome) {
  try {
    await work();
    setText(byId("outcome"), outcome);
    // Anyone who clicked waits to see what came of it.
    listAfter(AFTER_CLICK_MS);
  } catch (error) {
    setText(byId("outcome"), strings.notDone(error.message));
  }
}

function retry(ids) {
  return act(() => tell("/api/retry", { ids }), strings.asked.retry(ids.length));
}

function sendAnyway(id) {
  return act(() => tell("/api/retry", { ids: [id], anyway: true }), strings.asked.anyway);
}

function listenToClicks() {
  byId("pause").addEventListener("click", () =>
    snapshot?.paused
      ? act(() => tell("/api/resume"), strings.asked.resume)
      : act(() => tell("/api/pause"), strings.asked.pause),
  );
  byId("rescan").addEventListener("click", () =>
    act(() => tell("/api/rescan"), strings.asked.rescan),
  );
  byId("retry-all").addEventListener("click", ({ currentTarget }) =>
    retry(currentTarget.dataset.ids.split(",").map(Number)),
  );
  byId("filters").addEventListener("submit", (event) => event.preventDefault());
  byId("search").addEventListener("input", () => listAfter(TYPING_MS));
  byId("state").addEventListener("change", () => listAfter(TYPING_MS));
  document.addEventListener("visibilitychange", listSoon);
}

showWords();
hideToken();
listenToClicks();
listenToStory();
follow({
  onStatus: showStatus,
  onProblem: showProblem,
  onLine: showLine,
});
setInterval(() => refreshTimes(now()), 10_000);
