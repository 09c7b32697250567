import { createHmac, timingSafeEqual } from "node:crypto";
import { type Operation, PATHS } from "../wire/shapes.ts";
import type { AccountOption, Settings } from "./archive-options.ts";
import { fieldOf, type Fields, integer } from "./parameters.ts";
import { Refusal } from "./refusal.ts";

/** How far the time of a signature may be from ours, either way, milliseconds. */
const SIGNED_TIME_MS_MAX = 300_000;

/** What is to be authenticated, and what time it is here, epoch milliseconds. */
type SignedRequest = { operation: Operation; fields: Fields; now: number };

/** What a signature by `hmac2` says beyond the fields. */
export type Dated = {
  /** To be accepted of one upload only. */
  signature: string;
  /** From then on, epoch milliseconds, it is too old on its own. */
  until: number;
  /** The SHA-256 of the file, hex; of another operation whatever was sent. */
  sha256: string | undefined;
};

/**
 * The account that sent these fields. Refuses with INVALID_ACC_KEY or INVALID_SIG: codes of our
 * own choice (section Authentication, 4 leaves them open). A request with a `sig_time` is signed by
 * `hmac2`, any other by `hmac`. `sig=none` passes only where signatures are not required.
 */
export function authenticate<A extends AccountOption>(
  { operation, fields, now }: SignedRequest,
  accounts: ReadonlyMap<string, A>,
  { requireSignature, scheme: only }: Pick<Settings, "requireSignature" | "scheme">,
): { account: A; dated?: Dated } {
  const account = accounts.get(fieldOf(fields, "acc_key") ?? "");
  if (!account) throw new Refusal("INVALID_ACC_KEY");
  const sent = fieldOf(fields, "sig");
  if (sent === undefined) throw new Refusal("INVALID_SIG");
  if (sent === "none" && !requireSignature) return { account };
  const time = fieldOf(fields, "sig_time");
  const scheme = time === undefined ? "hmac" : "hmac2";
  if (scheme !== (only ?? scheme)) throw new Refusal("INVALID_SIG");
  const signed = byName(fields.filter(([name]) => name !== "sig"));
  const text = time === undefined ? joined(signed) : measured(PATHS[operation], signed);
  const right = createHmac("sha256", account.secret).update(text, "utf8");
  if (!sameText(sent, right.digest("base64"))) throw new Refusal("INVALID_SIG");
  if (time === undefined) return { account };
  const sha256 = fieldOf(fields, "sig_file");
  if (operation === "upload" && sha256 === undefined) throw new Refusal("INVALID_SIG");
  return { account, dated: { signature: sent, until: endOf(time, now), sha256 } };
}

/** When a signature of that time is too old; refuses what is so already, and what is yet to come. */
function endOf(time: string, now: number): number {
  const signedAt = integer.safeParse(time).data;
  if (signedAt === undefined || Math.abs(now - signedAt) > SIGNED_TIME_MS_MAX)
    throw new Refusal("INVALID_SIG");
  return signedAt + SIGNED_TIME_MS_MAX;
}

/** Sorted by the names' bytes. Fields of one name keep the order in which they were sent. */
function byName(fields: Fields): Fields {
  return fields
    .map((field) => ({ bytes: Buffer.from(field[0], "utf8"), field }))
    .sort((a, b) => Buffer.compare(a.bytes, b.bytes))
    .map(({ field }) => field);
}

/**
 * What `hmac` signs: `name=value`, joined by `&`. Refuses what begins with a digit, as every text of `hmac2` does and no
 * name of the interface: a value in there could else be read as fields, and its signature be theirs.
 */
function joined(fields: Fields): string {
  const text = fields.map(([name, value]) => `${name}=${value}`).join("&");
  if (/^\d/.test(text)) throw new Refusal("INVALID_SIG");
  return text;
}

/** What `hmac2` signs: path, names and values, each after its length in bytes and a colon. */
function measured(path: string, fields: Fields): string {
  let text = "";
  for (const part of [path, ...fields.flat()]) text += `${Buffer.byteLength(part, "utf8")}:${part}`;
  return text;
}

/** Takes the same time wherever the texts differ, so that a signature cannot be felt out. */
export function sameText(a: string, b: string): boolean {
  const left = Buffer.from(a, "utf8");
  const right = Buffer.from(b, "utf8");
  return left.length === right.length && timingSafeEqual(left, right);
}
