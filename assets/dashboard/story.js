/** The whole story of one document, in a dialog. */
import { ask, tell } from "./connection.js";
import { badge } from "./documents.js";
import { byId, element, sentence, setText } from "./dom.js";
import { askFirst } from "./ask-first.js";
import { choose } from "./choice.js";
import { bytes, count, fullTime } from "./format.js";
import { showLogOf } from "./inspection.js";
import { strings } from "./strings.js";

/** Stories that were opened and closed: an answer to an earlier question is not shown. */
let turns = 0;

/** Does an action and reports it, and finds a finding by its id; set once. */
let work;
let findingBy;

/** Opens the dialog; where it was opened from has the focus again once it is closed. */
export async function openStory({ id, path = "" }) {
  const words = strings.story;
  const body = byId("story-body");
  const turn = ++turns;
  byId("story-title").replaceChildren(element("bdi", {}, path));
  body.replaceChildren(element("p", { class: "hint" }, strings.loading));
  if (!byId("story").open) byId("story").showModal();
  try {
    const story = await ask(`/api/document?id=${id}`);
    if (turn !== turns) return;
    byId("story-title").replaceChildren(element("bdi", {}, story.document.path));
    body.replaceChildren(
      ...actionsOf(story.document),
      factsOf(story.document, waitsOf(story)),
      ...logOf(story.document),
      ...part(words.history, historyOf(story.history)),
      ...part(words.attempts, story.attempts.length > 0 && attemptsOf(story.attempts)),
      ...part(words.contents, story.contents.length > 0 && contentsOf(story.contents)),
      ...part(words.revisions, story.revisions.length > 0 && revisionsOf(story.revisions)),
      ...part(words.forgotten, story.forgotten.length > 0 && historyOf(story.forgotten)),
    );
  } catch (error) {
    if (turn === turns) body.replaceChildren(element("p", {}, strings.documentsFailed(error.message)));
  }
}

/** Makes its button and a click next to it close the dialog; Escape already does. */
export function listenToStory(doing, finding) {
  work = doing;
  findingBy = finding;
  byId("story-close").addEventListener("click", () => byId("story").close());
  byId("story").addEventListener("click", ({ target }) => {
    if (target === byId("story")) byId("story").close();
  });
  byId("story").addEventListener("close", () => {
    turns += 1;
    setText(byId("story-title"), "");
    byId("story-body").replaceChildren();
  });
}

/** What `scanferry retry` does to it can be asked for here. */
function actionsOf(record) {
  const { id, path, retry, error, state } = record;
  const words = strings.story;
  if (state === "held" && error?.code === "FIRST_RUN") return [choicesOf(record)];
  const doing = [];
  const isUnfinished = retry === "anyway" || error?.code === "FILE_INCOMPLETE";
  if (retry === "queue") doing.push([words.retry, false, state === "failed"]);
  if (isUnfinished) doing.push([words.anyway, true, true]);
  if (doing.length === 0) return [];
  const buttons = doing.map(([title, anyway, isCostly]) => {
    const button = element("button", { type: "button" }, title);
    button.addEventListener("click", () => {
      byId("story").close();
      work(async () => {
        const question = { title, text: strings.finding.costs(), items: [path] };
        if (isCostly && !(await askFirst(question))) return undefined;
        const { documents } = await tell("/api/retry", { ids: [id], anyway });
        return anyway ? strings.asked.anyway(documents) : strings.asked.retry(documents);
      });
    });
    return button;
  });
  return [element("div", { class: "actions" }, ...buttons)];
}

/** What is decided of a document that the archive may have. */
function choicesOf(record) {
  const buttons = ["adopt", "sendAsNew"].map((action) => {
    const title = strings.finding.actions[action](1);
    const button = element("button", { type: "button" }, title);
    button.addEventListener("click", () => {
      byId("story").close();
      const text = strings.finding.costs(record.pages ?? record.pagesEstimated ?? undefined);
      work(() => choose(action, { title, text, items: [record.path] }, [record]));
    });
    return button;
  });
  return element("div", { class: "actions" }, ...buttons);
}

/** What keeps the document, in the reader's language. */
function waitsOf({ waits, waitsFor }) {
  const finding = findingBy(waitsFor);
  return finding ? [`${finding.title}.`, finding.detail, finding.fix].filter(Boolean).join(" ") : waits;
}

/** The way to its lines of the log, where the page shows that. */
function logOf(document) {
  if (byId("inspection").hidden) return [];
  const button = element("button", { type: "button", class: "link" }, strings.inspection.show);
  button.addEventListener("click", () => {
    byId("story").close();
    showLogOf(document);
  });
  return [button];
}

function part(title, content) {
  return content ? [element("h3", {}, title), content] : [];
}

function factsOf(record, waits) {
  const words = strings.story;
  const facts = [
    [strings.columns.state, badge(record.state)],
    [words.why, record.error && `${strings.messageOf(record.error.message)} (${record.error.code})`],
    [strings.finding.fix, record.error && sentence("span", {}, strings.hintOf(record.error.code, record.error.hint))],
    [strings.mirror, record.mirror],
    [words.target, record.target],
    [words.sentName, record.sentName],
    [strings.columns.documentId, record.documentId],
    [strings.columns.pages, record.pages === null ? null : count(record.pages)],
    [words.size, bytes(record.size)],
    [words.sha256, record.sha256 && element("code", {}, record.sha256)],
    [words.batch, record.batch && element("code", {}, record.batch)],
    [words.waits, waits && sentence("span", {}, waits)],
    [strings.finding.nextAttempt, waits || record.nextAttemptAt === null ? null : fullTime(record.nextAttemptAt)],
    [words.remark, record.remark && strings.messageOf(record.remark)],
    [words.movedFrom, record.movedFrom],
    [words.goneAt, record.goneAt === null ? null : fullTime(record.goneAt)],
  ].filter(([, value]) => value !== null && value !== undefined && value !== "");
  const rows = facts.map(([name, value]) =>
    element("div", {}, element("dt", {}, name), element("dd", {}, typeof value === "number" ? String(value) : value)),
  );
  return element("dl", { class: "facts" }, ...rows);
}

function historyOf(lines) {
  return element(
    "ol",
    { class: "history" },
    ...lines.map(({ at, from, to, event, detail, times }) =>
      element(
        "li",
        {},
        element("time", { datetime: new Date(at).toISOString() }, fullTime(at)),
        element("span", { class: "step" }, stepOf(from, to, event), times ? ` ${strings.times(times)}` : ""),
        detail ? element("bdi", { class: "detail" }, strings.messageOf(detail)) : undefined,
      ),
    ),
  );
}

function stepOf(from, to, event) {
  const word = strings.events[event];
  if (to === null || from === to) return word ?? event;
  const state = strings.states[to] ?? to;
  return word === undefined ? state : `${word}: ${state}`;
}

/** `deferred: ARCHIVE_BUSY`, with the word that the reader knows. */
function outcomeOf(outcome) {
  const [event, ...code] = outcome.split(": ");
  return [strings.outcomes[event] ?? event, ...code].join(": ");
}

function attemptsOf(attempts) {
  const words = strings.story;
  return element(
    "ol",
    { class: "history" },
    ...attempts.map(({ startedAt, outcome, folderId, documentId }) =>
      element(
        "li",
        {},
        element("time", { datetime: new Date(startedAt).toISOString() }, fullTime(startedAt)),
        element("span", { class: "step" }, outcome === null ? words.underWay : outcomeOf(outcome)),
        element("span", { class: "detail" }, words.attempt(folderId, documentId)),
      ),
    ),
  );
}

function contentsOf(contents) {
  return element(
    "ul",
    {},
    ...contents.map(({ filename, sizeBytes, pages }) =>
      element("li", {}, element("bdi", {}, filename), `, ${bytes(sizeBytes)}, ${strings.pagesCounted(pages)}`),
    ),
  );
}

function revisionsOf(revisions) {
  return element(
    "ul",
    {},
    ...revisions.map((record) => {
      const button = element("button", { type: "button", class: "link" }, fullTime(record.changedAt));
      button.addEventListener("click", () => openStory(record));
      return element("li", {}, button, " ", badge(record.state));
    }),
  );
}
