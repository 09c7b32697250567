/** Every word of the page in German; the same keys as in English. */
import { findingOf, hintOf, messageOf } from "./de-findings.js";
import { EVENTS, OUTCOMES, REFUSALS, STATE_HELP, STATES } from "./de-terms.js";
import { count as number, many } from "./format.js";

const documents = (count) => many(count, "Dokument", "Dokumente");
const pages = (count) => many(count, "Seite", "Seiten");

/** What came of a choice, and why not of all. */
const choiceReport = ({ documents: done, unclear, changed }, what) =>
  [
    `${documents(done)} ${what}.`,
    unclear > 0 && `${documents(unclear)} weiter zurückgehalten: was das Archiv hat, kann ein anderes sein.`,
    changed > 0 && `${documents(changed)} unverändert gelassen: seit der Anzeige hat sich etwas geändert.`,
  ]
    .filter(Boolean)
    .join(" ");

export const strings = {
  lang: "de",
  language: "Sprache",
  languages: { en: "English", de: "Deutsch" },

  // What the daemon says in English, by its kind or code.
  findingOf,
  hintOf,
  messageOf,
  refusalOf: ({ code, message, hint }) => REFUSALS[code] ?? `${messageOf(message)}. ${hintOf(code, hint)}`,

  // The page's own words.
  skip: "Zum Inhalt",
  loading: "Wird geladen …",
  actions: "Aktionen",
  pause: "Senden anhalten",
  resume: "Senden fortsetzen",
  rescan: "Jetzt nach neuen Scans suchen",
  instancesTitle: "Daemons an diesem Journal",
  instancesHint:
    "Alle senden. Was einer für alle tut, ist genannt; fällt er aus, übernimmt ein anderer.",
  sends: "sendet",
  owns: (assignments) => `sendet, führt ${assignments.join(", ")}`,
  heardOf: (ms) => `zuletzt gehört vor ${Math.round(ms / 1_000)} s`,
  leaseOver: "seine Frist ist abgelaufen",
  todayTitle: "Heute",
  monthTitle: "Dieser Monat",
  budgetTitle: "Seitenkontingent",
  nowTitle: "Jetzt",
  countsTitle: "Die Warteschlange",
  countsHint: "Dokumente nach Zustand, und seit wann das älteste davon bekannt ist.",
  throughputTitle: "Durchsatz",
  batchesTitle: "Stapel",
  documentsTitle: "Dokumente",
  close: "Schließen",
  searchLabel: "Dateiname",
  mirrorLabel: "Mirror",
  codeLabel: "Grund",
  fromLabel: "Von",
  toLabel: "Bis",
  moreFilters: "Weitere Filter",
  clear: "Filter löschen",
  cancel: "Abbrechen",
  stateLabel: "Zustand",
  metrics: "Metriken",
  healthLink: "Health",

  // States: the word, and what it means to a person.
  states: STATES,
  stateHelp: STATE_HELP,
  allStates: "Alle Zustände",

  /** The same in words for people who look for a document. */
  stateWords: {
    settling: "Noch nicht fertig",
    pending: "Wartet auf das Senden",
    uploading: "Wird gesendet",
    inDoubt: "Wird geklärt",
    uploaded: "Gesendet, noch nicht konvertiert",
    converted: "Im Archiv",
    held: "Zurückgehalten",
    failed: "Fehlgeschlagen",
  },
  allMirrors: "Alle Mirrors",

  unhealthy: "Etwas stimmt nicht",
  // The headline; findings bring their own words.
  headline: {
    moving: (count) => `${documents(count)} unterwegs`,
    movingDetail: (archived) => `Bisher ${documents(archived)} archiviert.`,
    done: (count) =>
      count === 1 ? "Das eine Dokument ist im Archiv" : `Alle ${documents(count)} sind im Archiv`,
    doneDetail: "Das Archiv hat bestätigt, dass sie konvertiert sind.",
    empty: "Warten auf den ersten Scan",
    emptyDetail:
      "Noch wurde keine Datei gefunden. Eine Datei in einem dieser Ordner wird automatisch gesendet:",
  },

  // Findings: what is around their texts, and what can be done.
  finding: {
    fix: "Was zu tun ist",
    since: "Seit",
    nextAttempt: "Nächster Versuch",
    folders: "Diese Ordner im Archiv anlegen. Ihre Dokumente gehen dann automatisch weiter.",
    copy: "Liste kopieren",
    copied: "Die Liste ist kopiert.",
    show: (count) => (count === 1 ? "Dokument zeigen" : "Dokumente zeigen"),
    actions: {
      retry: (count) => (count === 1 ? "Erneut versuchen" : `Alle ${number(count)} erneut versuchen`),
      sendAnyway: (count) =>
        count === 1 ? "Trotzdem senden" : `Alle ${number(count)} trotzdem senden`,
      sendAgain: (count) => (count === 1 ? "Erneut senden" : `Alle ${number(count)} erneut senden`),
      adopt: (count) =>
        count === 1 ? "Es ist dasselbe Dokument" : `Es sind dieselben ${number(count)} Dokumente`,
      sendAsNew: (count) =>
        count === 1 ? "Als neues Dokument senden" : `Alle ${number(count)} als neue Dokumente senden`,
    },
    adoptText:
      "Es wird nichts gesendet: Jede Datei wird mit dem Dokument verbunden, das das Archiv unter ihrem Namen und mit ihrer Größe hat. Was unklar ist, bleibt zurückgehalten.",
    asNewText: "Hat das Archiv eines davon schon, so ist es danach doppelt dort.",
    costs: (count) =>
      count === undefined
        ? "Damit wird das Folgende gesendet. Das Archiv zählt die Seiten."
        : `Damit wird das Folgende gesendet. Das Archiv zählt etwa ${pages(count)}.`,
    more: (count) => `und ${count} weitere`,
  },
  goesTo: "→ Archivordner",
  archivedOf: (archived, all) => `${number(archived)} von ${number(all)} archiviert`,

  // What reached the archive.
  sums: {
    documents: (count) => (count === 1 ? "Dokument" : "Dokumente"),
    pages: (count) => (count === 1 ? "Seite" : "Seiten"),
    bytes: "gesendet",
    ofMirror: (sent, counted) => `${documents(sent)}, ${pages(counted)}`,
  },

  // The page budget.
  budget: {
    leftOf: (left, all) => `von ${pages(all)} übrig`,
    renewedOn: (day) => `erneuert am ${day}`,
    used: (used, all) => `${number(used)} von ${pages(all)} verbraucht`,
    usedLabel: "Verbraucht",
    share: (used, all) => `${pages(used)} (${number(Math.floor((100 * used) / all))}\u00a0%)`,
    reservedLabel: "Reserviert",
    reserved: ({ left, pages: all, mirrors }) =>
      `${number(left)} von ${pages(all)} für ${mirrors.join(", ")}`,
    waitingLabel: "Wartet",
    waiting: (waiting, left) => {
      const unknown = waiting.unknown > 0 ? ` und ${documents(waiting.unknown)} nicht gezählt` : "";
      const more = waiting.pages > left ? ", mehr als übrig sind" : "";
      return `${pages(waiting.pages)}${unknown}${more}`;
    },
    keptLabel: "Zurückgestellt",
    kept: ({ documents: kept, mirrors }) =>
      `${documents(kept)} von ${mirrors.join(", ")}, bis der Monat erneuert wird`,
    runsOutLabel: "Aufgebraucht",
    atThisRate: "bei diesem Tempo",
  },
  documentsCounted: documents,
  pagesCounted: pages,
  documentsPerHour: "Dokumente je Stunde",
  pagesPerDay: "Seiten je Tag",
  plotSummary: (title, all, most) => `${title}: insgesamt ${all}, höchstens ${most}`,
  barSays: (label, counts) => `${label}: ${documents(counts.uploaded)}, ${pages(counts.pages)}${counts.failed > 0 ? `, ${number(counts.failed)} fehlgeschlagen` : ""}`,
  plotColumns: { uploaded: "Dokumente", pages: "Seiten", failed: "Fehlgeschlagen" },
  asTable: "Als Tabelle",
  from: "Von",
  batchColumns: {
    batch: "Begonnen",
    mirror: "Mirror",
    converted: "Konvertiert",
    pages: "Seiten",
    receipt: "Beleg",
  },
  batchProgress: (converted, all, { held = 0, failed = 0 }) =>
    [
      `${number(converted)} von ${number(all)}`,
      held > 0 ? `${number(held)} zurückgehalten` : "",
      failed > 0 ? `${number(failed)} fehlgeschlagen` : "",
    ]
      .filter((part) => part !== "")
      .join(", "),
  receipt: "Beleg",
  json: "JSON",
  receiptOf: (begun, word) => `${word} des Stapels vom ${begun}`,
  noBatches: "Noch wurde nichts gesendet.",
  nowNote: (settling, waiting) => {
    const parts = [
      settling > 0 ? `${documents(settling)} noch beim Schreiben oder in Prüfung` : "",
      waiting > 0 ? `${documents(waiting)} bereit, noch nicht an der Reihe` : "",
    ].filter((part) => part !== "");
    return parts.length === 0 ? "" : `${parts.join("; ")}.`;
  },

  bytesOf: (sent, all, share) => `${sent} von ${all} (${share})`,
  perSecond: (size) => `${size} je Sekunde`,
  leftFor: (time, count) => `noch etwa ${time} für ${documents(count)}`,
  converting: (count) => ` ${documents(count)} gesendet, das Archiv konvertiert noch`,

  // The story of one document.
  storyOf: "Den ganzen Verlauf zeigen",
  story: {
    history: "Verlauf",
    retry: "Erneut versuchen",
    anyway: "Trotzdem senden",
    attempts: "Sendeversuche",
    contents: "Enthält",
    revisions: "Andere Fassungen",
    forgotten: "Hier früher gesehen",
    why: "Grund",
    waits: "Wartet",
    target: "Archivordner",
    sentName: "Name im Archiv",
    size: "Größe",
    sha256: "SHA-256",
    batch: "Stapel",
    remark: "Bemerkung",
    movedFrom: "Verschoben von",
    goneAt: "Datei weg seit",
    underWay: "läuft",
    attempt: (folder, document) =>
      document === null ? `Ordner ${folder}` : `Ordner ${folder}, Dokument ${document}`,
  },
  outcomes: OUTCOMES,
  events: EVENTS,
  times: (count) => `(${number(count)}-mal)`,

  // Tables and lists.
  mirror: "Mirror",
  total: "Alle",
  watch: {
    native: "überwacht",
    polling: "wird durchsucht",
    off: "nicht überwacht",
    offline: "nicht erreichbar",
  },
  columns: {
    name: "Name",
    folder: "Ordner",
    mirror: "Mirror",
    at: "Wann",
    pages: "Seiten",
    state: "Zustand",
    documentId: "Dokument-ID",
  },
  none: "–",
  pages: "Seiten der Liste",
  previous: "Zurück",
  next: "Weiter",
  sortLabel: "Sortierung",
  sorts: { "": "Neueste zuerst", name: "Nach Ordner und Name", state: "Nach Zustand" },
  noDocuments: "Keine Dokumente passen.",
  searching: "Die Suche läuft noch…",
  noDocumentsYet: "Noch keine Dokumente.",
  documentsFailed: (message) => `Die Dokumente konnten nicht gelesen werden: ${message}`,

  // What came of a click.
  asked: {
    retry: (count) =>
      count === 0 ? "Nichts mehr erneut zu versuchen." : `${documents(count)} wieder eingereiht.`,
    anyway: (count) =>
      count === 0
        ? "Nichts mehr zu senden."
        : `${documents(count)} ${count === 1 ? "wird" : "werden"} gesendet wie vorhanden, wenn sich die Datei nicht vorher ändert.`,
    adopt: (outcome) => choiceReport(outcome, "mit dem Archiv verbunden"),
    sendAsNew: (outcome) => choiceReport(outcome, "wieder eingereiht und als neu gesendet"),
    pause: "Das Senden ist angehalten.",
    resume: "Das Senden geht weiter.",
    rescan: "Die Ordner werden durchsucht.",
  },
  noAnswer: "scanferry antwortet nicht.",
  nothingSent: "scanferry antwortet nicht. Nichts wurde geändert.",
  notKnown:
    "scanferry hat nicht geantwortet. Ob es ausgeführt wurde, zeigt diese Seite, sobald sie wieder live ist.",
  notDone: (message) => `Nicht ausgeführt: ${message}`,

  // Für Administratoren.
  inspectionTitle: "Protokoll und Konfiguration",
  logTitle: "Protokoll",
  levelLabel: "Stufe",
  logAll: "Alle Zeilen zeigen",
  configurationTitle: "Verwendete Konfiguration",
  checkTitle: "Prüfung",
  checkRun: "Prüfung starten",
  checkNote: "Die Prüfung antwortet auf Englisch, wie der Befehl scanferry check.",
  inspection: {
    levels: { debug: "Alle", info: "Hinweise und höher", warn: "Warnungen und Fehler", error: "Fehler" },
    of: (path) => `Zeilen zu ${path}`,
    show: "Protokollzeilen zeigen",
    noLines: "Keine Zeilen.",
    noKeys: "Keine Schlüssel.",
    checking: "Prüfung läuft; das kann eine Minute dauern.",
    passed: "Kein Fehler gefunden.",
    failed: "Fehler gefunden.",
    found: { ok: "in Ordnung", warn: "Warnung", FAIL: "Fehler" },
  },

  // Signing in and out.
  signOut: "Abmelden",
  signIn: {
    title: "Anmelden",
    token: "Token",
    hint: "Wer scanferry verwaltet, kennt es. Dieser Browser bleibt 30 Tage lang angemeldet.",
    enter: "Anmelden",
    wrong: "Dieses Token ist falsch.",
    failed: (status) => `Nicht ausgeführt: HTTP ${status}`,
  },

  // The line to the daemon.
  line: {
    live: "Live",
    polling: "Alle paar Sekunden aktualisiert",
    refused: "Nicht angemeldet",
    lost: "Keine Verbindung",
  },
  lost: (time) =>
    `scanferry antwortet seit ${time} nicht. Diese Seite zeigt den Stand von da. Nichts wurde geändert. Es geht automatisch weiter.`,
  journalProblem: (message) => `Der Daemon kann den Stand nicht nennen: ${message}`,
  version: (version) => `scanferry ${version}`,
};
