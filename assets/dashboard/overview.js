/** What a snapshot says: headline, counts, folders to create. */
import { byId, element, setText, sync, time } from "./dom.js";
import { count } from "./format.js";
import { allOf, headlineOf } from "./headline.js";
import { strings } from "./strings.js";

const STATES = Object.keys(strings.states);

export function showOverview(snapshot) {
  showHeadline(snapshot);
  showProgress(snapshot);
  showFolders(snapshot.foldersToCreate);
  showCounts(snapshot);
  setText(byId("pause"), snapshot.paused ? strings.resume : strings.pause);
  setText(byId("version"), strings.version(snapshot.version));
}

/** The daemon answers, but cannot say where things stand. */
export function showTrouble(message) {
  const detail = strings.journalTrouble(message);
  showTitle({ tone: "bad", title: strings.headline.unhealthy, detail });
}

function showTitle({ tone, title, detail }) {
  byId("headline").dataset.tone = tone;
  setText(byId("headline-title"), title);
  setText(byId("headline-detail"), detail);
  document.title = `${title} · scanferry`;
}

function showHeadline(snapshot) {
  const { facts, ...title } = headlineOf(snapshot);
  showTitle(title);
  sync(byId("headline-facts"), facts, {
    key: ({ label }) => label,
    make: ({ label, text, at }) =>
      element(
        "div",
        {},
        element("dt", {}, label),
        element("dd", {}, at === undefined ? text : time(at, snapshot.at)),
      ),
  });
}

function showProgress({ documents }) {
  const all = allOf(documents);
  byId("progress").hidden = all === 0;
  byId("progress-bar").value = all === 0 ? 0 : documents.converted / all;
  const text = strings.archivedOf(documents.converted, all);
  setText(byId("progress-text"), text);
  byId("progress-bar").setAttribute("aria-label", text);
}

function showFolders(folders) {
  byId("folders").hidden = folders.length === 0;
  sync(byId("folders-list"), folders, {
    key: ({ mirror, path, code }) => `${mirror}\n${path}\n${code}`,
    make: ({ mirror, path, documents }) =>
      element(
        "li",
        {},
        element("code", {}, path),
        element("span", {}, `${strings.waitingFor(documents)} · ${mirror}`),
      ),
  });
}

function showCounts({ mirrors, documents }) {
  const rows = mirrors.map(({ name, source, watch, documents }) => ({ name, source, watch, documents }));
  if (mirrors.length > 1) rows.push({ name: strings.total, documents, isTotal: true });
  const table = byId("counts");
  if (!table.tHead) {
    const heads = STATES.map((state) =>
      element("th", { scope: "col", title: strings.stateHelp[state] }, strings.states[state]),
    );
    const head = element("tr", {}, element("th", { scope: "col" }, strings.mirror), ...heads);
    table.append(element("thead", {}, head), element("tbody"));
  }
  sync(table.tBodies[0], rows, {
    key: ({ name, isTotal }) => `${isTotal ? "total" : "mirror"}:${name}`,
    make: countsRow,
  });
}

function countsRow({ name, source, watch, documents, isTotal }) {
  const place = source
    ? element("small", {}, `${source} · ${strings.watch[watch] ?? watch}`)
    : undefined;
  const cells = STATES.map((state) =>
    element("td", { "data-state": documents[state] > 0 ? state : undefined }, count(documents[state])),
  );
  const head = element("th", { scope: "row" }, element("span", {}, name), place);
  return element("tr", { class: isTotal ? "total" : undefined }, head, ...cells);
}
