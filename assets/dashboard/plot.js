/**
 * Bars over time. The drawing holds bars alone and is stretched to the room there is; words stand next to it as text:
 * what is in the bar that a pointer, a finger or an arrow key is at, dates below, and all numbers in a table.
 */
import { element, setText } from "./dom.js";
import { count } from "./format.js";
import { strings } from "./strings.js";

const SVG = "http://www.w3.org/2000/svg";
const HEIGHT = 100;
/** Of a bar's place, how much is bar. */
const WIDTH = 0.78;
const LABELS = 4;
const STEPS = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity };

/**
 * Shows `bars`, each `{ label, value, counts }`, oldest first, in `figure`. `title` says what is drawn, `say` makes
 * words of a sum of it; `columns` are the keys of `counts`, with their words, for the table.
 */
export function showPlot(figure, { title, bars, say, columns }) {
  const stamp = JSON.stringify([title, bars]);
  if (figure.dataset.stamp === stamp) return;
  figure.dataset.stamp = stamp;
  const isOpen = figure.querySelector("details")?.open ?? false;
  const focused = ["summary", ".chart"].find((one) => document.activeElement?.matches(`#${figure.id} ${one}`));
  const most = Math.max(0, ...bars.map(({ value }) => value));
  const all = say(bars.reduce((sum, { value }) => sum + value, 0));
  const readout = element("span", { id: `${figure.id}-readout`, "aria-live": "polite" }, all);
  const summary = strings.plotSummary(title, all, say(most));
  const table = element("details", isOpen ? { open: "" } : {}, element("summary", {}, strings.asTable));
  table.append(tableOf(bars, columns));
  figure.replaceChildren(
    element("figcaption", {}, element("span", {}, title), readout),
    element("p", { class: "most", "aria-hidden": "true" }, count(most)),
    chart(bars, most, { title, summary, readout, all }),
    axis(bars),
    table,
  );
  if (focused) figure.querySelector(focused).focus();
}

/** One stop for the Tab key, and arrows from bar to bar. */
function chart(bars, most, { title, summary, readout, all }) {
  const svg = drawing(bars, most, summary);
  const about = { tabindex: "0", role: "group", "aria-label": title, "aria-describedby": readout.id };
  const made = element("div", { class: "chart", ...about }, svg);
  let picked;
  const pick = (index) => {
    if (picked !== undefined) svg.children[picked].classList.remove("picked");
    picked = index;
    if (picked !== undefined) svg.children[picked].classList.add("picked");
    setText(readout, picked === undefined ? all : strings.barSays(bars[picked].label, bars[picked].counts));
  };
  const within = (index) => Math.max(0, Math.min(bars.length - 1, index));
  const pointed = ({ clientX }) => {
    const { left, width } = svg.getBoundingClientRect();
    pick(within(Math.floor(((clientX - left) / width) * bars.length)));
  };
  made.addEventListener("pointermove", pointed);
  made.addEventListener("pointerdown", pointed);
  made.addEventListener("pointerleave", ({ pointerType }) => pointerType === "mouse" && pick(undefined));
  made.addEventListener("focus", () => pick(picked ?? bars.length - 1));
  made.addEventListener("blur", () => pick(undefined));
  made.addEventListener("keydown", (event) => {
    const step = STEPS[event.key];
    if (step === undefined) return;
    event.preventDefault();
    pick(within((picked ?? bars.length - 1) + step));
  });
  return made;
}

function drawing(bars, most, summary) {
  const svg = shape("svg", {
    viewBox: `0 0 ${bars.length} ${HEIGHT}`,
    preserveAspectRatio: "none",
    role: "img",
    "aria-label": summary,
  });
  for (const [index, { value }] of bars.entries()) {
    const height = most === 0 ? 0 : (value / most) * HEIGHT;
    const x = index + (1 - WIDTH) / 2;
    svg.append(shape("rect", { x, y: HEIGHT - height, width: WIDTH, height }));
  }
  return svg;
}

function shape(tag, attributes) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

/** A few labels, each from the bar that it names. */
function axis(bars) {
  const every = Math.ceil(bars.length / LABELS);
  const made = element("div", { class: "axis", "aria-hidden": "true" });
  made.style.gridTemplateColumns = `repeat(${bars.length}, minmax(0, 1fr))`;
  for (let index = 0; index < bars.length; index += every) {
    const label = element("span", {}, bars[index].label);
    label.style.gridColumn = `${index + 1} / span ${Math.min(every, bars.length - index)}`;
    made.append(label);
  }
  return made;
}

function tableOf(bars, columns) {
  const heads = [strings.from, ...columns.map(([, word]) => word)];
  const rows = bars.map(({ label, counts }) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, label),
      ...columns.map(([key]) => element("td", {}, count(counts[key]))),
    ),
  );
  const head = element("tr", {}, ...heads.map((word) => element("th", { scope: "col" }, word)));
  return element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows));
}
