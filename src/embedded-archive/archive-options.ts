import { type Clock, systemClock } from "../std/clock.ts";
import type { FaultPlan } from "./faults.ts";
import { type FileFormat, kindOf } from "../formats/file-format.ts";
import { unusable } from "./refusal.ts";

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

/** An address to listen on; port 0 takes any free one. */
export type Address = { host: string; port: number };

/** How an embedded archive behaves; the open points of the interface are settings here. */
export type Settings = {
  /** Where the database and the documents' bytes live; made if missing. */
  readonly dataDir: string;
  readonly listen: Address;
  /** The first one is meant where none is named. */
  readonly accounts: readonly AccountOption[];
  /** `/A/B`; made if missing, for every account. */
  readonly folders: readonly string[];
  /** Page allowance of each account; undefined: unlimited. */
  readonly quotaPages?: number | undefined;
  /** Whether the expiry-reminder plugin is installed. */
  readonly reminderPlugin: boolean;
  /** Larger files are refused with FILE_SIZE_TOO_BIG. */
  readonly maxFileSizeBytes: number;
  /** The same for documents of one kind, in place of `maxFileSizeBytes`. */
  readonly maxFileSizeByKind: FileLimits;
  /** How long a document stays UPLOADED before it is converted. */
  readonly convertDelayMs: number;
  /** `responseDescription` as `"CODE"` or as `{"code": "CODE"}`. */
  readonly errorStyle: "bare" | "object";
  /** HTTP status of replies with `"response": "ERROR"`. */
  readonly errorHttp: 200 | 400;
  /** When false, `sig=none` is accepted next to a right signature. */
  readonly requireSignature: boolean;
  /** The only scheme by which requests may be signed; undefined: either, so anyone who can use the weaker one may. */
  readonly scheme?: SignatureScheme | undefined;
  /** What goes wrong on purpose. */
  readonly faults?: FaultPlan | undefined;
  /** Where expiries learn about: an http(s) URL that takes JSON. Undefined: they are only logged. */
  readonly notifyUrl?: string | undefined;
  /** A second listener for administration, on this machine only. */
  readonly admin?: Address | undefined;
  /** Called for every upload once it is stored: for measuring how late that was. */
  readonly onStored: (upload: StoredUpload) => void;
  readonly clock: Clock;
  readonly log: (event: Record<string, unknown>) => void;
};

const DEFAULTS = {
  accounts: [{ key: "demo", secret: "demo" }],
  folders: [],
  reminderPlugin: true,
  maxFileSizeBytes: Infinity,
  maxFileSizeByKind: {},
  convertDelayMs: 500,
  errorStyle: "bare",
  errorHttp: 200,
  requireSignature: true,
  onStored: () => {},
  clock: systemClock,
  log: () => {},
} as const satisfies Partial<Settings>;

/** The settings that are not as they are by default. */
export type EmbeddedArchiveOptions = Omit<Settings, keyof typeof DEFAULTS> & {
  readonly [K in keyof typeof DEFAULTS]?: Settings[K] | undefined;
};

/** Fills in the defaults. A Fault with EMBEDDED_ARCHIVE_OPTIONS tells what cannot be meant. */
export function settingsOf({ dataDir, listen, ...options }: EmbeddedArchiveOptions): Settings {
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  const settings: Settings = { ...DEFAULTS, ...Object.fromEntries(given), dataDir, listen };
  const keys = new Set(settings.accounts.map(({ key }) => key));
  if (keys.size === 0 || keys.size < settings.accounts.length || keys.has(""))
    throw unusable("accounts cannot be used", "Name at least one, and give each a key of its own.");
  return settings;
}

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
