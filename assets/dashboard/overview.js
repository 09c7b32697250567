/** What a snapshot says: headline, page budget, counts, folders to create. */
import { showBudget } from "./budget.js";
import { cardTable, cell, rowHead } from "./cards.js";
import { byId, element, sentence, setText, sync, time } from "./dom.js";
import { count } from "./format.js";
import { allOf, headlineOf } from "./headline.js";
import { strings } from "./strings.js";

const STATES = Object.keys(strings.states);

export function showOverview(snapshot) {
  showHeadline(snapshot);
  showProgress(snapshot);
  showFolders(snapshot.foldersToCreate);
  showBudget(snapshot);
  showInstances(snapshot);
  showCounts(snapshot);
  setText(byId("pause"), snapshot.paused ? strings.resume : strings.pause);
  setText(byId("version"), strings.version(snapshot.version));
}

/** The daemon answers, but cannot say where things stand. */
export function showProblem(message) {
  const detail = strings.journalProblem(message);
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
    make: ({ label, text, hint, at }) =>
      element(
        "div",
        {},
        element("dt", {}, label),
        hint === undefined
          ? element("dd", {}, at === undefined ? text : time(at, snapshot.at))
          : sentence("dd", {}, hint),
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

function showInstances({ instances, at }) {
  byId("instances").hidden = instances.length === 0;
  sync(byId("instances-list"), instances, {
    key: ({ id }) => String(id),
    make: ({ name, version, startedAt, lagMs, leaseUntil, assignments }) =>
      element(
        "li",
        {},
        element("code", {}, name),
        element("span", {}, assignments.length > 0 ? strings.owns(assignments) : strings.sends),
        element("span", {}, `${strings.version(version)} · `, time(startedAt, at)),
        element("span", {}, leaseUntil > at ? strings.heardOf(lagMs) : strings.leaseOver),
      ),
  });
}

function showCounts({ mirrors, documents, at }) {
  const rows = mirrors.map(({ name, source, watch, offline, documents, oldestAt }) => {
    return { name, source, watch: offline ? "offline" : watch, documents, oldestAt };
  });
  if (mirrors.length > 1) rows.push({ name: strings.total, documents, oldestAt: {}, isTotal: true });
  const columns = STATES.map((state) => [state, strings.states[state], strings.stateHelp[state]]);
  const body = cardTable(byId("counts"), [["mirror", strings.mirror], ...columns]);
  sync(body, rows, {
    key: ({ name, isTotal }) => `${isTotal ? "total" : "mirror"}:${name}`,
    make: (row) => countsRow(row, at),
  });
}

function countsRow({ name, source, watch, documents, oldestAt, isTotal }, now) {
  const place = source
    ? element("small", {}, `${source} · ${strings.watch[watch] ?? watch}`)
    : undefined;
  const cells = STATES.map((state) => {
    const made = cell("count", strings.states[state], element("span", {}, count(documents[state])));
    const oldest = state === "converted" ? undefined : oldestAt[state];
    if (documents[state] > 0) made.dataset.state = state;
    if (documents[state] > 0 && oldest !== undefined) made.append(element("small", {}, time(oldest, now)));
    return made;
  });
  const head = rowHead("mirror", element("span", {}, name), place);
  return element("tr", { role: "row", class: isTotal ? "total" : undefined }, head, ...cells);
}
