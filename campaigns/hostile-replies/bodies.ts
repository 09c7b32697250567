/** Bodies of replies: right ones, and every way of getting them wrong. */
import type { Dice } from "../../test/simulation/dice.ts";
import { CODES } from "../../src/wire/codes.ts";
import { type Asked, rightReply } from "./asked.ts";

type Body = (asked: Asked, dice: Dice) => string | Buffer;
type Json = Record<string, unknown>;

const right: Body = (asked, dice) => JSON.stringify(rightReply(asked, dice));
const HTML = "<!doctype html><html><head><title>502 Bad Gateway</title></head><body>nginx</body>";

/** Values that have no business where they are put. */
const JUNK: readonly unknown[] = [
  null,
  true,
  false,
  "",
  "x",
  "0x10",
  "9007199254740993",
  "1e3",
  " 7",
  "-1",
  -1,
  0,
  1.5,
  2 ** 53,
  1e308,
  [],
  {},
  [[]],
  { id: 1 },
  "\u0000",
  "\ud800",
  "ERROR",
  "OK",
];

/** A right reply with one field, anywhere in it, gone or replaced. */
const wrongField: Body = (asked, dice) => {
  const reply = rightReply(asked, dice);
  let object: Json = reply;
  for (;;) {
    const name = dice.pick(Object.keys(object)) ?? "response";
    const inner = object[name];
    const list = Array.isArray(inner) ? inner[0] : inner;
    if (typeof list === "object" && list !== null && dice.chance(0.85)) {
      object = list as Json;
      continue;
    }
    if (dice.chance(0.25)) delete object[name];
    else object[name] = dice.pick(JUNK);
    return JSON.stringify(reply);
  }
};

/** A right reply about something else. */
const another: Body = (asked, dice) => {
  const change = dice.pick([
    { filename: "another.pdf" },
    { filename: `${asked.filename} ` },
    { filename: asked.filename.toUpperCase() },
    { filename: asked.filename.normalize("NFD") },
    { folderId: asked.id + 1 },
    { id: asked.id + 1 },
    { filesize: asked.sizeBytes + 1 },
    { filesize: String(asked.sizeBytes + 1) },
    { id: "another" },
  ]);
  const reply = rightReply(asked, dice);
  for (const name of ["document", "folder"])
    if (name in reply) Object.assign(reply[name] as Json, change);
  return JSON.stringify(reply);
};

const anError: Body = (asked, dice) => {
  const codes = [...CODES[asked.operation], "SOMETHING_NEW", "INVALID_SIG", "quota limit", ""];
  const code = dice.pick<unknown>(dice.chance(0.8) ? codes : JUNK);
  const responseDescription = dice.pick([code, { code }, [code], { a: { b: { c: code } } }, null]);
  const rest = dice.chance(0.3) ? rightReply(asked, dice) : {};
  return JSON.stringify({ ...rest, response: "ERROR", responseDescription });
};

/** An OK to a list that leaves it out, or has nothing on a page that it counts. */
const hollow: Body = (asked, dice) => {
  const reply = rightReply(asked, dice);
  for (const name of ["documents", "folders"]) {
    if (!(name in reply)) continue;
    if (dice.chance(0.3)) delete reply[name];
    else reply[name] = dice.pick([null, [], {}, ""]);
  }
  return JSON.stringify({ ...reply, paginationPages: dice.int(0, 3) });
};

const numbers: Body = (asked, dice) => {
  const huge = dice.pick([
    "1e400",
    "-1e400",
    "9".repeat(400),
    "0.1e-400",
    "1E3",
    "01",
    "NaN",
    "7.",
  ]);
  const text = JSON.stringify(rightReply(asked, dice));
  return text.replace(/"(id|folderId|paginationPages)":\d+/, `"$1":${huge}`);
};

const deep: Body = (asked, dice) => {
  const depth = dice.int(1_000, 100_000);
  const nested = dice.pick([
    "[".repeat(depth),
    `${"[".repeat(depth)}${"]".repeat(depth)}`,
    `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`,
  ]);
  if (dice.chance(0.3)) return nested ?? "";
  return right(asked, dice).toString().replace(/}$/, `,"extra":${nested}}`);
};

const twice: Body = (asked, dice) => {
  const text = right(asked, dice).toString();
  return dice.pick([
    text.replace("{", '{"response":"ERROR",'),
    text.replace(/}$/, ',"response":"ERROR","responseDescription":"QUOTA_LIMIT"}'),
    text.replace(/}$/, ',"document":null,"documents":{},"folder":[],"folders":1}'),
    text.replace("{", '{"__proto__":{"response":"OK"},'),
    text.replace(/"(response|document|folder|paginationPages)"/, '"__proto__"'),
    text + text,
    `${text}\n\u0000`,
    `)]}',\n${text}`,
    `callback(${text})`,
    `[${text}]`,
    JSON.stringify(text),
  ]) as string;
};

const encoded: Body = (asked, dice) => {
  const text = right(asked, dice).toString();
  return dice.pick([
    `\ufeff${text}`,
    `\ufeff\ufeff${text}`,
    Buffer.from(text, "utf16le"),
    Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text, "utf16le")]),
    Buffer.from(text, "latin1"),
    Buffer.concat([Buffer.from(text.slice(0, -1)), Buffer.from(',"x":"\xff"}', "latin1")]),
    Buffer.concat([Buffer.from(text), Buffer.from([0x80])]),
  ]) as string | Buffer;
};

const cut: Body = (asked, dice) => {
  const text = Buffer.from(right(asked, dice).toString());
  return text.subarray(0, dice.int(0, text.length - 1));
};

const flipped: Body = (asked, dice) => {
  const bytes = Buffer.from(right(asked, dice).toString());
  for (let n = dice.int(1, 3); n > 0; n--) bytes[dice.int(0, bytes.length - 1)] = dice.int(0, 255);
  return bytes;
};

const noise: Body = (_, dice) =>
  Buffer.from(Array.from({ length: dice.int(0, 300) }, () => dice.int(0, 255)));

const plain: Body = (_, dice) =>
  dice.pick([
    "",
    "null",
    "[]",
    "{}",
    "true",
    '"OK"',
    "OK",
    "0",
    HTML,
    `${HTML}${" ".repeat(9_000)}`,
  ]) ?? "";

const tooMuch: Body = (asked, dice) =>
  right(asked, dice)
    .toString()
    .replace(/}$/, `,"extra":"${"x".repeat(2 << 20)}"}`);

/** A body for a reply to this request; now and then a right one. */
export function someBody(asked: Asked, dice: Dice): Buffer {
  const body = dice.weighted<Body>([
    [20, right],
    [25, wrongField],
    [15, another],
    [12, anError],
    [6, hollow],
    [8, twice],
    [6, encoded],
    [6, cut],
    [6, flipped],
    [5, numbers],
    [5, plain],
    [3, noise],
    [0.5, deep],
    [0.1, tooMuch],
  ]);
  return Buffer.from(body(asked, dice) as string);
}

/** The reply of an archive that did what it was asked, as it crosses. */
export function rightBody(asked: Asked, dice: Dice): Buffer {
  return Buffer.from(right(asked, dice) as string);
}
