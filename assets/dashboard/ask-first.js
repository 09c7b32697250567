/** Asks once before something that cannot be taken back. */
import { byId, element, setText } from "./dom.js";

/** Resolves with true where the person said yes; `items` are what it is about, one a line. */
export function askFirst({ title, text, items }) {
  const dialog = byId("ask");
  setText(byId("ask-title"), title);
  setText(byId("ask-text"), text);
  const lines = items.map((item) => element("li", {}, element("bdi", {}, item)));
  byId("ask-items").replaceChildren(...lines);
  setText(byId("ask-yes"), title);
  dialog.returnValue = "";
  dialog.showModal();
  const { promise, resolve } = Promise.withResolvers();
  dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true });
  return promise;
}

export function listenToAsk() {
  byId("ask-yes").addEventListener("click", () => byId("ask").close("yes"));
  byId("ask-no").addEventListener("click", () => byId("ask").close());
}
