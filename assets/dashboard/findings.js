/** Findings: what is wrong and what waits, a card for each, with what can be done about it. */
import { askFirst } from "./ask-first.js";
import { CHOICE_MAX, choose, isChoice } from "./choice.js";
import { ask, tell } from "./connection.js";
import { byId, element, moment, sentence, sync } from "./dom.js";
import { count } from "./format.js";
import { strings } from "./strings.js";

/** Documents that a question reads, and those that it names. */
const READ_MAX = CHOICE_MAX;
const NAMED_MAX = 5;

/** Cards that a person opened. */
const opened = new Set();

/** `work` does an action and reports it; `onDocuments` shows the documents of `{ state, code }`. */
export function showFindings({ finding, others }, snapshot, handlers) {
  const context = { ...handlers, now: snapshot.at, folders: snapshot.foldersToCreate };
  const stamp = (one) => JSON.stringify([one, foldersOf(one, context)]);
  const key = ({ id }) => id;
  const body = (one) => element("div", {}, ...bodyOf(one, context));
  sync(byId("headline-finding"), finding ? [finding] : [], { key, stamp, make: body });
  sync(byId("findings"), others, { key, stamp, make: (one) => cardOf(one, context) });
}

function cardOf(finding, context) {
  const { id, title, detail, severity } = finding;
  const card = element(
    "details",
    opened.has(id) ? { open: "" } : {},
    element("summary", {}, title),
    detail ? element("p", {}, detail) : undefined,
    ...bodyOf(finding, context),
  );
  card.addEventListener("toggle", () => (card.open ? opened.add(id) : opened.delete(id)));
  return element("li", { "data-severity": severity }, card);
}

function bodyOf(finding, context) {
  const { fix, since, nextAttempt } = finding;
  const words = strings.finding;
  const rows = [
    [words.fix, fix && sentence("span", {}, fix)],
    [words.since, since !== null && moment(since, context.now)],
    [words.nextAttempt, nextAttempt !== null && moment(nextAttempt, context.now)],
  ].filter(([, value]) => value);
  const facts = rows.map(([name, value]) =>
    element("div", {}, element("dt", {}, name), element("dd", {}, value)),
  );
  return [
    element("dl", { class: "facts" }, ...facts),
    listOf(foldersOf(finding, context), context),
    element("div", { class: "actions" }, ...buttonsOf(finding, context)),
  ];
}

function foldersOf({ documents }, { folders }) {
  return documents ? folders.filter(({ code }) => code === documents.code) : [];
}

/** Folders to create, as lines that can be copied. */
function listOf(folders, { work }) {
  if (folders.length === 0) return undefined;
  const paths = [...new Set(folders.map(({ path }) => path))].join("\n");
  const copy = element("button", { type: "button" }, strings.finding.copy);
  copy.addEventListener("click", () =>
    work(async () => {
      await navigator.clipboard.writeText(paths);
      return strings.finding.copied;
    }),
  );
  return element(
    "div",
    { class: "to-create" },
    element("p", { class: "hint" }, strings.finding.folders),
    element("pre", { tabindex: "0" }, paths),
    // Browsers have it only where the page is secure: over https, and on this host.
    navigator.clipboard ? copy : undefined,
  );
}

function buttonsOf(finding, { work, onDocuments }) {
  const { documents, actions, title } = finding;
  if (!documents) return [];
  const words = strings.finding;
  const doing = actions
    .filter((action) => !isChoice(action) || finding.count <= CHOICE_MAX)
    .map((action) => {
      const button = element("button", { type: "button" }, words.actions[action](finding.count));
      button.addEventListener("click", () => work(() => act(action, finding)));
      return button;
    });
  const show = element("button", { type: "button" }, words.show(finding.count));
  show.addEventListener("click", () => onDocuments(documents));
  const all = [...doing, show];
  for (const button of all) button.setAttribute("aria-label", `${button.textContent}: ${title}`);
  return all;
}

/** Resolves with what to report; undefined: the person did not want it after all. */
async function act(action, { documents: { state, code }, count: number }) {
  // What is only held for something outside costs nothing that was not asked for before.
  const isCostly = action !== "retry" || state === "failed";
  const { question, records } = isCostly ? await questionOf(action, { state, code }, number) : {};
  if (isChoice(action)) return choose(action, question, records);
  if (question && !(await askFirst(question))) return undefined;
  const anyway = action === "sendAnyway";
  const { documents } = await tell("/api/retry", { state, code, anyway });
  return anyway ? strings.asked.anyway(documents) : strings.asked.retry(documents);
}

/** Says what will be sent, and has the documents as they are shown. */
async function questionOf(action, { state, code }, number) {
  const query = new URLSearchParams({ state, code, limit: READ_MAX });
  const { documents, next } = await ask(`/api/documents?${query}`);
  const counts = documents.map(({ pages, pagesEstimated }) => pages ?? pagesEstimated);
  const isCounted = next === null && counts.every((pages) => pages !== null);
  const pages = isCounted ? counts.reduce((all, some) => all + some, 0) : undefined;
  const named = documents.slice(0, NAMED_MAX).map(({ path }) => path);
  const more = Math.max(number, documents.length) - named.length;
  const question = {
    title: strings.finding.actions[action](number),
    text: strings.finding.costs(pages),
    items: more > 0 ? [...named, strings.finding.more(count(more))] : named,
  };
  return { question, records: documents };
}
