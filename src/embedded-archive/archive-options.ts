import { type Clock, systemClock } from "../std/clock.ts";
import { Fault } from "../std/fault.ts";
import type { FaultPlan } from "./faults.ts";
import { type FileFormat, kindOf } from "../formats/file-format.ts";

/** One company at the archive: its own folder tree, documents and page allowance. */
export type AccountOption = { key: string; secret: string };

/** What signs a request. */
export const SIGNATURE_SCHEMES = ["hmac", "hmac2"] as const;

/** One of them. */
export type SignatureScheme = (typeof SIGNATURE_SCHEMES)[number];

/** One upload that was stored, with its moments in epoch milliseconds. */
export type StoredUpload = {
  documentId: number;
  /** Its fields were in. */
  begunAt: number;
  /** Its last byte was in. */
  receivedAt: number;
  /** Its connection was seen to be gone; undefined: it was still there. */
  goneAt: number | undefined;
  /** It was on the disk, and lists showed it. */
  storedAt: number;
};

/** How an embedded archive behaves; the open points of the interface are settings here. */
export type EmbeddedArchiveOptions = {
  /** Where the database and the documents' bytes live; made if missing. */
  dataDir: string;
  /** Port 0 takes any free one. */
  listen: { host: string; port: number };
  /** Default: one, `demo` with the secret `demo`. The first one is meant where none is named. */
  accounts?: AccountOption[] | undefined;
  /** `/A/B`; made if missing, for every account. */
  folders?: string[] | undefined;
  /** Page allowance of each account; absent: unlimited. */
  quotaPages?: number | undefined;
  /** Whether the expiry-reminder plugin is installed. Default true. */
  reminderPlugin?: boolean | undefined;
  /** Larger files are refused with FILE_SIZE_TOO_BIG; absent: any size. */
  maxFileSizeBytes?: number | undefined;
  /** The same for documents of one kind, in place of `maxFileSizeBytes`. */
  maxFileSizeByKind?: FileLimits | undefined;
  /** How long a document stays UPLOADED before it is converted. Default 500. */
  convertDelayMs?: number | undefined;
  /** `responseDescription` as `"CODE"` or as `{"code": "CODE"}`. Default bare. */
  errorStyle?: "bare" | "object" | undefined;
  /** HTTP status of replies with `"response": "ERROR"`. Default 200. */
  errorHttp?: 200 | 400 | undefined;
  /** When false, `sig=none` is accepted next to a right signature. Default true. */
  requireSignature?: boolean | undefined;
  /** The only scheme by which requests may be signed; absent: either, so anyone who can use the weaker one may. */
  scheme?: SignatureScheme | undefined;
  /** What goes wrong on purpose; nothing unless given. */
  faults?: FaultPlan | undefined;
  /** Where expiries learn about: an http(s) URL that takes JSON. Absent: they are only logged. */
  notifyUrl?: string | undefined;
  /** A second listener for administration, on this machine only; absent: none. */
  admin?: { host: string; port: number } | undefined;
  /** False: an OK says nothing about the disk. Only for measuring what waiting for it costs. */
  durable?: boolean | undefined;
  /** Called for every upload once it is stored: for measuring how late that was. */
  onStored?: ((upload: StoredUpload) => void) | undefined;
  clock?: Clock | undefined;
  log?: ((event: Record<string, unknown>) => void) | undefined;
};

/** The options with every default filled in. */
export type Settings = {
  readonly [K in keyof EmbeddedArchiveOptions]-?: K extends
    | "quotaPages"
    | "scheme"
    | "faults"
    | "notifyUrl"
    | "admin"
    ? EmbeddedArchiveOptions[K]
    : NonNullable<EmbeddedArchiveOptions[K]>;
};

/** Fills in the defaults. A Fault with EMBEDDED_ARCHIVE_OPTIONS tells what cannot be meant. */
export function settingsOf(options: EmbeddedArchiveOptions): Settings {
  const settings: Settings = {
    dataDir: options.dataDir,
    listen: options.listen,
    accounts: options.accounts ?? [{ key: "demo", secret: "demo" }],
    folders: options.folders ?? [],
    quotaPages: options.quotaPages,
    reminderPlugin: options.reminderPlugin ?? true,
    maxFileSizeBytes: options.maxFileSizeBytes ?? Infinity,
    maxFileSizeByKind: options.maxFileSizeByKind ?? {},
    notifyUrl: options.notifyUrl,
    admin: options.admin,
    durable: options.durable ?? true,
    convertDelayMs: options.convertDelayMs ?? 500,
    errorStyle: options.errorStyle ?? "bare",
    errorHttp: options.errorHttp ?? 200,
    requireSignature: options.requireSignature ?? true,
    scheme: options.scheme,
    faults: options.faults,
    onStored: options.onStored ?? (() => {}),
    clock: options.clock ?? systemClock,
    log: options.log ?? (() => {}),
  };
  assertAccounts(settings);
  const unknown = Object.keys(settings.maxFileSizeByKind).find((kind) => !isKind(kind));
  if (unknown !== undefined)
    throw unusable(`there is no kind ${JSON.stringify(unknown)}`, `Kinds: ${KINDS.join(", ")}.`);
  if (settings.notifyUrl !== undefined && !/^https?:$/.test(protocolOf(settings.notifyUrl)))
    throw unusable("the address to notify is no http or https URL", "Write http://HOST/PATH.");
  return settings;
}

function assertAccounts(settings: Settings): void {
  if (settings.accounts.length === 0)
    throw unusable("accounts is empty", "Name at least one account, or leave accounts out.");
  const keys = new Set(settings.accounts.map((account) => account.key));
  if (keys.size !== settings.accounts.length)
    throw unusable("two accounts have the same key", "Give every account a key of its own.");
  if (keys.has("")) throw unusable("an account has an empty key", "Give every account a key.");
}

function isKind(name: string): boolean {
  return (KINDS as readonly string[]).includes(name);
}

function protocolOf(url: string): string {
  return URL.canParse(url) ? new URL(url).protocol : "";
}

function unusable(message: string, hint: string): Fault {
  return new Fault("EMBEDDED_ARCHIVE_OPTIONS", message, hint);
}

/** Every kind of document that a limit may be set for. */
export const KINDS = [
  ...(["pdf", "tiff", "jpeg", "png", "gif", "webp", "bmp", "heic", "text", "office"] as const),
  ...(["digidoc", "ddoc", "zip", "xml", "mail", "unknown"] as const),
] as const satisfies readonly FileFormat[];

/** Bytes, by kind. */
export type FileLimits = { readonly [K in FileFormat]?: number };

/**
 * Bytes that an upload may have (Errors, FILE_SIZE_TOO_BIG: "larger than allowed for that kind of
 * document"). What kind it is, the content says before the name. The limit of a kind counts in
 * place of the general one, also where it is larger.
 */
export function sizeLimit(settings: Settings, head: Buffer, filename: string): number {
  const { maxFileSizeBytes, maxFileSizeByKind } = settings;
  return maxFileSizeByKind[kindOf(head, filename)] ?? maxFileSizeBytes;
}
