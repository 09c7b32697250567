/** Lists of documents: those in trouble, and the recent ones. */
import { byId, element, setText, sync, time } from "./dom.js";
import { count } from "./format.js";
import { strings } from "./strings.js";

/** Held and failed documents, each with its reason, the mend and a button. */
export function showTroubles({ documents, total, at }, onRetry) {
  byId("troubles").hidden = documents.length === 0;
  byId("retry-all").dataset.ids = documents.map(({ id }) => id).join(",");
  sync(byId("troubles-list"), documents, {
    key: ({ id }) => id,
    make: (document) => troubleItem(document, at, onRetry),
  });
  const isMore = total > documents.length;
  setText(byId("troubles-more"), isMore ? strings.moreTroubles(documents.length, total) : "");
}

function troubleItem({ id, path, mirror, state, error, attempts, nextAttemptAt }, now, onRetry) {
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
      element("p", { class: "path" }, badge(state), element("bdi", {}, path)),
      error ? element("p", {}, error.message) : undefined,
      error ? element("p", { class: "mend" }, error.hint) : undefined,
      facts,
    ),
    button,
  );
}

const COLUMNS = ["path", "mirror", "state", "pages", "documentId", "at"];

/** The recent documents that match the filters. */
export function showDocuments({ documents, complete, at }) {
  const table = byId("documents");
  if (!table.tHead) {
    const heads = COLUMNS.map((column) =>
      element("th", { role: "columnheader", scope: "col", class: column }, strings.columns[column]),
    );
    // On a phone rows are cards: said to be a table here, it stays one for screen readers.
    const head = element("thead", { role: "rowgroup" }, element("tr", { role: "row" }, ...heads));
    table.append(head, element("tbody", { role: "rowgroup" }));
  }
  sync(table.tBodies[0], documents, { key: ({ id }) => id, make: (one) => documentRow(one, at) });
  const note = documents.length === 0 ? strings.noDocuments : "";
  setText(byId("documents-note"), complete ? note : `${note} ${strings.incomplete}`.trim());
}

function documentRow(document, now) {
  const { path, mirror, state, pages, documentId, remark } = document;
  const cell = (column, ...children) =>
    element("td", { role: "cell", class: column, "data-label": strings.columns[column] }, ...children);
  const note = remark ? element("small", {}, remark) : undefined;
  return element(
    "tr",
    { role: "row" },
    element("th", { role: "rowheader", scope: "row", class: "path" }, element("bdi", {}, path), note),
    cell("mirror", mirror),
    cell("state", badge(state)),
    cell("pages", pages === null ? strings.none : count(pages)),
    cell("documentId", documentId === null ? strings.none : String(documentId)),
    cell("at", time(lastChangeOf(document), now)),
  );
}

function lastChangeOf({ firstSeenAt, changedAt, uploadedAt, convertedAt }) {
  return Math.max(firstSeenAt, changedAt, uploadedAt ?? 0, convertedAt ?? 0);
}

function badge(state) {
  const attributes = { class: "badge", "data-state": state, title: strings.stateHelp[state] };
  return element("span", attributes, strings.states[state] ?? state);
}

/** The states to choose from. */
export function fillStates(select) {
  select.append(element("option", { value: "" }, strings.allStates));
  for (const [state, word] of Object.entries(strings.states))
    select.append(element("option", { value: state }, word));
}
