/**
 * Bars over time. The drawing holds bars alone and is stretched to the room there is; words stand
 * next to it as text, and the same numbers in a table for those who do not see the drawing.
 */
import { element } from "./dom.js";
import { count } from "./format.js";
import { strings } from "./strings.js";

const SVG = "http://www.w3.org/2000/svg";
const HEIGHT = 100;
/** Of a bar's place, how much is bar. */
const WIDTH = 0.78;

/**
 * Shows `bars`, each `{ label, value }`, oldest first, in `figure`. `title` says what is counted;
 * `say` makes words of a value.
 */
export function showPlot(figure, { title, bars, say }) {
  const stamp = JSON.stringify([title, bars]);
  if (figure.dataset.stamp === stamp) return;
  figure.dataset.stamp = stamp;
  const isOpen = figure.querySelector("details")?.open ?? false;
  const hadFocus = figure.contains(document.activeElement);
  const most = Math.max(0, ...bars.map(({ value }) => value));
  const all = bars.reduce((sum, { value }) => sum + value, 0);
  const summary = strings.plotSummary(title, say(all), say(most));
  const axis = element(
    "div",
    { class: "axis", "aria-hidden": "true" },
    element("span", {}, bars[0]?.label ?? ""),
    element("span", {}, bars.at(-1)?.label ?? ""),
  );
  const table = element("details", isOpen ? { open: "" } : {}, element("summary", {}, strings.asTable));
  table.append(tableOf(title, bars));
  figure.replaceChildren(
    element("figcaption", {}, element("span", {}, title), element("span", {}, say(all))),
    element("p", { class: "most", "aria-hidden": "true" }, count(most)),
    drawing(bars, most, { summary, say }),
    axis,
    table,
  );
  if (hadFocus) figure.querySelector("summary").focus();
}

function drawing(bars, most, { summary, say }) {
  const svg = shape("svg", {
    viewBox: `0 0 ${bars.length} ${HEIGHT}`,
    preserveAspectRatio: "none",
    role: "img",
    "aria-label": summary,
  });
  for (const [index, { label, value }] of bars.entries()) {
    const height = most === 0 ? 0 : (value / most) * HEIGHT;
    const x = index + (1 - WIDTH) / 2;
    const bar = shape("rect", { x, y: HEIGHT - height, width: WIDTH, height });
    const hint = shape("title", {});
    hint.textContent = `${label}: ${say(value)}`;
    bar.append(hint);
    svg.append(bar);
  }
  return svg;
}

function shape(tag, attributes) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

function tableOf(title, bars) {
  const rows = bars.map(({ label, value }) =>
    element("tr", {}, element("th", { scope: "row" }, label), element("td", {}, count(value))),
  );
  const head = element(
    "tr",
    {},
    element("th", { scope: "col" }, strings.from),
    element("th", { scope: "col" }, title),
  );
  return element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows));
}
