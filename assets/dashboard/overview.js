/** What a snapshot says: headline, findings, page budget, counts. */
import { showBudget } from "./budget.js";
import { cardTable, cell, rowHead } from "./cards.js";
import { byId, element, setText, sync, time } from "./dom.js";
import { showFindings } from "./findings.js";
import { count } from "./format.js";
import { allOf, headlineOf } from "./headline.js";
import { strings } from "./strings.js";

const STATES = Object.keys(strings.states);

/** `handlers`: see `showFindings`. */
export function showOverview(snapshot, handlers) {
  const headline = headlineOf(snapshot);
  showTitle(headline);
  showFindings(headline, snapshot, handlers);
  showProgress(snapshot);
  showBudget(snapshot);
  showInstances(snapshot);
  showCounts(snapshot);
  setText(byId("pause"), snapshot.paused ? strings.resume : strings.pause);
  setText(byId("version"), strings.version(snapshot.version));
}

/** The daemon answers, but cannot say where things stand. */
export function showProblem(message) {
  const detail = strings.journalProblem(message);
  showTitle({ tone: "bad", title: strings.unhealthy, detail });
}

function showTitle({ tone, title, detail, places = [] }) {
  byId("headline").dataset.tone = tone;
  setText(byId("headline-title"), title);
  setText(byId("headline-detail"), detail);
  sync(byId("places"), places, { key: ({ name }) => name, make: placeItem });
  document.title = `${title} · scanferry`;
}

/** Where to put a file, and where it goes. */
function placeItem({ source, target }) {
  const goesTo = element("span", { class: "said" }, strings.goesTo);
  return element("li", {}, element("code", {}, source), goesTo, element("code", {}, target));
}

function showProgress({ documents }) {
  const all = allOf(documents);
  byId("progress").hidden = all === 0;
  byId("progress-bar").value = all === 0 ? 0 : documents.converted / all;
  const text = strings.archivedOf(documents.converted, all);
  setText(byId("progress-text"), text);
  byId("progress-bar").setAttribute("aria-label", text);
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
  const rows = mirrors.map(({ name, source, target, watch, offline, documents, oldestAt }) => {
    return { name, source, target, watch: offline ? "offline" : watch, documents, oldestAt };
  });
  if (mirrors.length > 1) rows.push({ name: strings.total, documents, oldestAt: {}, isTotal: true });
  // What nothing waits in says nothing.
  const shown = STATES.filter((state) => state === "converted" || documents[state] > 0);
  const columns = shown.map((state) => [state, strings.states[state], strings.stateHelp[state]]);
  const stamp = shown.join();
  if (byId("counts").dataset.stamp !== stamp) byId("counts").replaceChildren();
  byId("counts").dataset.stamp = stamp;
  const body = cardTable(byId("counts"), [["mirror", strings.mirror], ...columns]);
  sync(body, rows, {
    key: ({ name, isTotal }) => `${isTotal ? "total" : "mirror"}:${name}`,
    make: (row) => countsRow(row, shown, at),
  });
}

function countsRow({ name, source, target, watch, documents, oldestAt, isTotal }, shown, now) {
  const place = source
    ? element("small", {}, `${source} → ${target} · ${strings.watch[watch] ?? watch}`)
    : undefined;
  const cells = shown.map((state) => {
    const made = cell("count", strings.states[state], element("span", {}, count(documents[state])));
    const oldest = state === "converted" ? undefined : oldestAt[state];
    if (documents[state] > 0) made.dataset.state = state;
    if (documents[state] > 0 && oldest !== undefined) made.append(element("small", {}, time(oldest, now)));
    return made;
  });
  const head = rowHead("mirror", element("span", {}, name), place);
  return element("tr", { role: "row", class: isTotal ? "total" : undefined }, head, ...cells);
}
