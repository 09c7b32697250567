/** The fixed terms in German: states, what to do by code, refusals, and scanferry's own messages. */

export const STATES = {
  settling: "in Prüfung",
  pending: "bereit",
  uploading: "wird gesendet",
  inDoubt: "ungeklärt",
  uploaded: "gesendet",
  converted: "konvertiert",
  held: "zurückgehalten",
  failed: "fehlgeschlagen",
};

/** What they mean to a person. */
export const STATE_HELP = {
  settling: "Gesehen, noch nicht stabil oder vollständig",
  pending: "Bereit, wartet, bis es an der Reihe ist",
  uploading: "Wird gerade gesendet",
  inDoubt: "Gesendet, Antwort verloren: vor erneutem Senden wird das Archiv gefragt",
  uploaded: "Im Archiv, noch nicht konvertiert",
  converted: "Konvertiert und nachweislich im Archiv",
  held: "Wartet auf etwas außerhalb oder auf einen Menschen: der Grund sagt es",
  failed: "Braucht einen Menschen",
};

/** What became of an attempt. */
export const OUTCOMES = {
  accepted: "angenommen",
  deferred: "verschoben",
  refused: "abgelehnt",
  heldBack: "zurückgehalten",
  inDoubt: "Antwort verloren",
  found: "im Archiv gefunden",
  absent: "nicht im Archiv",
};

/** What an event of the history did, where a state does not say it all. */
export const EVENTS = {
  add: "gesehen",
  note: "vermerkt",
  forget: "vergessen: die Datei ist weg",
  follow: "umbenannt oder verschoben",
  polled: "nachgefragt: noch nicht konvertiert",
  looked: "im Archiv gesucht",
  released: "vor dem Senden zurückgegeben",
  goesOn: "geht weiter",
  changed: "die Datei hat sich geändert",
  unfinished: "sieht unfertig aus",
};

const OUR_REQUEST = "Das ist ein Fehler in scanferry oder im Archiv: bitte mit dem Log melden.";
const tooLong = (field, max) =>
  `${field} auf ${max} Zeichen kürzen, dann \`scanferry retry\` ausführen.`;
const SENDS_AGAIN =
  "`scanferry retry` sendet das Dokument erneut, wenn das Archiv es nicht hat.";

const HEADERS =
  "Ein Server vor dem Archiv nimmt Kopfzeilen dieser Größe nicht an (nginx: 8 KB, `large_client_header_buffers`): um eine höhere Grenze bitten, oder `archive.url` kürzen.";
const FORM =
  "Ein Server vor dem Archiv lehnt diese Art von Anfrage ab: dessen Verwalter bitten, `multipart/form-data` und diesen Dateityp zu erlauben.";
const ONE_DOCUMENT =
  "Das Archiv nimmt das Konto an, aber ein Server davor hat dieses Dokument abgelehnt: den Verwalter der Web Application Firewall fragen und ihm die Zeit des Versuchs nennen. scanferry versucht es automatisch erneut.";

/** What to do, by code; `HTTP_4`, `HTTP_` for every HTTP status without a row of its own. */
export const HINTS = {
  QUOTA_LIMIT:
    "Das Seitenkontingent der Firma ist verbraucht: Seiten kaufen, oder den neuen Zeitraum abwarten. Das Senden geht automatisch weiter.",
  FOLDER_NOT_EXISTS:
    "Der Archivordner existiert nicht mehr: wieder anlegen. Das Dokument geht automatisch weiter.",
  INVALID_FOLDER_ID:
    "Das Archiv nimmt die Ordner-ID nicht an: `target` oder `targetId` des Mirrors korrigieren, dann `scanferry retry` ausführen.",
  INVALID_FOLDER_PATH:
    "Das Archiv nimmt den Ordnerpfad nicht an: `target` des Mirrors korrigieren, dann `scanferry retry` ausführen.",
  INVALID_BATCH: OUR_REQUEST,
  INVALID_METADATA_TITLE: tooLong("Den Titel", 150),
  INVALID_METADATA_KEYWORD: tooLong("Die Stichwörter", 255),
  INVALID_METADATA_PRODUCER: tooLong("Den Hersteller", 255),
  INVALID_METADATA_SUBJECT: tooLong("Den Betreff", 150),
  INVALID_METADATA_AUTHOR: tooLong("Den Autor", 150),
  INVALID_METADATA_DESCRIPTION: tooLong("Die Beschreibung", 250),
  INVALID_EXPIRE_DATE:
    "Die Regel prüfen, die das Ablaufdatum setzt, dann `scanferry retry` ausführen.",
  PLUGIN_REMINDER_NOT_INSTALLED:
    "Das Plugin für Ablauferinnerungen für das Konto installieren, oder keine Ablaufdaten setzen.",
  INVALID_FILENAME: "Die Datei umbenennen, dann `scanferry retry` ausführen.",
  NO_FILE_DATA: "Das Archiv fand keinen Inhalt in der Datei: erneut scannen.",
  FILE_SIZE_TOO_BIG:
    "Das Dokument teilen, oder mit geringerer Auflösung scannen: das Archiv nimmt Dateien dieser Art und Größe nicht an.",
  DOC_NOT_EXIST:
    "Das Dokument ist nicht mehr im Archiv: herausfinden, wer es entfernt hat. `scanferry retry` sendet es erneut.",
  ...Object.fromEntries(
    [
      "DOC_ID",
      "DIGIDOC_ID",
      "SORT_BY",
      "SORT_DESC",
      "PAGINATION_INDEX",
      "PAGINATION_SIZE",
      "QUERY_CONTENT",
      "DOC_HAS_EXPIRE_DATE",
      "FOLDER_HAS_EXPIRE_DATE",
      ...["CREATED_DATE", "MODIFIED_DATE", "FILESIZE", "PAGES"].flatMap((one) => [
        `${one}_START`,
        `${one}_END`,
      ]),
    ].map((name) => [`INVALID_${name}`, OUR_REQUEST]),
  ),
  CREDENTIALS_REFUSED:
    "Das Archiv hat den Kontoschlüssel oder die Signatur abgelehnt: `archive.accountKey` und `archive.signing` prüfen.",
  ARCHIVE_CHANGED:
    "Nichts wird gesendet, verschoben oder gelöscht, bis entschieden ist, welches Archiv dies ist. `scanferry archive moved` ausführen, wenn es dasselbe Archiv ist (andere Adresse, anderer Schlüssel, oder aus einer Sicherung wiederhergestellt), oder `scanferry archive replaced`, wenn es ein anderes ist: dann wird alles dorthin gesendet.",
  ARCHIVE_UNREACHABLE:
    "`archive.url`, das Netz und DNS prüfen, und ob ein Proxy nötig ist (`archive.proxy`).",
  ARCHIVE_BUSY:
    "Das Archiv bat scanferry, langsamer zu senden. Das Senden geht automatisch weiter.",
  TLS_REFUSED:
    "`archive.url` und die Uhr dieses Rechners prüfen. `archive.ca` für eine private Zertifizierungsstelle setzen, `archive.clientCert` und `archive.clientKey`, wenn das Archiv ein Client-Zertifikat verlangt.",
  PROXY_REFUSED:
    "`archive.proxy` (oder HTTPS_PROXY), Benutzer und Passwort prüfen, und welche Adressen der Proxy erlaubt.",
  REPLY_LOST:
    "Nichts zu tun: scanferry fragt das Archiv, ob es das Dokument hat, bevor etwas erneut gesendet wird.",
  ALLOWANCE_LOW:
    "80 % von `quota.monthlyPages` sind verbraucht. Seiten kaufen, oder Dokumente auf den nächsten Zeitraum verschieben.",
  ALLOWANCE_USED:
    "Seiten kaufen und `quota.monthlyPages` erhöhen, oder den nächsten Zeitraum abwarten. Das Senden geht automatisch weiter.",
  FOLDER_MISSING:
    "Den Ordner im Archiv anlegen; das Dokument geht automatisch weiter. Wenn `target` oder `targetId` falsch ist: korrigieren, dann `scanferry retry` ausführen.",
  FOLDER_TWINS:
    "Das Archiv hat mehrere Ordner mit diesem Namen: alle bis auf einen umbenennen.",
  FOLDER_CASE:
    "Der Name des Archivordners unterscheidet sich nur in Groß- und Kleinschreibung: einen der beiden Ordner umbenennen.",
  FIRST_RUN:
    "Das Archiv hat ein Dokument mit diesem Namen im selben Ordner, oder mit diesem Namen und dieser Größe in einem anderen, und das Journal kennt es nicht (erster Lauf, oder wiederhergestelltes Journal). `scanferry adopt` ausführen, um die Datei mit dem vorhandenen Dokument zu verbinden, oder `firstRun: upload` für den Mirror setzen, um sie trotzdem zu senden.",
  CHANGED_TOO_OFTEN:
    "Ein Programm ändert diese Datei zu oft: die Datei mit `exclude` ausnehmen, oder `changesPerHour` für den Mirror erhöhen. Der neueste Inhalt wird eine Stunde später automatisch gesendet; `scanferry retry` sendet ihn sofort.",
  DOUBT_AMBIGUOUS:
    "Die Kandidaten im Archiv vergleichen. scanferry prüft automatisch erneut, bis einer sicher ist.",
  DOUBT_FOLDER_GONE:
    "Die Antwort auf das Senden ging verloren, und der Archivordner wurde seitdem entfernt. Prüfen, ob der Ordner im Archiv verschoben wurde. `scanferry retry` sendet das Dokument erneut.",
  DOUBT_ELSEWHERE:
    "Die Antwort auf das Senden ging verloren, und ein anderer Archivordner hat ein Dokument mit demselben Namen und Datum. Prüfen, ob es jemand dorthin verschoben hat. `scanferry retry` sendet das Dokument erneut.",
  REPLIES_LOST: `Das Dokument wurde mehrmals ohne Antwort gesendet, und das Archiv führt es nicht auf. Grenzen und Wartezeiten von Proxys und Firewalls vor dem Archiv prüfen. ${SENDS_AGAIN}`,
  REPLY_MISMATCHED: `Die Antwort des Archivs nannte ein anderes Dokument. Es im Archiv suchen, und prüfen, ob \`archive.url\` das Archiv selbst ist. ${SENDS_AGAIN}`,
  DOCUMENT_ID_TAKEN: `Das Archiv gab eine ID für zwei Dokumente, oder hat nur eines davon. Die beiden im Archiv vergleichen, und \`scanferry check\` ausführen. ${SENDS_AGAIN}`,
  ANOTHER_DOCUMENT:
    "Das Archiv hat ein anderes Dokument unter dieser ID (zum Beispiel nach einer Wiederherstellung): `scanferry check` ausführen. scanferry sucht das Dokument, und sendet es erneut, wenn das Archiv es nicht hat.",
  CONVERSION_STUCK:
    "Das Archiv hat das Dokument nicht konvertiert: dessen Support die Dokument-ID nennen.",
  FILE_EMPTY: "Das Dokument erneut scannen, oder die Datei entfernen.",
  FILE_UNREADABLE:
    "Dem Benutzer des Daemons das Leserecht für die Datei geben, oder eine beschädigte Datei ersetzen. scanferry versucht es automatisch erneut.",
  FILE_UNFINISHED:
    "Die Datei sieht unfertig aus. Sie wird gesendet, sobald sie vollständig ist. Eine Datei, deren Format zeigt, dass sie unfertig ist, wird zurückgehalten, wenn sie sich `incomplete` lang nicht ändert.",
  FILE_INCOMPLETE:
    "Die Datei erneut scannen oder kopieren. Um sie zu senden, wie sie ist: `scanferry retry --anyway PATH` ausführen, oder auf dieser Seite „Trotzdem senden“ wählen.",
  FILE_CHANGED:
    "Die Datei änderte sich während des Sendens. Sie wird erneut gesendet, sobald sie sich nicht mehr ändert.",
  TARGET_UNKNOWN:
    "Die Vorlage von `target` korrigieren, oder den Pfad der Datei. `scanferry rules test` zeigt das Ergebnis.",
  METADATA_TOO_LONG: "Den Wert an seiner Quelle kürzen, oder `limits: truncate` setzen.",
  EXPIRY_UNKNOWN:
    "Das Datum ergänzen, wo `expire.from` es sucht, oder `expire.unknown: upload-without` setzen.",
  EXPIRY_TOO_SOON:
    "Das Datum prüfen, von dem an das Ablaufdatum gezählt wird: ein Ablaufdatum lässt sich später nicht ändern. `expire.minimum` setzt das früheste Datum, das gesendet wird.",
  CLOCKS_DIFFER:
    "Die Uhr dieses Rechners stellen (NTP), oder den Betreiber des Archivs bitten, seine zu stellen: ein Ablaufdatum lässt sich später nicht ändern. Das Dokument geht automatisch weiter.",
  PATTERN_SLOW:
    "Das Muster korrigieren: eine Wiederholung in einer Wiederholung, etwa (a+)+, endet womöglich nie.",
  NOTES_BROKEN:
    "Die Datei an der Zeile und Spalte korrigieren, die die Meldung nennt. Das Dokument geht automatisch weiter.",
  MARKER_MISSING:
    "Die Markierung (Dateiname und .done) neben der Datei anlegen, wenn die Datei fertig ist, und sie bei jedem neuen Schreiben berühren.",
  NOT_RENAMED:
    "Die Datei unter einem anderen Namen schreiben und umbenennen, wenn sie fertig ist, oder `ready: quiet` setzen.",
  FILE_YOUNG: "Die Datei wird automatisch gesendet, sobald sie so alt ist wie `minAge`.",
  FILE_TOO_SMALL: "Das Dokument erneut scannen, die Datei entfernen, oder `minSize` ändern.",
  FILE_TOO_LARGE: "Das Dokument teilen, oder `maxSize` ändern.",
  SIDECAR_MISSING: "Die Begleitdatei neben die Datei legen. Das Dokument geht automatisch weiter.",
  HOOK_FAILED:
    "Den `before`-Hook korrigieren. scanferry führt ihn automatisch erneut aus, oder sofort mit `scanferry retry`. `onFailure: send` sendet Dokumente ohne ihn.",
  VETOED: "Der `before`-Hook hat das Dokument abgelehnt. `scanferry retry` führt den Hook erneut aus.",
  SOURCE_OFFLINE:
    "Die Quelle wieder einhängen, oder `source` in der Konfiguration korrigieren. scanferry macht automatisch weiter.",
  AFTER_REFUSED:
    "Die lokale Datei ist noch in der Quelle. Rechte, freien Platz und Einhängepunkte für `after` oder `afterVeto` prüfen.",
  SAME_CODE_REPEATS:
    "Das Archiv beantwortete mehrere Dokumente nacheinander mit einem Code, den die Schnittstelle nicht kennt: dessen Support fragen.",
  ARCHIVE_CLOSED: "Nichts zu tun: scanferry wird beendet.",
  ARCHIVE_TIMEOUT: "Das Netz prüfen, oder `archive.timeout` erhöhen.",
  CONNECTION_LOST: "Das Netz prüfen, und die Größen- und Zeitgrenzen des Archivs oder eines Proxys.",
  FILE_STALLED: "Den Datenträger oder die Freigabe prüfen, auf der die Datei liegt.",
  INVALID_PARAMETER: "Den Parameter korrigieren, den die Meldung nennt.",
  REPLY_EARLY: "Prüfen, ob ein Proxy statt des Archivs antwortet.",
  REPLY_TOO_BIG: "Prüfen, ob `archive.url` das Archiv ist, oder kleinere Seiten anfordern.",
  REPLY_UNREADABLE:
    "Prüfen, ob `archive.url` das Archiv ist, und dass kein Proxy Antworten verändert.",
  LEASE_OVER:
    "Nichts zu tun: dieser Daemon oder ein anderer sendet es erneut. Bei häufigem Auftreten die Verbindung zur Datenbank des Journals prüfen.",
  SEND_ABORTED: "Nichts zu tun: scanferry sollte anhalten.",
  SIGNING_FAILED: "Das Modul prüfen, das `archive.signing.module` nennt.",
  TOO_MANY_PAGES: "Die Abfrage eingrenzen, oder größere Seiten anfordern.",
  HTTP_401: ONE_DOCUMENT,
  HTTP_403: ONE_DOCUMENT,
  HTTP_413:
    "Ein Server vor dem Archiv nimmt Anfragen dieser Größe nicht an. Übliche Grenzen sind 1 MB (nginx, `client_max_body_size`), 30 MB (IIS, `maxAllowedContentLength`) und 100 MB (Cloudflare): um eine höhere Grenze bitten, oder das Dokument teilen.",
  HTTP_414: HEADERS,
  HTTP_415: FORM,
  HTTP_422: FORM,
  HTTP_431: HEADERS,
  HTTP_3: "`archive.url` auf die Adresse setzen, die nicht weiterleitet.",
  HTTP_4: "`archive.url` prüfen, und die Grenzen jedes Proxys davor.",
  HTTP_: "Warten, bis das Archiv, oder der Proxy davor, wieder arbeitet.",
};

/** What the daemon refuses, by code. */
export const REFUSALS = {
  TOO_MANY_PAGES:
    "So viele Seiten werden schon laufend aktualisiert. Einige davon schließen; diese fragt inzwischen selbst nach.",
  JOURNAL_UNREACHABLE:
    "Das Journal ist nicht erreichbar. Die Datenbank starten, oder den Weg dorthin reparieren; alles geht automatisch weiter.",
  NO_DOCUMENT: "Dieses Dokument ist nicht im Journal. Bitte erneut suchen.",
  NO_BATCH: "In diesem Stapel ist kein Dokument.",
  BUSY: "Zu viele Anfragen auf einmal. Bitte gleich noch einmal versuchen.",
  BAD_QUERY: "Damit lässt sich nicht suchen.",
  TOKEN_NEEDED: "Das Token fehlt oder ist falsch.",
  TOO_MANY_WAIT: "Zu viele Dateien warten. scanferry anhalten, `scanferry adopt` ausführen, und wieder starten.",
  INTERNAL: "Die Antwort konnte nicht erstellt werden. Das Log des Daemons sagt mehr.",
};

/** scanferry's own messages, and hints without a code: `{}` stands for a value, in the same order. */
export const MESSAGES = Object.entries({
  "nothing has moved for {} minutes, and documents are ready":
    "seit {} Minuten bewegt sich nichts, obwohl Dokumente bereit sind",
  "{} is not a directory": "{} ist kein Ordner",
  "nothing is mounted at {}, where /etc/fstab has a file system":
    "an {} ist nichts eingehängt, obwohl /etc/fstab dort ein Dateisystem hat",
  "{} is empty and not the directory that had files in it: its file system is not mounted":
    "{} ist leer und nicht der Ordner, der Dateien enthielt: sein Dateisystem ist nicht eingehängt",
  "archive folder {}: {} does not exist": "Archivordner {}: {} existiert nicht",
  "{} does not exist": "{} existiert nicht",
  "the archive holds {} in that folder already (document {})":
    "das Archiv hat {} schon in diesem Ordner (Dokument {})",
  "the archive holds {} of its size in another folder ({})":
    "das Archiv hat {} in derselben Größe in einem anderen Ordner ({})",
  "document {} in folder {}": "Dokument {} in Ordner {}",
  "{}, {} are allowed": "{}, erlaubt sind {}",
  "the file has {} bytes": "die Datei hat {} Bytes",
  "the file has no content": "die Datei hat keinen Inhalt",
  "is not as old as `minAge` asks": "ist nicht so alt, wie `minAge` verlangt",
  "look unfinished": "sehen unfertig aus",
  "looks unfinished by its format": "sieht nach ihrem Format unfertig aus",
  "looks unfinished by its time, which copy programs leave behind":
    "sieht nach ihrer Zeit unfertig aus, wie Kopierprogramme sie hinterlassen",
  "as {} for {}": "als {} nach {}",
  "folder {}, batch {}": "Ordner {}, Stapel {}",
  "{} bytes": "{} Bytes",
  "no reason is journaled": "kein Grund ist verzeichnet",
  "there is no {}.yaml or .json yet": "{}.yaml oder .json gibt es noch nicht",
  "there is no {} yet": "{} gibt es noch nicht",
  "{} is older than the document": "{} ist älter als das Dokument",
  "{} was written just now; it is read once it is quiet":
    "{} wurde gerade geschrieben und wird gelesen, sobald die Datei ruht",
  "unknown key; known: {}": "unbekannter Schlüssel; bekannt: {}",
  "is no date such as 2026-11-20": "ist kein Datum wie 2026-11-20",
  "XMP is not read: write what it says into a sidecar .yaml or .json":
    "XMP wird nicht gelesen: den Inhalt in eine Begleitdatei .yaml oder .json schreiben",
  "seen before the daemon was started: it has to be quiet once more":
    "gesehen, bevor der Daemon startete: die Datei muss noch einmal ruhen",
  "the before hook failed: {}": "der before-Hook ist gescheitert: {}",
  "did not end within {} ms": "endete nicht innerhalb von {} ms",
  "ended with exit code {}": "endete mit Exit-Code {}",
  "the archive gets a legal name; here it is {}": "das Archiv bekommt einen zulässigen Namen; hier heißt die Datei {}",
  "named by the before hook; here it is {}": "vom before-Hook benannt; hier heißt die Datei {}",
  "sent although it is unfinished by its format, as was asked for":
    "wie verlangt gesendet, obwohl die Datei nach ihrem Format unfertig ist",
  "was in the archive already": "war schon im Archiv",
  "the same content as {}, archived as document {}; not sent":
    "derselbe Inhalt wie {}, archiviert als Dokument {}; nicht gesendet",
  "{} MB are free for {}. When it is full, nothing is sent.":
    "{} MB sind frei für {}. Wenn er voll ist, wird nichts gesendet.",
  "Give the daemon's user read permission, or fix the disk. scanferry tries again automatically.":
    "Dem Benutzer des Daemons das Leserecht geben, oder den Datenträger reparieren. scanferry versucht es automatisch erneut.",
  "the limit of watched directories is reached (fs.inotify.max_user_watches)":
    "die Grenze überwachter Ordner ist erreicht (fs.inotify.max_user_watches)",
  "Raise fs.inotify.max_user_watches and max_user_instances, or fix what the message names. scanferry tries again automatically.":
    "fs.inotify.max_user_watches und max_user_instances erhöhen, oder beheben, was die Meldung nennt. scanferry versucht es automatisch erneut.",
  "Check the journal's disk or database, and the log. If this lasts, restart the daemon: nothing is lost, and nothing is sent twice.":
    "Datenträger oder Datenbank des Journals und das Log prüfen. Wenn es andauert, den Daemon neu starten: nichts geht verloren, und nichts wird doppelt gesendet.",
  "The archive answered with a code that the interface does not define: contact its support. scanferry tries again automatically.":
    "Das Archiv antwortete mit einem Code, den die Schnittstelle nicht kennt: dessen Support fragen. scanferry versucht es automatisch erneut.",
});
