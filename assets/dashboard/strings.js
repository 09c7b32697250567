/**
 * Every word of the page. A translation is another file like this one: same keys, and `lang` for
 * numbers and dates.
 */

const lang = "en";
const rules = new Intl.PluralRules(lang);
const number = new Intl.NumberFormat(lang);

/** "1 document", "3 documents". */
function many(count, one, other) {
  return `${number.format(count)} ${rules.select(count) === "one" ? one : other}`;
}
const documents = (count) => many(count, "document", "documents");
const pages = (count) => many(count, "page", "pages");

/** What an event of the history did, where a state does not say it all. */
const EVENTS = {
  add: "seen",
  note: "noted",
  forget: "forgotten: the file is gone",
  follow: "renamed or moved",
  polled: "asked for: not converted yet",
  looked: "looked for in the archive",
  released: "given back before it was sent",
  goesOn: "goes on",
  changed: "the file changed",
  unfinished: "looks unfinished",
};

export const strings = {
  lang,
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
  foldersTitle: "Folders to create in the archive",
  foldersHint:
    "Create these folders in the archive. Their documents continue automatically once the folders are there.",
  problemsTitle: "Held and failed",
  retryAll: "Retry all shown",
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
  stateLabel: "State",
  metrics: "Metrics",
  healthLink: "Health",

  // States: the word, and what it means to a person.
  states: {
    settling: "settling",
    pending: "pending",
    uploading: "uploading",
    inDoubt: "in doubt",
    uploaded: "uploaded",
    converted: "converted",
    held: "held",
    failed: "failed",
  },
  stateHelp: {
    settling: "Seen, not yet stable or complete",
    pending: "Ready, waiting for its turn",
    uploading: "Being sent",
    inDoubt: "Sent, reply lost: the archive is asked before anything is sent again",
    uploaded: "In the archive, not yet converted",
    converted: "Converted and proven to be in the archive",
    held: "Waits for something outside, or for a person: its reason says which",
    failed: "Needs a person",
  },
  allStates: "All states",

  // The headline.
  headline: {
    unhealthy: "Something is wrong",
    gate: (reason) => `Sending has stopped: ${reason}`,
    gateOf: (archive, reason) => `Sending to ${archive} has stopped: ${reason}`,
    gateReasons: {
      QUOTA_LIMIT: "the page allowance is used up",
      CREDENTIALS_REFUSED: "the archive refuses the credentials",
      ARCHIVE_CHANGED: "it is another archive than the one that documents were sent to",
      SAME_CODE_REPEATS: "the archive refuses every document",
    },
    gateOther: (code) => `the archive answers ${code}`,
    outage: "The archive cannot be reached",
    outageOf: (archive) => `The archive ${archive} cannot be reached`,
    offline: (names) =>
      names.length === 1
        ? `The source of ${names[0]} is offline`
        : `${number.format(names.length)} sources are offline`,
    offlineDetail: "Nothing is taken for removed. It continues automatically once it is there again.",
    unread: (count) => `${many(count, "local folder", "local folders")} cannot be read`,
    unreadDetail: "What is in there is neither seen nor sent. Everything else goes on.",
    unreadFix: "Give the daemon's user the right to read it, or fix its disk; it is looked at again by itself.",
    paused: "Sending is paused",
    pausedDetail: (count) =>
      count === 0
        ? "Nothing waits. New scans are noticed and wait until you resume."
        : `${many(count, "document waits", "documents wait")}. New scans are noticed and wait until you resume.`,
    failed: (count) => `${documents(count)} ${count === 1 ? "needs" : "need"} you`,
    failedDetail: "The archive or the file itself stands in the way; see below what to do.",
    folders: (count) => `${many(count, "folder", "folders")} to create in the archive`,
    foldersDetail: (count) => `${documents(count)} ${count === 1 ? "waits" : "wait"} for that.`,
    held: (count) => `${documents(count)} ${count === 1 ? "is" : "are"} held`,
    heldDetail: (count) =>
      `See below what ${count === 1 ? "it waits" : "they wait"} for, and what to do.`,
    afterPending: (count) =>
      `${many(count, "archived file", "archived files")}${count >= 100 ? " or more" : ""} cannot be moved or deleted`,
    afterPendingDetail: "They are tried again without being asked.",
    afterFailed: (count, path, why) =>
      `${many(count, "file", "files")} never moved or deleted: ${path}${count > 1 ? " and others" : ""}: ${why}`,
    waits: {
      hours: "Sending waits for its hours",
      asked: "Sending waits: the archive asked for a pause",
      conversion: "Sending waits until more is converted",
      allowance: "Sending waits for the next month's pages",
    },
    sendingWaits: "Sending waits",
    until: "Until",
    moving: (count) => `${documents(count)} on the way`,
    movingDetail: (archived) => `${documents(archived)} archived so far.`,
    done: (count) =>
      count === 1
        ? "The one document is in the archive"
        : `All ${documents(count)} are in the archive`,
    doneDetail: "Converted, and read back from the archive.",
    empty: "Waiting for the first scan",
    emptyDetail: "Nothing has been found in the watched folders yet.",
    waiting: (count) => `${documents(count)} ${count === 1 ? "waits" : "wait"}.`,
    reason: "Reason",
    fix: "What to do",
    since: "Since",
    nextTry: "Next try",
  },
  archivedOf: (archived, all) => `${number.format(archived)} of ${number.format(all)} archived`,

  // What reached the archive.
  sums: {
    documents: (count) => (count === 1 ? "document" : "documents"),
    pages: (count) => (count === 1 ? "page" : "pages"),
    bytes: "sent",
    ofMirror: (sent, counted) => `${documents(sent)}, ${pages(counted)}`,
  },

  // The page budget.
  budget: {
    leftOf: (left, all) => `${left === 1 ? "page" : "pages"} left of ${number.format(all)}`,
    renewedOn: (day) => `renewed ${day}`,
    used: (used, all) => `${number.format(used)} of ${pages(all)} used`,
    usedLabel: "Used",
    share: (used, all) => `${pages(used)} (${number.format(Math.floor((100 * used) / all))}\u00a0%)`,
    reservedLabel: "Reserved",
    reserved: ({ left, pages: all, mirrors }) =>
      `${number.format(left)} of ${pages(all)} for ${mirrors.join(", ")}`,
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
      `${number.format(converted)} of ${number.format(all)}`,
      held > 0 ? `${number.format(held)} held` : "",
      failed > 0 ? `${number.format(failed)} failed` : "",
    ]
      .filter((part) => part !== "")
      .join(", "),
  receipt: "Receipt",
  receiptOf: (begun) => `Receipt of the batch begun ${begun}`,
  noBatches: "Nothing has been sent yet.",
  nowNote: (underWay, settling, waiting) => {
    const parts = [
      settling > 0 ? `${documents(settling)} still being written or looked at` : "",
      waiting > 0 ? `${documents(waiting)} ready and waiting for a turn` : "",
    ].filter((part) => part !== "");
    if (parts.length === 0) return underWay === 0 ? "Nothing is being sent." : "";
    return `${parts.join("; ")}.`;
  },

  // The story of one document.
  storyOf: "Show the whole history",
  story: {
    history: "History",
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
  step: (from, to, event) => {
    const word = EVENTS[event];
    if (to === null || from === to) return word ?? event;
    const state = strings.states[to] ?? to;
    return word === undefined ? state : `${word}: ${state}`;
  },
  times: (count) => `(${many(count, "time", "times")})`,

  // Tables and lists.
  mirror: "Mirror",
  total: "All",
  watch: { native: "watched", polling: "scanned", off: "not watched", offline: "offline" },
  waitingFor: (count) => `${documents(count)} ${count === 1 ? "waits" : "wait"}`,
  columns: {
    path: "File",
    mirror: "Mirror",
    state: "State",
    pages: "Pages",
    documentId: "Document id",
    at: "Last change",
  },
  none: "–",
  noDocuments: "No documents match.",
  incomplete:
    "There are too many documents to look at all of them: search for part of a name, or use scanferry list.",
  documentsFailed: (message) => `The documents could not be read: ${message}`,
  moreProblems: (shown, all) =>
    `${number.format(shown)} of ${number.format(all)} shown. Everything: scanferry list --state held, scanferry list --state failed`,
  code: "Code",
  why: "Why",
  attempts: (count) => many(count, "attempt", "attempts"),
  retry: "Retry",
  retryOne: (path) => `Retry ${path}`,
  anyway: "Send anyway",
  anywayOne: (path) => `Send ${path} anyway`,

  // What came of a click.
  asked: {
    retry: (count) => `${documents(count)} put back in the queue.`,
    anyway: "It is sent as it is, unless the file changes first.",
    pause: "Sending is paused.",
    resume: "Sending goes on.",
    rescan: "Looking through the folders.",
  },
  notDone: (message) => `Not done: ${message}`,

  // The line to the daemon.
  live: "Live",
  polling: "Updated every few seconds",
  lost: (time) => `No connection to the daemon since ${time}`,
  tokenNeeded: "Open this page with its token: /?token=…",
  journalProblem: (message) => `The daemon cannot tell where things stand: ${message}`,
  version: (version) => `scanferry ${version}`,
};
