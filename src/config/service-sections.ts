/** `web`, `log`, `receipts`: what the daemon shows and writes next to its work. */
import { z } from "zod";
import type { ReceiptFormat } from "../receipts/receipt-folder.ts";
import { isWithin } from "../std/local-path.ts";
import { quoted } from "../std/quoted.ts";
import type { ConfigProblems } from "./config-problems.ts";
import { type Kind, kind, section, setting, settings, shortened } from "./kind.ts";
import { choice, secretIn, size, wholeNumber } from "./kinds.ts";
import { hostName, listener, localPath, secretKeys } from "./place-kinds.ts";

/** Of the page's token, in characters. */
const TOKEN_LENGTH_MIN = 16;

/** A secret that cannot be guessed. */
function webToken(): Kind<string> {
  return kind("secret", (value, refuse) => {
    const token = secretIn(value, refuse);
    if (token.length >= TOKEN_LENGTH_MIN) return token;
    return refuse(
      `the token has fewer than ${TOKEN_LENGTH_MIN} characters and could be guessed`,
      `write ${TOKEN_LENGTH_MIN} or more, e.g. what \`openssl rand -base64 24\` prints`,
    );
  });
}

/** `web`. */
export const webSchema = shortened(
  section(
    {
      listen: setting(listener().prefault("127.0.0.1:8470"), {
        meaning:
          "The address of the page, `/healthz`, `/readyz` and `/metrics`. Port 0: any free port.",
      }),
      names: setting(z.array(hostName()).prefault([]), {
        meaning:
          "The names that browsers use, behind a reverse proxy. The token is then always required.",
        example: "[scans.example.com]",
      }),
      ...secretKeys("token", webToken(), {
        meaning:
          "Required to open the page and read `/metrics` from other hosts; on this host too if it is set.",
        example: '"16 characters or more"',
        file: "/etc/scanferry/web.token",
        fileMeaning: "Its file; 16 characters or more.",
        variable: "SCANFERRY_WEB_TOKEN",
        otherwise: "none",
        // Behind a proxy everyone calls from this host.
        need: ({ listen, names }) => {
          if (listen === undefined) return "unused";
          return Array.isArray(names) && names.length > 0 ? "required" : "optional";
        },
      }),
    },
    "The web page.",
  ),
  {
    keyOf: () => "listen",
    kind: "`HOST:PORT` or `off`",
    about: { meaning: "The web page; `off`: none.", example: "off" },
  },
);

/** The keys of the log. */
export const logSchema = section(
  {
    level: setting(
      choice("trace", "debug", "info", "warn", "error", "fatal", "silent").prefault("info"),
      {
        meaning:
          "The least important lines that are logged. At `info` each document has two lines (uploaded, " +
          "converted), at `debug` one for each step.",
      },
    ),
    file: setting(localPath().optional(), {
      meaning: "A rotated log file, on a local disk and outside every source.",
      example: "/var/log/scanferry/scanferry.log",
      without: "the standard output",
    }),
    keep: section(
      {
        size: setting(size("64KB", "10GB").prefault("10MB"), {
          meaning: "A new file is started before it grows larger than this.",
        }),
        files: setting(wholeNumber(0, 1_000).prefault(5), {
          meaning: "How many older files are kept (`FILE.1` is the latest).",
        }),
      },
      "How much of `log.file` is kept.",
    ),
  },
  "The log.",
);

/** Every form that a receipt is written in. */
const RECEIPT_FORMATS: readonly ReceiptFormat[] = ["json", "html"];

/** The keys of `receipts`. */
const receiptsKeys = section(
  {
    dir: setting(localPath(), {
      meaning: "The folder, on a local disk and outside every source.",
      example: "./receipts",
      required: true,
    }),
    formats: setting(
      z
        .array(choice(...RECEIPT_FORMATS))
        .min(1)
        .prefault([...RECEIPT_FORMATS]),
      {
        meaning: "The files of each receipt: `json` for machines, `html` to print.",
        example: "[html]",
      },
    ),
  },
  "`receipts: DIR` is short for `receipts: { dir: DIR }`.",
);

/** The keys of receipts, or their folder. */
export const receiptsSchema = shortened(receiptsKeys, {
  keyOf: () => "dir",
  kind: "path",
  about: {
    meaning: "Receipts: the folder, or the keys.",
    example: "/var/lib/scanferry/receipts",
    without: "no receipts are written; `scanferry receipt BATCH` prints one",
  },
}).optional();

/** Reports files that the daemon writes itself and would find in a source. */
export function checkOwnFiles(
  own: {
    readonly journal: string | undefined;
    readonly log: string | undefined;
    readonly receipts: string | undefined;
  },
  sources: readonly (string | undefined)[],
  findings: ConfigProblems,
): void {
  const files = [
    [["journal"], own.journal, "/var/lib/scanferry/journal.db"],
    [["log", "file"], own.log, "/var/log/scanferry/scanferry.log"],
    [["receipts"], own.receipts, "/var/lib/scanferry/receipts"],
  ] as const;
  for (const [key, file, example] of files) {
    if (file === undefined) continue;
    const at = sources.findIndex((source) => source !== undefined && isWithin(source, file));
    if (at < 0) continue;
    const message = `${quoted(file)} lies in the source of mirrors[${at}], which would send it`;
    findings.report(key, message, `keep it outside, e.g. ${example}`);
  }
}

/** `web`; undefined: no listener. `host` is without brackets, `names` are what a reverse proxy is called by. */
export function webOf(web: z.output<typeof webSchema>) {
  const { listen, names, token } = web;
  if (listen === undefined) return undefined;
  return settings({ ...listen, token, names: names.length === 0 ? undefined : names });
}

/** A log of its own: its file, absolute, the most it holds in bytes, and how many older ones stay. */
export type LogFileSettings = {
  readonly path: string;
  readonly sizeBytesMax: number;
  readonly olderMax: number;
};

/** `log`. */
export function logOf({ level, file: path, keep }: z.output<typeof logSchema>) {
  const file: LogFileSettings | undefined =
    path === undefined ? undefined : { path, sizeBytesMax: keep.size, olderMax: keep.files };
  return settings({ level, file });
}

/** A folder for receipts, absolute, and the files that each batch gets. */
export type ReceiptSettings = { readonly dir: string; readonly formats: readonly ReceiptFormat[] };

/** `receipts`. */
export function receiptsOf(receipts: z.output<typeof receiptsSchema>): ReceiptSettings | undefined {
  return receipts;
}
