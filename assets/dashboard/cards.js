/**
 * Tables that become cards on a phone, each value behind its label. Said to be tables in so many
 * words: what is laid out otherwise is none to a screen reader any more.
 */
import { element } from "./dom.js";

/** The body of `table`; its head is made of [class, word] pairs the first time. */
export function cardTable(table, columns) {
  if (!table.tHead) {
    const heads = columns.map(([name, word, title]) =>
      element("th", { role: "columnheader", scope: "col", class: name, title }, word),
    );
    const head = element("thead", { role: "rowgroup" }, element("tr", { role: "row" }, ...heads));
    table.append(head, element("tbody", { role: "rowgroup" }));
  }
  return table.tBodies[0];
}

export function cell(name, label, ...children) {
  return element("td", { role: "cell", class: name, "data-label": label }, ...children);
}

export function rowHead(name, ...children) {
  return element("th", { role: "rowheader", scope: "row", class: name }, ...children);
}
