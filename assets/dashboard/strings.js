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

export const strings = {
  lang,
  // The page's own words.
  skip: "Skip to content",
  loading: "Loading…",
  actions: "Actions",
  pause: "Pause sending",
  resume: "Resume sending",
  rescan: "Look for new scans now",
  foldersTitle: "Folders to create in the archive",
  foldersHint:
    "Create these folders in the archive. Their documents go on by themselves once the folders are there.",
  troublesTitle: "Held and failed",
  retryAll: "Retry all shown",
  countsTitle: "Documents by state",
  documentsTitle: "Recent documents",
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
    held: "Waits for something outside and goes on by itself",
    failed: "Needs a person",
  },
  allStates: "All states",

  // The headline.
  headline: {
    unhealthy: "Something is wrong",
    gate: (reason) => `Sending has stopped: ${reason}`,
    gateReasons: {
      QUOTA_LIMIT: "the page allowance is used up",
      CREDENTIALS_REFUSED: "the archive refuses the credentials",
      SAME_CODE_REPEATS: "the archive refuses every document",
    },
    gateOther: (code) => `the archive answers ${code}`,
    paused: "Sending is paused",
    pausedDetail: (count) =>
      count === 0
        ? "Nothing waits. New scans are noticed and wait until you resume."
        : `${documents(count)} wait. New scans are noticed and wait until you resume.`,
    failed: (count) => `${documents(count)} ${count === 1 ? "needs" : "need"} you`,
    failedDetail: "The archive or the file itself stands in the way; see below what to do.",
    folders: (count) => `${many(count, "folder", "folders")} to create in the archive`,
    foldersDetail: (count) => `${documents(count)} ${count === 1 ? "waits" : "wait"} for that.`,
    held: (count) => `${documents(count)} ${count === 1 ? "is" : "are"} held`,
    heldDetail: "Something outside is missing; see below. They go on by themselves.",
    moving: (count) => `${documents(count)} on the way`,
    movingDetail: (archived) => `${documents(archived)} archived so far.`,
    done: (count) =>
      count === 1 ? "The one document is archived" : `All ${documents(count)} are archived`,
    doneDetail: "Converted, and read back from the archive.",
    empty: "Waiting for the first scan",
    emptyDetail: "Nothing has been found in the watched folders yet.",
    waiting: (count) => `${documents(count)} ${count === 1 ? "waits" : "wait"}.`,
    reason: "Reason",
    mend: "What to do",
    since: "Since",
    nextTry: "Next try",
    starting: "Not ready yet",
  },
  archivedOf: (archived, all) => `${number.format(archived)} of ${number.format(all)} archived`,

  // Tables and lists.
  mirror: "Mirror",
  total: "All",
  watch: { native: "watched", polling: "scanned", off: "not watched" },
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
  moreTroubles: (shown, all) =>
    `${number.format(shown)} of ${number.format(all)} shown. Everything: scanferry list --state failed`,
  code: "Code",
  why: "Why",
  attempts: (count) => many(count, "attempt", "attempts"),
  retry: "Retry",
  retryOne: (path) => `Retry ${path}`,

  // What came of a click.
  asked: {
    retry: (count) => `${documents(count)} put back in the queue.`,
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
  journalTrouble: (message) => `The daemon cannot tell where things stand: ${message}`,
  version: (version) => `scanferry ${version}`,
};
