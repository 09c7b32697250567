/** What the list of documents is narrowed to: the form, and the address that can be mailed. */
import { byId, element, sync } from "./dom.js";
import { strings } from "./strings.js";

const FIELDS = ["q", "state", "mirror", "code", "from", "to", "sort"];
const DAY_MS = 86_400_000;

/** Calls `changed` when a person changed a filter; `wait`: is still typing. */
export function listenToFilters(changed) {
  const states = { "": strings.allStates, ...strings.stateWords };
  for (const [id, words] of [["state", states], ["sort", strings.sorts]])
    for (const [value, word] of Object.entries(words))
      byId(id).append(element("option", { value }, word));
  byId("filters").addEventListener("submit", (event) => event.preventDefault());
  byId("filters").addEventListener("input", ({ target }) => {
    writeAddress();
    changed({ wait: target.type === "search" });
  });
  byId("clear").addEventListener("click", () => {
    setFilters({});
    changed({ wait: false });
  });
  // The address keeps no token: it would stand in the history and in screenshots.
  readAddress();
  writeAddress();
}

export function setFilters(values) {
  for (const name of FIELDS) byId("filters").elements[name].value = values[name] ?? "";
  writeAddress();
}

/** The filters as parameters of `/api/documents`. */
export function filterQuery() {
  const query = new URLSearchParams(filled());
  const { from, to } = filled();
  // A day begins by the clock of the person who chose it.
  if (from) query.set("from", new Date(`${from}T00:00`).getTime());
  if (to) query.set("to", new Date(`${to}T00:00`).getTime() + DAY_MS);
  return query;
}

/** The mirrors to choose from; of one there is no choice. */
export function fillMirrors(mirrors) {
  const names = mirrors.map(({ name }) => name);
  const select = byId("mirror");
  const before = select.value || new URLSearchParams(location.search).get("mirror") || "";
  sync(select, ["", ...names], {
    key: (name) => `=${name}`,
    make: (name) => element("option", { value: name }, name || strings.allMirrors),
  });
  if (select.value !== before) select.value = names.includes(before) ? before : "";
  byId("mirror-label").hidden = names.length < 2;
}

/** The address of the page with this document's history open. */
export function addressOfDocument(id) {
  return `/?document=${id}`;
}

function filled() {
  const { elements } = byId("filters");
  const values = FIELDS.map((name) => [name, elements[name].value.trim()]);
  return Object.fromEntries(values.filter(([, value]) => value !== ""));
}

function readAddress() {
  const query = new URLSearchParams(location.search);
  for (const name of FIELDS) byId("filters").elements[name].value = query.get(name) ?? "";
}

function writeAddress() {
  const { elements } = byId("filters");
  const query = new URLSearchParams(filled());
  const { searchParams } = new URL(location.href);
  // A mirror from the address is a choice only once the mirrors are known.
  if (elements.mirror.options.length === 0 && searchParams.get("mirror"))
    query.set("mirror", searchParams.get("mirror"));
  if (searchParams.get("document")) query.set("document", searchParams.get("document"));
  history.replaceState(null, "", query.size === 0 ? "/" : `/?${query}`);
}
