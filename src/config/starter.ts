import { hash } from "node:crypto";
import type { SecretScheme } from "../domain/signing.ts";

/** What the starter is about; what is left out is filled with a plain example. */
export type StarterOptions = {
  readonly source?: string;
  readonly target?: string;
  readonly url?: string;
  readonly journal?: string;
  readonly receipts?: string;
  readonly signing?: {
    readonly scheme: SecretScheme | "none";
    readonly algorithm?: string;
    readonly encoding?: string;
  };
  /** Names of files that hold the secrets; undefined: anyone who reads it has to fill them in. */
  readonly accountKeyFile?: string;
  readonly secretFile?: string;
};

/**
 * The text of a commented starter configuration: what must be set is set, every other key is shown
 * with its default, switched off by a `#` directly before it. It holds no secret, so it may have
 * any mode until one is written into it.
 */
export function starterConfig(options: StarterOptions = {}): string {
  const {
    source = "/srv/scans",
    target = "/Scans",
    url = "https://archive.example.com",
    journal = "/var/lib/scanferry/journal.db",
    receipts,
  } = options;
  return [
    HEADER,
    archivePart(url, options),
    mirrorsPart(source, target),
    `# Where the journal lives: on a local disk, outside of every source.
# To keep details for a time only: { path: …, retain: 3y, remember: 30y }.
# In PostgreSQL, for several daemons: { url: "postgres://scanferry@db.example.com:5432/scans",
# passwordFile: journal.password, lease: 15s, instance: office-2 }.
journal: ${scalar(journal)}
`,
    REST,
    receiptsPart(receipts),
    LAST,
  ].join("\n");
}

const SEAL = "# While nothing here is changed, `scanferry init` replaces this file: ";

/** With a last line by which `init` sees, of whatever version the text is, that the user has not changed it. */
export function sealed(text: string): string {
  return `${text}\n${SEAL}${hash("sha256", text).slice(0, 16)}\n`;
}

/** Whether it is a starter that the user has not changed. */
export function isUnchangedStarter(text: string): boolean {
  const at = text.lastIndexOf(`\n${SEAL}`);
  return at >= 0 && text === sealed(text.slice(0, at));
}

/** A YAML scalar: as it is where that is plain text for certain, else in quotes. */
function scalar(text: string): string {
  return /^(\/|https?:\/\/|[A-Za-z])[\w./-]*(:\d+)?[\w./-]*$/.test(text)
    ? text
    : JSON.stringify(text);
}

const HEADER = `# Configuration of scanferry. What is set here must be set; a line that starts with a # and no
# blank shows a key with its default. docs/config.md explains every key.
#
# Durations: 200ms, 3s, 5m, 6h, 7d, 3y. Relative paths are relative to this file. After a change:
# "scanferry check" tells everything that is wrong with it; SIGHUP makes a running daemon reload it.
`;

function archivePart(url: string, options: StarterOptions): string {
  const { accountKeyFile, secretFile, signing = { scheme: "hmac" } } = options;
  const set = (key: string, value: string | undefined, otherwise: string, note: string) => {
    const line = value === undefined ? `    #${key}: ${otherwise}` : `    ${key}: ${scalar(value)}`;
    return `${line.padEnd(38)}# ${note}`;
  };
  return `archive:
  url: ${scalar(url)}

  # The account key. Without either line it is taken from $SCANFERRY_ACCOUNT_KEY. Once a secret is
  # written into this file itself: chmod 600.
  # accountKey: "..."
  ${accountKeyFile === undefined ? "# accountKeyFile: /etc/scanferry/account.key" : `accountKeyFile: ${scalar(accountKeyFile)}`}

  # How requests are signed: the archive's operator says which way is right. The secret without
  # either line is taken from $SCANFERRY_SIGNING_SECRET.
  signing:
    ${`scheme: ${signing.scheme}`.padEnd(34)}# hmac | hmac2 | none | module
${set("algorithm", signing.algorithm, "sha256", "any digest that Node knows")}
${set("encoding", signing.encoding, "base64", "base64 | hex")}
    # secret: "..."
    ${secretFile === undefined ? "# secretFile: /etc/scanferry/signing.secret" : `secretFile: ${scalar(secretFile)}`}
    # module: ./sign.mjs              # scheme module: its default export makes the signature

  # The way there: a proxy (HTTPS_PROXY and NO_PROXY are heeded, too), a private authority, and the
  # certificate that an archive may ask for.
  # proxy: http://proxy.example.com:3128 # or off; with user and password: proxyFile
  # proxyFile: /etc/scanferry/proxy.url
  # ca: /etc/scanferry/office-ca.crt
  # clientCert: /etc/scanferry/client.crt
  # clientKey: /etc/scanferry/client.key

  # How long a request waits for the archive.
  #timeout: 60s

  # What size it reports of a document: the same as was sent, or any, as it changes them on purpose.
  #storedSize: same                   # same | any

# Several archives, or accounts of one, are written in its place; a mirror names its own by "archive":
# archives: { main: { url: ..., accountKeyFile: ... }, legal: { url: ..., accountKeyFile: ... } }
`;
}

function mirrorsPart(source: string, target: string): string {
  return `# Folders to carry into the archive: one entry each.
mirrors:
  - source: ${scalar(source)}
    target: ${scalar(target)}
    # targetId: 17                    # instead of target: the folder by its id

    # Which of several archives; without it, the one called "main".
    # archive: legal

    # What it is called in commands and logs; without it, the source's last folder.
    # name: scans

    # Which files, by patterns relative to the source; temporary and system files never. These are types of
    # documents. To send everything, write: include: ["**/*"]
    include:
      - "**/*.{pdf,tif,tiff,jpg,jpeg,png,gif,bmp,heic}"
      - "**/*.{doc,docx,xls,xlsx,ppt,pptx,odt,ods,odp,rtf,txt,csv,xml,htm,html}"
      - "**/*.{asice,asics,bdoc,adoc,edoc,ddoc,eml,msg,zip}"
    #exclude: []

    # How changes are noticed early; "auto" rescans where a network share gives no events.
    #watch: auto                      # auto | native | polling | off

    # A file is sent when it has not changed for "settle". One that is unfinished by its format has
    # "incomplete" to become whole; then it waits for a person, or is sent as it is.
    #settle: 10s
    #incomplete: 10m
    #stillIncomplete: hold            # hold | upload

    # While the archive folder of a document does not exist.
    #missingFolder: hold              # hold | nearest | fallback:/Path

    # On the first run: files whose names the archive folder holds already.
    #firstRun: hold                   # hold | upload

    # What an edit of an archived file does.
    #changed: upload                  # upload | ignore
    # Contents of one path that are sent within an hour; more are held.
    #changesPerHour: 5

    # What happens to the local file once it is CONVERTED and proven.
    #after: keep                      # keep | delete | move:/srv/done

    # Of several mirrors with something to send, the one with the highest goes first.
    #priority: 0
    # Of its own documents, which goes first.
    #order: oldest                    # oldest | newest

    # What else makes a file ready, and which are not sent.
    #ready: quiet                     # quiet | marker (x.pdf.done) | rename
    #minAge: 0
    #duplicates: upload               # upload | skip: the same content twice
    #minSize: 0
    # maxSize: 200MB

    # What goes with a document: docs/rules.md has the templates; "scanferry rules test PATH" tries them.
    # match: '^(?<department>[^/]+)/(?<year>\\d{4})/'
    metadata:
      # title: "{stem | replace _ ' '}"
      # author: Accounting
      # subject: "{group.department}"
      # keywords: "{group.department}, {year}"
      # producer: Front desk scanner
      # description: "Scanned on {modified}"
      #limits: truncate               # truncate | hold
      #sidecar: none                  # none | optional | required: x.pdf.yaml or .json
    expire:
      # after: 7y                     # 7y | 6mo | 2w | 30d | never
      # from: uploaded                # uploaded | modified | sidecar | name(PATTERN)
      #minimum: 1d
      #unknown: hold                  # hold | upload-without
      #withoutPlugin: hold            # hold | upload-without
      #format: ms                     # ms | date | datetime | dmy
    #rules: []                        # - { name: invoices, match: '^Invoices/', target: /Invoices }

    # Programs of yours that run before a document is sent, and after its outcome: docs/hooks.md.
    hooks:
      before:
        # command: [/etc/scanferry/hooks/check-invoice]
        #timeout: 30s
        #concurrency: 2
        #onFailure: hold              # hold | send: what happens without its answer
        #afterVeto: keep              # keep | move:/srv/vetoed
      after:
        # command: [/etc/scanferry/hooks/tell-accounting, --quiet]
        #timeout: 30s
        #concurrency: 2
`;
}

const REST = `upload:
  #concurrency: 4                     # at most; fewer while the archive asks for patience
  # bandwidth: 2MB                    # bytes a second, all uploads together
  # hours: "18:00-07:00, 12:00-13:00" # when uploads may begin, in the host's time zone
  #retry: { initial: 1s, max: 5m }
  #doubt: { window: 60s, tolerance: 60s }   # how long a lost reply is looked for

# Documents that arrive together are sent under one batch.
batch:
  #quiet: 5s
  #maxDocuments: 200

# When the quota is spent, one document probes it: at growing intervals, and at set times if wished.
quota:
  #retry: { initial: 5m, max: 6h }
  #retryAt: "5 6 1 * *"
  # Pages that the account may upload in a month, as they are counted here: docs/budget.md.
  # monthlyPages: 5000
  #monthBegins: 1                     # the day of the month, 1 to 28
  #whenUsedUp: warn                   # warn | hold: leave it to the archive, or wait for the next month
  # Pages that only these mirrors may use; the others wait once they have used the rest.
  reserve:
    #pages: 0
    #mirrors: []

# The wait from upload to CONVERTED.
conversion:
  #poll: { initial: 2s, max: 5m }
  #stuckAfter: 24h
  # maxOutstanding: 500               # nothing is sent while so many are not CONVERTED

# Every source is walked in full this often, whatever events said (cron, in the host's time zone).
schedule:
  #rescan: "*/10 * * * *"

# The page, /healthz, /readyz and /metrics; or web: off.
web:
  #listen: 127.0.0.1:8470
  # Beyond this machine, and behind a reverse proxy, the page asks for a token:
  # tokenFile: /etc/scanferry/web.token
  # names: [scans.example.com]          # what people call the proxy by

# Messages when something is wrong: docs/notify.md. "scanferry notify test" tests the channels.
notify:
  #mail: []                           # - { name: office, server: "smtp.example.com:587", tls: starttls,
  #                                   #     user: scanferry, passwordFile: /etc/scanferry/mail.password,
  #                                   #     from: scanferry@example.com, to: [admin@example.com] }
  #webhook: []                        # - { url: "https://hooks.example.com/x", secretFile: /etc/scanferry/hook.secret }
  #                                   # - { format: ntfy, url: "https://ntfy.sh/my-secret-topic" }; slack, teams, …
  #                                   # - { format: matrix, url: "https://matrix.example.com",
  #                                   #     tokenFile: /etc/scanferry/matrix.token, to: "!room:example.com" }
  #                                   # - { url: "https://sms.example.com", headers: { X-Key: "…" }, body: "{title}" }
  #command: []                        # - { run: [/usr/local/bin/tell-us], events: [gate, failed, batch] }
  # Instead of the files: urlFile for an address that is a secret, or password: "…", secret: "…", token: "…".
  #timeout: 30s
  #repeat: 1d                         # what lasts, this often
  #heldAfter: 1h
  #diskBelow: 500MB
  quiet:
    # hours: "22:00-07:00"            # no messages, except credentials and disk
  # digest: "0 7 * * 1-5"             # a summary
  ping:
    # url: https://ping.example.com/4711   # called while all is well
    # urlFile: /etc/scanferry/ping.url
    #method: GET
    #schedule: "*/5 * * * *"

log:
  #level: info                        # trace | debug | info | warn | error | fatal | silent
  # file: /var/log/scanferry/scanferry.log  # instead of the standard output
  #keep: { size: 10MB, files: 5 }     # how much of that file is kept
`;

function receiptsPart(receipts: string | undefined): string {
  const line =
    receipts === undefined
      ? "# receipts: /var/lib/scanferry/receipts # or { dir: …, formats: [json, html] }"
      : `receipts: ${scalar(receipts)}`;
  return `# A receipt for each batch once all of its documents are CONVERTED: name, SHA-256, pages, id, folder.
${line}
`;
}

const LAST = `# How long a stop waits for what is in flight.
#shutdown: 20s
`;
