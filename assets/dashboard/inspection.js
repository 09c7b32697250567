/** For an administrator: the log, the configuration in use, and the check. Read when it is opened. */
import { ask, tell } from "./connection.js";
import { byId, element, sentence, setText } from "./dom.js";
import { dayOf, timeOfDay } from "./format.js";
import { strings } from "./strings.js";

const words = strings.inspection;
/** The document whose lines are shown; none: of all. */
let only;

/** Makes the parts read what they show when they are opened. */
export function listenToInspection() {
  const level = byId("log-level");
  for (const [value, word] of Object.entries(words.levels)) level.append(element("option", { value }, word));
  level.addEventListener("change", showLog);
  byId("log-all").addEventListener("click", () => showLogOf(undefined));
  byId("check-run").addEventListener("click", showCheck);
  byId("log").addEventListener("toggle", () => byId("log").open && showLog());
  byId("configuration").addEventListener("toggle", () => byId("configuration").open && showConfiguration());
}

/** Opens the log at the lines of one document. */
export function showLogOf(document) {
  only = document;
  byId("log-all").hidden = only === undefined;
  setText(byId("log-of"), only ? words.of(only.path) : "");
  if (byId("log").open) showLog();
  byId("log").open = true;
  byId("inspection").scrollIntoView();
}

async function showLog() {
  const query = new URLSearchParams({ level: byId("log-level").value });
  if (only) for (const name of ["mirror", "path"]) query.set(name, only[name]);
  await show("log-lines", words.noLines, async () => {
    const { lines } = await ask(`/api/log?${query}`);
    return lines.map(({ at, level, message, context }) =>
      element(
        "li",
        { "data-level": level },
        element("time", { datetime: new Date(at).toISOString() }, `${dayOf(at)}, ${timeOfDay(at)}`),
        element("span", { class: "level" }, level),
        element("bdi", { class: "message" }, message),
        element("bdi", { class: "context" }, contextOf(context)),
      ),
    );
  });
}

function contextOf(context) {
  const text = (value) => (typeof value === "string" ? value : JSON.stringify(value));
  return Object.entries(context)
    .map(([name, value]) => `${name}=${text(value)}`)
    .join(" ");
}

async function showConfiguration() {
  await show("configuration-keys", words.noKeys, async () => {
    const { keys } = await ask("/api/configuration");
    return keys.map(({ key, value, origin }) =>
      element(
        "div",
        {},
        element("dt", {}, element("code", {}, key)),
        element("dd", {}, element("bdi", {}, value), " ", element("small", {}, origin)),
      ),
    );
  });
}

async function showCheck() {
  byId("check-run").disabled = true;
  setText(byId("check-outcome"), words.checking);
  await show("check-list", "", async () => {
    const { ok, findings } = await tell("/api/check");
    setText(byId("check-outcome"), ok ? words.passed : words.failed);
    // What is wrong first.
    const rank = ({ level }) => ["FAIL", "warn", "ok"].indexOf(level);
    return findings
      .toSorted((a, b) => rank(a) - rank(b))
      .map(({ level, what, fix }) =>
        element(
          "li",
          { "data-level": level },
          element("span", { class: "level" }, words.found[level] ?? level),
          element("bdi", { class: "message" }, what),
          fix ? sentence("span", { class: "context" }, fix) : undefined,
        ),
      );
  });
  byId("check-run").disabled = false;
}

async function show(id, none, read) {
  try {
    const rows = await read();
    byId(id).replaceChildren(...(rows.length > 0 ? rows : [element("li", { class: "hint" }, none)]));
  } catch (error) {
    setText(byId("check-outcome"), "");
    const why = error.status === undefined ? strings.noAnswer : error.message;
    byId(id).replaceChildren(element("li", { class: "hint" }, strings.notDone(why)));
  }
}
