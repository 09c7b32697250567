/** Every word of the page in English. Another language is another file with the same keys. */
import { EVENTS, OUTCOMES, STATE_HELP, STATES } from "./en-terms.js";
import { count as number, many } from "./format.js";

const documents = (count) => many(count, "document", "documents");
const pages = (count) => many(count, "page", "pages");

/** What came of a choice, and why not of all. */
const choiceReport = ({ documents: done, unclear, changed }, what) =>
  [
    `${documents(done)} ${what}.`,
    unclear > 0 && `${documents(unclear)} left held: what the archive has may be another's.`,
    changed > 0 && `${documents(changed)} left alone: changed since this page showed them.`,
  ]
    .filter(Boolean)
    .join(" ");

export const strings = {
  lang: "en",
  language: "Language",
  languages: { en: "English", de: "Deutsch" },

  // What the daemon says in English; another language says it by its kind or code.
  findingOf: (finding) => finding,
  hintOf: (code, hint) => hint,
  messageOf: (message) => message,
  refusalOf: ({ message, hint }) => `${message}. ${hint}`,

  // The page's own words.
  skip: "Skip to content",
  loading: "Loading…",
  actions: "Actions",
  pause: "Pause sending",
  resume: "Resume sending",
  rescan: "Look for new scans now",
  instancesTitle: "Daemons on this journal",
  instancesHint: "All of them send. What one does for all is named; another one takes over when it is gone.",
  sends: "sends",
  owns: (assignments) => `sends, leads ${assignments.join(", ")}`,
  heardOf: (ms) => `heard of ${Math.round(ms / 1_000)} s ago`,
  leaseOver: "its lease is over",
  todayTitle: "Today",
  monthTitle: "This month",
  budgetTitle: "Page budget",
  nowTitle: "Now",
  countsTitle: "The queue",
  countsHint: "Documents by state, and since when the oldest of them has been known.",
  throughputTitle: "Throughput",
  batchesTitle: "Batches",
  documentsTitle: "Documents",
  close: "Close",
  searchLabel: "File name",
  mirrorLabel: "Mirror",
  codeLabel: "Reason",
  fromLabel: "From",
  toLabel: "To",
  moreFilters: "More filters",
  clear: "Clear filters",
  cancel: "Cancel",
  stateLabel: "State",
  metrics: "Metrics",
  healthLink: "Health",

  // States: the word, and what it means to a person.
  states: STATES,
  stateHelp: STATE_HELP,
  allStates: "All states",

  /** The same in words for people who look for a document. */
  stateWords: {
    settling: "Not finished yet",
    pending: "Waits to be sent",
    uploading: "Is being sent",
    inDoubt: "Is being checked",
    uploaded: "Sent, not converted yet",
    converted: "In the archive",
    held: "Held",
    failed: "Failed",
  },
  allMirrors: "All mirrors",

  unhealthy: "Something is wrong",
  // The headline; findings bring their own words.
  headline: {
    moving: (count) => `${documents(count)} on the way`,
    movingDetail: (archived) => `${documents(archived)} archived so far.`,
    done: (count) =>
      count === 1
        ? "The one document is in the archive"
        : `All ${documents(count)} are in the archive`,
    doneDetail: "The archive confirmed that they are converted.",
    empty: "Waiting for the first scan",
    emptyDetail: "No file was found yet. Put a file into one of these folders, and it is sent automatically:",
  },

  // Findings: what is around their texts, and what can be done.
  finding: {
    fix: "What to do",
    since: "Since",
    nextAttempt: "Next attempt",
    folders: "Create these folders in the archive. Their documents continue automatically.",
    copy: "Copy the list",
    copied: "The list is copied.",
    show: (count) => (count === 1 ? "Show the document" : "Show the documents"),
    actions: {
      retry: (count) => (count === 1 ? "Retry" : `Retry all ${number(count)}`),
      sendAnyway: (count) => (count === 1 ? "Send anyway" : `Send all ${number(count)} anyway`),
      sendAgain: (count) => (count === 1 ? "Send again" : `Send all ${number(count)} again`),
      adopt: (count) =>
        count === 1 ? "It is the same document" : `They are the same ${number(count)} documents`,
      sendAsNew: (count) =>
        count === 1 ? "Send as a new document" : `Send all ${number(count)} as new documents`,
    },
    adoptText:
      "Nothing is sent: each file is linked to the document that the archive has of its name and size. What is unclear stays held.",
    asNewText: "If the archive has one of them already, it is there twice afterwards.",
    costs: (count) =>
      count === undefined
        ? "This sends the following. The archive counts its pages."
        : `This sends the following. The archive counts about ${pages(count)}.`,
    more: (count) => `and ${count} more`,
  },
  goesTo: "→ archive folder",
  archivedOf: (archived, all) => `${number(archived)} of ${number(all)} archived`,

  // What reached the archive.
  sums: {
    documents: (count) => (count === 1 ? "document" : "documents"),
    pages: (count) => (count === 1 ? "page" : "pages"),
    bytes: "sent",
    ofMirror: (sent, counted) => `${documents(sent)}, ${pages(counted)}`,
  },

  // The page budget.
  budget: {
    leftOf: (left, all) => `${left === 1 ? "page" : "pages"} left of ${number(all)}`,
    renewedOn: (day) => `renewed ${day}`,
    used: (used, all) => `${number(used)} of ${pages(all)} used`,
    usedLabel: "Used",
    share: (used, all) => `${pages(used)} (${number(Math.floor((100 * used) / all))}\u00a0%)`,
    reservedLabel: "Reserved",
    reserved: ({ left, pages: all, mirrors }) =>
      `${number(left)} of ${pages(all)} for ${mirrors.join(", ")}`,
    waitingLabel: "Waiting",
    waiting: (waiting, left) => {
      const unknown = waiting.unknown > 0 ? ` and ${documents(waiting.unknown)} not counted` : "";
      const more = waiting.pages > left ? ", more than are left" : "";
      return `${pages(waiting.pages)}${unknown}${more}`;
    },
    keptLabel: "Kept back",
    kept: ({ documents: kept, mirrors }) =>
      `${documents(kept)} of ${mirrors.join(", ")}, until the month is renewed`,
    runsOutLabel: "Used up",
    atThisRate: "at this rate",
  },
  documentsCounted: documents,
  pagesCounted: pages,
  documentsPerHour: "Documents per hour",
  pagesPerDay: "Pages per day",
  plotSummary: (title, all, most) => `${title}: ${all} in all, at most ${most}`,
  barSays: (label, counts) => `${label}: ${documents(counts.uploaded)}, ${pages(counts.pages)}${counts.failed > 0 ? `, ${number(counts.failed)} failed` : ""}`,
  plotColumns: { uploaded: "Documents", pages: "Pages", failed: "Failed" },
  asTable: "As a table",
  from: "From",
  batchColumns: {
    batch: "Begun",
    mirror: "Mirror",
    converted: "Converted",
    pages: "Pages",
    receipt: "Receipt",
  },
  batchProgress: (converted, all, { held = 0, failed = 0 }) =>
    [
      `${number(converted)} of ${number(all)}`,
      held > 0 ? `${number(held)} held` : "",
      failed > 0 ? `${number(failed)} failed` : "",
    ]
      .filter((part) => part !== "")
      .join(", "),
  receipt: "Receipt",
  json: "JSON",
  receiptOf: (begun, word) => `${word} of the batch begun ${begun}`,
  noBatches: "Nothing has been sent yet.",
  nowNote: (settling, waiting) => {
    const parts = [
      settling > 0 ? `${documents(settling)} still being written or looked at` : "",
      waiting > 0 ? `${documents(waiting)} ready and waiting for a turn` : "",
    ].filter((part) => part !== "");
    return parts.length === 0 ? "" : `${parts.join("; ")}.`;
  },

  bytesOf: (sent, all, share) => `${sent} of ${all} (${share})`,
  perSecond: (size) => `${size} per second`,
  leftFor: (time, count) => `about ${time} left for ${documents(count)}`,
  converting: (count) => ` ${documents(count)} sent, waiting for the archive to convert ${count === 1 ? "it" : "them"}`,

  // The story of one document.
  storyOf: "Show the whole history",
  story: {
    history: "History",
    retry: "Retry",
    anyway: "Send anyway",
    attempts: "Attempts to send",
    contents: "Contains",
    revisions: "Other revisions",
    forgotten: "Seen here before",
    why: "Why",
    waits: "Waits",
    target: "Archive folder",
    sentName: "Name in the archive",
    size: "Size",
    sha256: "SHA-256",
    batch: "Batch",
    remark: "Remark",
    movedFrom: "Moved from",
    goneAt: "File gone since",
    underWay: "under way",
    attempt: (folder, document) =>
      document === null ? `folder ${folder}` : `folder ${folder}, document ${document}`,
  },
  outcomes: OUTCOMES,
  events: EVENTS,
  times: (count) => `(${many(count, "time", "times")})`,

  // Tables and lists.
  mirror: "Mirror",
  total: "All",
  watch: { native: "watched", polling: "scanned", off: "not watched", offline: "offline" },
  columns: {
    name: "Name",
    folder: "Folder",
    mirror: "Mirror",
    at: "When",
    pages: "Pages",
    state: "State",
    documentId: "Document id",
  },
  none: "–",
  pages: "Pages of the list",
  previous: "Previous",
  next: "Next",
  sortLabel: "Sort",
  sorts: { "": "Latest first", name: "By folder and name", state: "By state" },
  noDocuments: "No documents match.",
  searching: "Still searching…",
  noDocumentsYet: "No documents yet.",
  documentsFailed: (message) => `The documents could not be read: ${message}`,

  // What came of a click.
  asked: {
    retry: (count) => (count === 0 ? "Nothing is left to retry." : `${documents(count)} put back in the queue.`),
    anyway: (count) =>
      count === 0 ? "Nothing is left to send." : `${documents(count)} sent as ${count === 1 ? "it is" : "they are"}, unless the file changes first.`,
    adopt: (outcome) => choiceReport(outcome, "linked to the archive's"),
    sendAsNew: (outcome) => choiceReport(outcome, "put back in the queue, to be sent as new"),
    pause: "Sending is paused.",
    resume: "Sending continues.",
    rescan: "Looking through the folders.",
  },
  noAnswer: "scanferry does not answer.",
  nothingSent: "scanferry does not answer. Nothing was changed.",
  notKnown: "scanferry did not answer. See whether it was done, once this page is live again.",
  notDone: (message) => `Not done: ${message}`,

  // For an administrator.
  inspectionTitle: "Log and configuration",
  logTitle: "Log",
  levelLabel: "Level",
  logAll: "Show all lines",
  configurationTitle: "Configuration in use",
  checkTitle: "Check",
  checkRun: "Run the check",
  checkNote: "",
  inspection: {
    levels: { debug: "All", info: "Information and above", warn: "Warnings and errors", error: "Errors" },
    of: (path) => `Lines of ${path}`,
    show: "Show its log lines",
    noLines: "No lines.",
    noKeys: "No keys.",
    checking: "Checking; this can take a minute.",
    passed: "Nothing fails.",
    failed: "Something fails.",
    found: { ok: "ok", warn: "warning", FAIL: "fails" },
  },

  // Signing in and out.
  signOut: "Sign out",
  signIn: {
    title: "Sign in",
    token: "Token",
    hint: "The administrator of scanferry has it. This browser stays signed in for 30 days.",
    enter: "Sign in",
    wrong: "This token is wrong.",
    failed: (status) => `Not done: HTTP ${status}`,
  },

  // The line to the daemon.
  line: {
    live: "Live",
    polling: "Updated every few seconds",
    refused: "Not signed in",
    lost: "No connection",
  },
  lost: (time) =>
    `scanferry has not answered since ${time}. This page shows how things were then. Nothing was changed. The page continues automatically.`,
  journalProblem: (message) => `The daemon cannot tell where things stand: ${message}`,
  version: (version) => `scanferry ${version}`,
};
