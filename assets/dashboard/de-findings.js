/** What is wrong, in German: findings by their kind, from the values that the daemon gives. */
import { HINTS, MESSAGES, STATES } from "./de-terms.js";
import { count, many } from "./format.js";

const documents = (number) => many(number, "Dokument", "Dokumente");
const files = (number) => many(number, "Datei", "Dateien");
const waiting = (number) =>
  number === 0 ? "Kein Dokument wartet." : `${documents(number)} ${number === 1 ? "wartet" : "warten"}.`;
const sentence = (text) => (/[.!?]$/u.test(text) ? text : `${text}.`);

/** What steers a terminal or turns the reading direction, in texts that are made of names. */
const STEERING = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;
const plain = (text) =>
  text.replace(STEERING, (c) => `\\u${c.codePointAt(0).toString(16).padStart(4, "0")}`);

/** What stands before a message: its code, or file, line and column. */
const PREFIX = /^([A-Z][A-Z_0-9]+: |.+?:\d+:\d+: )(.+)$/s;

/** A message in German where it is one of scanferry's own; what an archive said stays as it is. */
export function messageOf(text) {
  const [, prefix, rest] = PREFIX.exec(text) ?? [];
  if (prefix !== undefined) return prefix + messageOf(rest);
  for (const [english, german] of MESSAGES) {
    const pattern = english.replaceAll(/[.*+?^$()|[\]\\]/g, String.raw`\$&`).replaceAll("{}", "(.+)");
    const values = new RegExp(`^${pattern}$`, "s").exec(text)?.slice(1);
    if (values) return german.replaceAll("{}", () => messageOf(values.shift()));
  }
  return text;
}

/** What to do about a code; `hint`: the same in English. A hint for a document may be a part of the code's. */
export function hintOf(code, hint) {
  if (hint === "") return "";
  const known = HINTS[code] ?? (code.startsWith("HTTP_") ? (HINTS[code.slice(0, 6)] ?? HINTS.HTTP_) : undefined);
  if (known === undefined) return messageOf(hint);
  if (hint.includes("scanferry retry")) return known;
  return known.split(/(?<=[.;]) /u).filter((part) => !part.includes("scanferry retry")).join(" ");
}

/** The same finding, in German; `snapshot` is what the daemon told with it. */
export function findingOf(finding, snapshot) {
  const texts = KINDS[finding.kind]?.(finding, snapshot) ?? {};
  const { title, detail, fix } = { ...finding, ...texts };
  return { ...finding, title: plain(title), detail: plain(detail), fix: plain(fix) };
}

const GATES = {
  QUOTA_LIMIT: "das Seitenkontingent ist verbraucht",
  CREDENTIALS_REFUSED: "das Archiv lehnt die Zugangsdaten ab",
  ARCHIVE_CHANGED: "dies ist nicht das Archiv, an das bisher gesendet wurde",
  SAME_CODE_REPEATS: "das Archiv lehnt jedes Dokument ab",
};

const WAITS = {
  hours: "außerhalb der Sendezeiten (`upload.hours`)",
  asked: "das Archiv hat um eine Pause gebeten",
  conversion: "zu viele Dokumente sind noch nicht konvertiert (`conversion.maxOutstanding`)",
  allowance: "was bereit ist, braucht mehr Seiten, als übrig sind",
};

const isOneOfMany = ({ archives }) => archives.length > 1;
const archiveOf = ({ archive }, { archives }) => archives.find(({ name }) => name === archive);
const mirrorOf = ({ mirror }, { mirrors }) => mirrors.find(({ name }) => name === mirror);
const withCode = (message, code) => (message.includes(code) ? message : `${message} (${code})`);

/** Of each kind: `title`, `detail` and `fix`; what is left out stays as the daemon says it. */
const KINDS = {
  stalled: ({ detail, fix }) => ({
    title: "Es wird nichts gesendet",
    detail: sentence(messageOf(detail.replace(/\.$/, ""))),
    fix: messageOf(fix),
  }),
  gate(finding, snapshot) {
    const { code, message, hint } = archiveOf(finding, snapshot).gate;
    const to = isOneOfMany(snapshot) ? ` an ${finding.archive}` : "";
    return {
      title: `Das Senden${to} ist gestoppt: ${GATES[code] ?? `das Archiv antwortet ${code}`}`,
      detail: `${sentence(withCode(messageOf(message), code))} ${waiting(finding.count)}`,
      fix: hintOf(code, hint),
    };
  },
  paused: ({ count: number }) => ({
    title: "Das Senden ist angehalten",
    detail: `${waiting(number)} Neue Dateien werden gefunden und warten, bis das Senden fortgesetzt wird.`,
    fix: "`scanferry resume` ausführen, oder auf dieser Seite „Senden fortsetzen“ wählen.",
  }),
  notRunning: ({ count: number }, { afterPending }) => ({
    title: "scanferry läuft nicht",
    detail:
      number > 0
        ? waiting(number)
        : `${many(afterPending.length, "Datei ist", "Dateien sind")} noch zu verschieben oder zu löschen.`,
    fix: "Mit `scanferry run` starten, oder einmal `scanferry sync` ausführen.",
  }),
  outage(finding, snapshot) {
    const { code, message, hint } = archiveOf(finding, snapshot).outage;
    return {
      title: `Das Archiv${isOneOfMany(snapshot) ? ` ${finding.archive}` : ""} ist nicht erreichbar`,
      detail: `${sentence(withCode(messageOf(message), code))} ${waiting(finding.count)}`,
      fix: hintOf(code, hint),
    };
  },
  failed: (finding, snapshot) => ({
    title: `${documents(finding.count)} fehlgeschlagen: ${failedBecause(finding)} (${finding.documents.code})`,
    detail: ofDocuments(finding, snapshot),
    fix: `${hintOf(finding.documents.code, finding.fix)} Liste: \`scanferry list --state failed\`.`,
  }),
  source(finding, snapshot) {
    const { source, offline } = mirrorOf(finding, snapshot);
    return {
      title: `Die Quelle von ${finding.mirror} ist nicht erreichbar`,
      detail: `${sentence(`${source}: ${messageOf(offline.why)}`)} Keine Datei gilt als gelöscht; andere Quellen laufen weiter.`,
      fix: hintOf("SOURCE_OFFLINE", finding.fix),
    };
  },
  unread(finding, snapshot) {
    const { source, unread } = mirrorOf(finding, snapshot);
    const { directories, path, why } = unread;
    const others =
      directories === 1 ? "" : ` (und ${many(directories - 1, "weiterer Ordner", "weitere Ordner")})`;
    return {
      title: `${many(directories, "Ordner", "Ordner")} von ${finding.mirror} nicht lesbar`,
      detail: `${sentence(`${source}/${path}${others}: ${why}`)} Dateien darin werden nicht gesendet; alles andere läuft weiter.`,
      fix: messageOf(finding.fix),
    };
  },
  unwatched(finding, snapshot) {
    const { unwatched } = mirrorOf(finding, snapshot);
    return {
      title: `Manche Ordner von ${finding.mirror} werden nicht überwacht`,
      detail: `${sentence(messageOf(unwatched))} Änderungen darin findet erst ein Suchlauf.`,
      fix: messageOf(finding.fix),
    };
  },
  held: (finding, snapshot) => ({
    title: `${documents(finding.count)} zurückgehalten: ${finding.documents.code}`,
    detail: ofDocuments(finding, snapshot),
    fix: hintOf(finding.documents.code, finding.fix),
  }),
  stuck: (finding, snapshot) => ({
    title: `Das Archiv hat ${documents(finding.count)} noch nicht konvertiert`,
    detail: ofDocuments(finding, snapshot),
    fix: hintOf(finding.documents.code, finding.fix),
  }),
  after: (finding, { afterPending }) => {
    const own = afterPending.filter(({ mirror }) => mirror === finding.mirror);
    const causes = Map.groupBy(own, ({ why }) => why);
    return {
      title: `${many(finding.count, "Datei", "Dateien")} von ${finding.mirror} noch nicht verschoben oder gelöscht`,
      detail: [...causes].slice(0, 3).map(([why, of]) => oneOf(of.length, of[0].path, why)).join(" "),
      fix: hintOf("AFTER_REFUSED", finding.fix),
    };
  },
  waits(finding, snapshot) {
    const { why } = archiveOf(finding, snapshot).sending.waits;
    return {
      title: `Das Senden${isOneOfMany(snapshot) ? ` an ${finding.archive}` : ""} wartet`,
      detail: `${sentence(WAITS[why])} ${waiting(finding.count)}`,
    };
  },
  allowance(finding, snapshot) {
    const { pages, used, keeps, problem } = archiveOf(finding, snapshot).allowance;
    const percent = count(Math.floor((100 * used) / Math.max(pages, 1)));
    const of = isOneOfMany(snapshot) ? ` von ${finding.archive}` : "";
    return {
      title: `${percent} % des Seitenkontingents dieses Monats${of} sind verbraucht`,
      detail: `${count(used)} von ${count(pages)} Seiten dieses Monats sind verbraucht.${keeps.documents === 0 ? "" : ` ${waiting(keeps.documents)}`}`,
      fix: hintOf(problem.code, finding.fix),
    };
  },
  disk: ({ detail }) => ({
    title: "Der Datenträger des Journals ist fast voll",
    detail: messageOf(detail),
    fix: "Platz schaffen, oder das Journal verschieben.",
  }),
  config: ({ detail }) => ({
    title: "Die neue Konfiguration hat Fehler",
    detail: `${detail.replace(" The old configuration stays in use.", "")} Die alte Konfiguration bleibt in Kraft.`,
    fix: "`scanferry check` ausführen, die Konfiguration korrigieren und neu laden.",
  }),
  formerMirror(finding, { formerMirrors }) {
    const counts = formerMirrors.find(({ name }) => name === finding.mirror).documents;
    const left = Object.entries(counts).filter(([state, number]) => state !== "converted" && number > 0);
    return {
      title: `Der Mirror ${finding.mirror} ist nicht mehr konfiguriert`,
      detail: `Seine Dokumente warten: ${left.map(([state, number]) => `${count(number)} ${STATES[state]}`).join(", ")}.`,
      fix: finding.fix
        .replace(/^See /, "Liste: ")
        .replace("Configure the mirror again to send them.", "Den Mirror wieder konfigurieren, um sie zu senden."),
    };
  },
  unfinished: (finding, snapshot) => ({
    title: `${files(finding.count)} noch nicht fertig`,
    detail: ofDocuments(finding, snapshot),
    fix: hintOf(finding.documents.code, finding.fix),
  }),
  sentEarly(finding, snapshot) {
    const { learnedSettle } = mirrorOf(finding, snapshot);
    const settle = `${count(learnedSettle.settleMs / 1_000)} s`;
    return {
      title: `Dateien von ${finding.mirror} warten länger: eine wurde gesendet, bevor sie fertig war`,
      detail: `Alle Dateien von ${finding.mirror} warten jetzt ${settle}.`,
      fix: finding.fix.replace(/^Set (`.*`) for the mirror\.$/, "$1 für den Mirror setzen."),
    };
  },
  kept(finding, { afterFailed }) {
    const { files: number, path, why } = afterFailed.find(({ mirror }) => mirror === finding.mirror);
    return {
      title: `${many(number, "Datei", "Dateien")} von ${finding.mirror} werden nicht verschoben oder gelöscht`,
      detail: oneOf(number, path, why),
      fix: "Liste: `scanferry list --after-pending`.",
    };
  },
};

function failedBecause({ documents: { code } }) {
  if (code === "DOC_NOT_EXIST") return "nicht mehr im Archiv";
  return "vom Archiv abgelehnt";
}

/** The folders to create, or the first of the documents with what it met. */
function ofDocuments({ count: number, documents: { code, paths, message } }, { foldersToCreate }) {
  const folders = foldersToCreate.filter((folder) => folder.code === code);
  if (folders.length > 0) {
    const named = folders.slice(0, 10).map(({ path, documents: some }) => `${path} (${documents(some)})`);
    const more = folders.length - named.length;
    return sentence(`${named.join(", ")}${more > 0 ? ` und ${many(more, "weiterer Ordner", "weitere Ordner")}` : ""}`);
  }
  const more = number - paths.length;
  return sentence(`${paths.join(", ")}${more > 0 ? ` und ${count(more)} weitere` : ""}: ${messageOf(message)}`);
}

function oneOf(number, path, why) {
  return sentence(`${number === 1 ? "" : `Eine von ${count(number)}: `}${path}: ${messageOf(why)}`);
}
