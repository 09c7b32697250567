/**
 * The only place that makes elements. Text goes in as text, never as markup: file names are
 * whatever a scanner, a person or an attacker called them.
 */
import { fullTime, relativeTime } from "./format.js";

/** An element with attributes and children; a string child is text. */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== null) made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== undefined && child !== null));
  return made;
}

/** An element with a sentence of our own in it; what stands between backticks is to be typed as it is. */
export function sentence(tag, attributes, text) {
  const parts = text.split("`");
  const isPaired = parts.length % 2 === 1;
  const children = parts.map((part, at) => (at % 2 === 1 ? element("code", {}, part) : part));
  return element(tag, attributes, ...(isPaired ? children : [text]));
}

export const byId = (id) => document.getElementById(id);

/** Sets text only where it differs, so that screen readers are not told the same twice. */
export function setText(target, text) {
  if (target.textContent !== text) target.textContent = text;
}

/**
 * Makes `parent`'s children those of `items`, keeping elements by key: focus, selection and
 * scrolling stay where they are. An element is made again only when its item's `stamp` differs.
 */
export function sync(parent, items, { key, stamp = JSON.stringify, make }) {
  const known = new Map([...parent.children].map((child) => [child.dataset.key, child]));
  const held = [...known.values()].find((child) => child.contains(document.activeElement));
  const nth = held && focusablesIn(held).indexOf(document.activeElement);
  let before = null;
  for (const item of items) {
    const name = String(key(item));
    const mark = stamp(item);
    let child = known.get(name);
    known.delete(name);
    if (child?.dataset.stamp !== mark) {
      const fresh = make(item);
      fresh.dataset.key = name;
      fresh.dataset.stamp = mark;
      child?.replaceWith(fresh);
      child = fresh;
    }
    const place = before === null ? parent.firstElementChild : before.nextElementSibling;
    if (place !== child) parent.insertBefore(child, place);
    before = child;
  }
  for (const gone of known.values()) gone.remove();
  if (held === undefined || parent.contains(document.activeElement)) return;
  // What is made again, or moved, loses the focus.
  const there = [...parent.children].find(({ dataset }) => dataset.key === held.dataset.key);
  if (there) focusablesIn(there)[nth]?.focus({ preventScroll: true });
}

const focusablesIn = (parent) => [...parent.querySelectorAll("a, button, summary, pre")];

/** A moment, told relative to now; `refreshTimes` keeps it true. */
export function time(at, now) {
  const made = element("time", { datetime: new Date(at).toISOString(), title: fullTime(at) });
  made.dataset.at = String(at);
  made.textContent = relativeTime(at, now);
  return made;
}

/** A moment, exactly and told relative to now: "20 Nov 2026, 14:35 (in 4 minutes)". */
export function moment(at, now) {
  return element("span", {}, `${fullTime(at)} (`, time(at, now), ")");
}

export function refreshTimes(now) {
  for (const one of document.querySelectorAll("time[data-at]"))
    setText(one, relativeTime(Number(one.dataset.at), now));
}
