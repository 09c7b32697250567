/** The list of documents: those that match the filters. */
import { cardTable, cell, rowHead } from "./cards.js";
import { byId, element, setText, sync, time } from "./dom.js";
import { addressOfDocument, filterQuery } from "./filters.js";
import { count } from "./format.js";
import { strings } from "./strings.js";

const COLUMNS = ["name", "folder", "mirror", "at", "pages", "state"];

/** A page of the documents that match the filters; of one mirror its name is not said. */
export function showDocuments(list, onStory) {
  const { documents, complete, next, isFirst, at, mirrors } = list;
  const body = cardTable(byId("documents"), COLUMNS.map((column) => [column, strings.columns[column]]));
  byId("documents").classList.toggle("one-mirror", mirrors < 2);
  sync(body, documents, { key: ({ id }) => id, make: (one) => documentRow(one, at, onStory) });
  const none = filterQuery().size === 0 ? strings.noDocumentsYet : strings.noDocuments;
  const note = documents.length === 0 ? none : "";
  setText(byId("documents-note"), complete ? note : strings.searching);
  byId("pages").hidden = isFirst && (next === null || !complete);
  byId("previous").disabled = isFirst;
  byId("next").disabled = next === null || !complete;
}

function documentRow(document, now, onStory) {
  const { path, mirror, state, pages, remark, error } = document;
  const words = strings.columns;
  const at = path.lastIndexOf("/") + 1;
  const why = [error?.message, remark].filter(Boolean).map(strings.messageOf).map((text) => element("small", {}, text));
  return element(
    "tr",
    { role: "row" },
    rowHead("name", storyLink(document, onStory, path.slice(at))),
    cell("folder", words.folder, element("bdi", {}, path.slice(0, Math.max(0, at - 1)) || strings.none)),
    cell("mirror", words.mirror, mirror),
    cell("at", words.at, time(document.firstSeenAt, now)),
    cell("pages", words.pages, pages === null ? strings.none : count(pages)),
    cell("state", words.state, badge(state), ...why),
  );
}

/** A name, which opens the document's story; its address can be copied and mailed. */
export function storyLink(document, onStory, text) {
  const attributes = {
    href: addressOfDocument(document.id),
    class: "story",
    "aria-haspopup": "dialog",
    title: strings.storyOf,
  };
  const link = element("a", attributes, element("bdi", {}, text));
  link.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    onStory(document);
  });
  return link;
}

export function lastChangeOf({ firstSeenAt, changedAt, sentAt, uploadedAt, convertedAt }) {
  return Math.max(firstSeenAt, changedAt, sentAt ?? 0, uploadedAt ?? 0, convertedAt ?? 0);
}

/** A state, with what it means. */
export function badge(state) {
  const attributes = { class: "badge", "data-state": state, title: strings.stateHelp[state] };
  return element("span", attributes, strings.stateWords[state] ?? state);
}
