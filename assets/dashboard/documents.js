/** Lists of documents: those in problem, and the recent ones. */
import { cardTable, cell, rowHead } from "./cards.js";
import { byId, element, sentence, setText, sync, time } from "./dom.js";
import { count } from "./format.js";
import { strings } from "./strings.js";

/** Held and failed documents, each with its reason, the fix and a button. */
export function showProblems({ documents, total, at }, { onRetry, onAnyway, onStory }) {
  byId("problems").hidden = documents.length === 0;
  byId("retry-all").dataset.ids = documents.map(({ id }) => id).join(",");
  sync(byId("problems-list"), documents, {
    key: ({ id }) => id,
    make: (document) => problemItem(document, at, { onRetry, onAnyway, onStory }),
  });
  const isMore = total > documents.length;
  setText(byId("problems-more"), isMore ? strings.moreProblems(documents.length, total) : "");
}

function problemItem(document, now, { onRetry, onAnyway, onStory }) {
  const { id, path, mirror, state, error, attempts, nextAttemptAt } = document;
  const button = element("button", { type: "button", "aria-label": strings.retryOne(path) }, strings.retry);
  button.addEventListener("click", () => onRetry([id]));
  const next =
    nextAttemptAt === null
      ? undefined
      : element("span", {}, `${strings.headline.nextTry}: `, time(nextAttemptAt, now));
  const facts = element(
    "p",
    { class: "facts-line" },
    element("span", {}, mirror),
    error ? element("code", {}, error.code) : undefined,
    attempts > 0 ? element("span", {}, strings.attempts(attempts)) : undefined,
    next,
  );
  return element(
    "li",
    {},
    element(
      "div",
      {},
      element("p", { class: "path" }, badge(state), storyButton(document, onStory)),
      error ? element("p", {}, error.message) : undefined,
      error ? sentence("p", { class: "fix" }, error.hint) : undefined,
      facts,
    ),
    element("div", { class: "choices" }, button, anywayButton(document, onAnyway)),
  );
}

/** Sends what is held because it is unfinished by its format. */
function anywayButton({ id, path, error }, onAnyway) {
  if (error?.code !== "FILE_INCOMPLETE") return undefined;
  const attributes = { type: "button", "aria-label": strings.anywayOne(path) };
  const button = element("button", attributes, strings.anyway);
  button.addEventListener("click", () => onAnyway(id));
  return button;
}

const COLUMNS = ["path", "mirror", "state", "pages", "documentId", "at"];

/** What is being sent, or may have been sent, at this moment. */
export function showNow({ documents, settling, waiting, at }, onStory) {
  sync(byId("now-list"), documents, {
    key: ({ id }) => id,
    make: (document) =>
      element(
        "li",
        {},
        badge(document.state),
        storyButton(document, onStory),
        element("small", {}, document.mirror, " · ", time(lastChangeOf(document), at)),
      ),
  });
  setText(byId("now-note"), strings.nowNote(documents.length, settling, waiting));
}

/** The recent documents that match the filters. */
export function showDocuments({ documents, complete, at }, onStory) {
  const body = cardTable(byId("documents"), COLUMNS.map((column) => [column, strings.columns[column]]));
  sync(body, documents, { key: ({ id }) => id, make: (one) => documentRow(one, at, onStory) });
  const note = documents.length === 0 ? strings.noDocuments : "";
  setText(byId("documents-note"), complete ? note : `${note} ${strings.incomplete}`.trim());
}

function documentRow(document, now, onStory) {
  const { mirror, state, pages, documentId, remark } = document;
  const words = strings.columns;
  const note = remark ? element("small", {}, remark) : undefined;
  return element(
    "tr",
    { role: "row" },
    rowHead("path", storyButton(document, onStory), note),
    cell("mirror", words.mirror, mirror),
    cell("state", words.state, badge(state)),
    cell("pages", words.pages, pages === null ? strings.none : count(pages)),
    cell("documentId", words.documentId, documentId === null ? strings.none : String(documentId)),
    cell("at", words.at, time(lastChangeOf(document), now)),
  );
}

/** The path, which opens the document's story. */
function storyButton(document, onStory) {
  const title = strings.storyOf;
  const attributes = { type: "button", class: "link", "aria-haspopup": "dialog", title };
  const button = element("button", attributes, element("bdi", {}, document.path));
  button.addEventListener("click", () => onStory(document));
  return button;
}

function lastChangeOf({ firstSeenAt, changedAt, sentAt, uploadedAt, convertedAt }) {
  return Math.max(firstSeenAt, changedAt, sentAt ?? 0, uploadedAt ?? 0, convertedAt ?? 0);
}

/** A state, with what it means. */
export function badge(state) {
  const attributes = { class: "badge", "data-state": state, title: strings.stateHelp[state] };
  return element("span", attributes, strings.states[state] ?? state);
}

/** The states to choose from. */
export function fillStates(select) {
  select.append(element("option", { value: "" }, strings.allStates));
  for (const [state, word] of Object.entries(strings.states))
    select.append(element("option", { value: state }, word));
}
