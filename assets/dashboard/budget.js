/** The page budget: what is used of the month, what is kept for whom, and how long that lasts. */
import { byId, element, sentence, sync, time } from "./dom.js";
import { count, dayOf } from "./format.js";
import { strings } from "./strings.js";

/** One account for each archive that has an allowance; none: nothing is shown. */
export function showBudget({ archives, mirrors, pages, at }) {
  const accounts = archives
    .filter(({ allowance }) => allowance)
    .map(({ name, allowance }) => ({
      name: archives.length > 1 ? name : undefined,
      allowance,
      waiting: waitingFor(name, mirrors, pages),
      to: pages.to,
    }));
  byId("budget").hidden = accounts.length === 0;
  sync(byId("budget-list"), accounts, {
    key: ({ name }) => name ?? "",
    make: (account) => accountItem(account, at),
  });
}

/** What waits for this archive: pages as far as they are counted, documents whose pages are not. */
function waitingFor(archive, mirrors, pages) {
  const carried = new Set(mirrors.filter((one) => one.archive === archive).map(({ name }) => name));
  const waiting = pages.mirrors.filter(({ mirror }) => carried.has(mirror)).map((one) => one.waiting);
  const sum = (what) => waiting.reduce((all, one) => all + one[what], 0);
  return { pages: sum("pages"), unknown: sum("unknown") };
}

function accountItem({ name, allowance, waiting, to }, now) {
  const { pages, left, level, problem } = allowance;
  const words = strings.budget;
  return element(
    "li",
    { "data-level": level },
    name === undefined ? undefined : element("h3", {}, name),
    element(
      "p",
      { class: "row left" },
      element("span", {}, element("strong", {}, count(Math.max(0, left))), ` ${words.leftOf(left, pages)}`),
      element("span", {}, words.renewedOn(dayOf(to)), ", ", time(to, now)),
    ),
    barOf(allowance, to),
    element("dl", { class: "facts" }, ...factsOf(allowance, waiting, now)),
    problem ? sentence("p", { class: "fix" }, strings.hintOf(problem.code, problem.hint)) : undefined,
  );
}

/** Used from the left, then what is reserved; what stays empty is everybody's. */
function barOf({ pages, used, reserve }, to) {
  const words = strings.budget;
  const kept = reserve?.left ?? 0;
  const summary = [
    words.used(used, pages),
    ...(reserve ? [words.reserved(reserve)] : []),
    words.renewedOn(dayOf(to)),
  ].join("; ");
  const bar = element("div", { class: "bar", role: "img", "aria-label": summary });
  const parts = [
    ["used", used],
    ["reserved", kept],
  ];
  for (const [kind, share] of parts.filter(([, some]) => some > 0)) {
    const part = element("span", { class: kind });
    part.style.inlineSize = `${Math.min(100, (100 * share) / pages)}%`;
    bar.append(part);
  }
  return bar;
}

function factsOf({ pages, used, left, level, runsOutAt, reserve, keeps }, waiting, now) {
  const words = strings.budget;
  const rows = [[words.usedLabel, swatch("used"), words.share(used, pages)]];
  if (reserve) rows.push([words.reservedLabel, swatch("reserved"), words.reserved(reserve)]);
  if (waiting.pages + waiting.unknown > 0)
    rows.push([words.waitingLabel, words.waiting(waiting, left)]);
  if (keeps.documents > 0) rows.push([words.keptLabel, words.kept(keeps)]);
  if (runsOutAt !== null && level !== "usedUp")
    rows.push([words.runsOutLabel, dayOf(runsOutAt), ", ", time(runsOutAt, now), ` ${words.atThisRate}`]);
  return rows.map(([label, ...value]) =>
    element("div", {}, element("dt", {}, label), element("dd", {}, ...value)),
  );
}

/** Which part of the bar is meant. */
function swatch(kind) {
  return element("span", { class: `swatch ${kind}`, "aria-hidden": "true" });
}
