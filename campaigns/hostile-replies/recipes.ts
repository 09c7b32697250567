/** Ways of answering. Each makes a plan for one request; what is right in it is the body's affair. */
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import type { Dice } from "../../test/simulation/dice.ts";
import type { Heard } from "../../test/unit/archive/raw-server.ts";
import type { Asked } from "./asked.ts";
import { rightBody, someBody } from "./bodies.ts";
import type { Plan } from "./plan.ts";

/** `elsewhere` is the address of another origin. */
type Recipe = (asked: Asked, dice: Dice, elsewhere: string) => Omit<Plan, "recipe">;

const head = (first: string, headers: readonly string[]) =>
  Buffer.from([first, ...headers, "", ""].join("\r\n"), "latin1");
const lengthOf = (body: Buffer) => `content-length: ${body.length}`;
const http = (status: number | string, body: Buffer, headers: readonly string[] = []) =>
  Buffer.concat([head(`HTTP/1.1 ${status} X`, [lengthOf(body), ...headers]), body]);

/** A plain reply, unless something is said. */
function plan(bytes: Buffer | ((heard: Heard) => Buffer), set: Partial<Plan>): ReturnType<Recipe> {
  return {
    bytes: typeof bytes === "function" ? bytes : () => bytes,
    body: undefined,
    framing: "torn",
    at: "whole",
    pieces: 1,
    after: "keep",
    poisons: false,
    ...set,
  };
}

const TYPES = [
  "content-type: application/json",
  "content-type: application/json; charset=utf-16",
  "content-type: text/html; charset=iso-8859-1",
  "content-type: image/png",
  "content-type: multipart/byteranges; boundary=x",
  "content-encoding: identity",
  "retry-after: -5",
  "retry-after: 99999999999999999999",
  "retry-after: Wed, 31 Dec 9999 23:59:59 GMT",
  "date: yesterday",
  "date: Thu, 01 Jan 1970 00:00:00 GMT",
  "set-cookie: a=b; domain=.example.com",
  "content-disposition: attachment; filename=../../etc/passwd",
  "strict-transport-security: max-age=0",
  "keep-alive: timeout=0, max=0",
  "keep-alive: timeout=-1",
  "upgrade: h2c, websocket",
  "trailer: response",
  "www-authenticate: Basic realm=x",
];

const ordinary: Recipe = (asked, dice) => {
  const body = someBody(asked, dice);
  const headers = Array.from({ length: dice.int(0, 4) }, () => dice.pick(TYPES) ?? "x: y");
  const unique = [...new Map(headers.map((line) => [line.split(":")[0], line])).values()];
  const pieces = dice.chance(0.2) ? dice.int(2, 40) : 1;
  return plan(http(200, body, unique), { body, framing: "whole", pieces });
};

const NO_BODY = [204, 304];

const statuses: Recipe = (asked, dice) => {
  const status = dice.pick([
    200, 201, 202, 203, 204, 205, 206, 207, 226, 299, 400, 401, 403, 404, 408, 409, 413, 414, 415,
    418, 422, 425, 429, 431, 451, 499, 500, 501, 502, 503, 504, 507, 511, 599, 600, 999,
  ]) as number;
  const body = dice.chance(0.6) ? rightBody(asked, dice) : someBody(asked, dice);
  const success = status < 300 && !NO_BODY.includes(status);
  return plan(http(status, body), {
    body,
    framing: status === 205 ? "either" : success ? "whole" : "torn",
    poisons: NO_BODY.includes(status),
  });
};

const redirect: Recipe = (asked, dice, elsewhere) => {
  const status = dice.pick([300, 301, 302, 303, 304, 305, 307, 308, 399]) as number;
  const to = dice.pick([elsewhere, `//${elsewhere.slice(7)}/x`, "/elsewhere", "http://[::", ""]);
  const headers = [`location: ${to}`, `refresh: 0; url=${elsewhere}`];
  return plan(http(status, rightBody(asked, dice), headers), { poisons: NO_BODY.includes(status) });
};

const elsewhereNamed: Recipe = (asked, dice, elsewhere) => {
  const body = rightBody(asked, dice);
  const authority = elsewhere.slice("http://".length);
  const headers = [
    `alt-svc: h2="${authority}"; ma=86400`,
    `link: <${elsewhere}>; rel=preconnect`,
    `content-location: ${elsewhere}/`,
    `refresh: 0; url=${elsewhere}/`,
    `location: ${elsewhere}/`,
  ];
  return plan(http(200, body, headers), { body, framing: "whole" });
};

const chunked = "transfer-encoding: chunked";
const inChunks = (body: Buffer, extension = "") =>
  Buffer.concat([
    Buffer.from(`${body.length.toString(16)}${extension}\r\n`),
    body,
    Buffer.from("\r\n0\r\n"),
  ]);

const chunks: Recipe = (asked, dice) => {
  const body = rightBody(asked, dice);
  const made = (framing: Plan["framing"], rest: Buffer | string, headers = [chunked]) =>
    plan(Buffer.concat([head("HTTP/1.1 200 X", headers), Buffer.from(rest as string)]), {
      body,
      framing,
      after: framing === "whole" ? "keep" : "end",
      pieces: dice.chance(0.3) ? dice.int(2, 20) : 1,
    });
  const whole = `${inChunks(body).toString()}\r\n`;
  return dice.pick([
    made("whole", whole),
    made("whole", `${inChunks(body, ";a=b;c").toString()}\r\n`),
    made("either", `${inChunks(body).toString()}response: ERROR\r\n\r\n`),
    made("either", whole, [chunked, lengthOf(body)]),
    made("either", whole, [chunked, "content-length: 5"]),
    made("either", whole, ["transfer-encoding: chunked, chunked"]),
    made("either", whole, ["transfer-encoding: identity, chunked"]),
    made("torn", whole, ["transfer-encoding: gzip"]),
    made("torn", inChunks(body).subarray(0, -3)),
    made("torn", whole.replace(/^[0-9a-f]+/, "FFFFFFFFFFFFFFFFF")),
    made("torn", whole.replace(/^[0-9a-f]+/, "-1")),
    made("torn", whole.replace(/^[0-9a-f]+/, "zz")),
    made("torn", whole.replace(/^[0-9a-f]+/, "1")),
    made("torn", `7fffffff\r\n${body.toString()}`),
    made("either", whole.replaceAll("\r\n", "\n")),
  ]) as ReturnType<Recipe>;
};

const lengths: Recipe = (asked, dice) => {
  const body = rightBody(asked, dice);
  const made = (
    framing: Plan["framing"],
    headers: string[],
    after: Plan["after"],
    first = "HTTP/1.1 200 X",
  ) =>
    plan(Buffer.concat([head(first, headers), body]), {
      body,
      framing,
      after,
      poisons: framing !== "whole",
    });
  const { length } = body;
  return dice.pick([
    made("whole", [], "end"),
    made("whole", ["connection: close"], "end"),
    made("whole", [lengthOf(body), "connection: close"], "end"),
    made("whole", [lengthOf(body), "connection: close"], "keep"),
    made("either", [lengthOf(body)], "end", "HTTP/1.0 200 X"),
    made("either", [lengthOf(body)], "keep", "HTTP/1.1 200"),
    made("either", [lengthOf(body)], "keep", "HTTP/2.0 200 X"),
    // JSON tells its own end.
    made("either", [], "reset"),
    made("torn", [`content-length: ${length - dice.int(1, Math.min(length - 1, 40))}`], "keep"),
    made("torn", [`content-length: ${length + dice.int(1, 40)}`], "end"),
    made("torn", [`content-length: ${length + dice.int(1, 40)}`], "reset"),
    made("torn", ["content-length: -1"], "end"),
    made("torn", ["content-length: 0"], "end"),
    made("torn", ["content-length: 1e3"], "end"),
    made("torn", ["content-length: 99999999999999999999999999"], "end"),
    made("torn", ["content-length: 9007199254740991"], "end"),
    made("torn", [lengthOf(body), `content-length: ${length + 1}`], "end"),
    made("either", [lengthOf(body), lengthOf(body)], "end"),
    made("torn", [`content-length: ${length}, ${length + 1}`], "end"),
  ]) as ReturnType<Recipe>;
};

const headers: Recipe = (asked, dice) => {
  const body = rightBody(asked, dice);
  const many = (count: number, bytes: number) =>
    Array.from({ length: count }, (_, n) => `x-${n}: ${"y".repeat(bytes)}`);
  const made = (framing: Plan["framing"], lines: string[]) =>
    plan(http(200, body, lines), { body, framing, after: "end" });
  return dice.pick([
    made("whole", many(50, 40)),
    made("either", many(1_000, 4)),
    made("torn", many(100, 1_000)),
    made("torn", many(1, 70_000)),
    made("either", ["x: a", " folded"]),
    made("either", ["x: \u0000"]),
    made("torn", ["no colon at all"]),
    made("either", ["x : y"]),
    made("either", [": y"]),
    made("either", ["response: OK\rx: y"]),
    plan(Buffer.from(`HTTP/1.1 200 X\r\nx: ${"y".repeat(500_000)}`), { after: "endless" }),
  ]) as ReturnType<Recipe>;
};

const notHttp: Recipe = (asked, dice) => {
  const body = rightBody(asked, dice).toString();
  const bytes = dice.pick([
    body,
    "SSH-2.0-OpenSSH_9.2p1\r\n",
    "220 mail.example.com ESMTP\r\n",
    "\x15\x03\x01\x00\x02\x02\x28",
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    `HTTP/1.1 20 X\r\n\r\n${body}`,
    `HTTP/1.1 2000 X\r\n\r\n${body}`,
    `HTTP/1.1 abc X\r\n\r\n${body}`,
    `HTTP/1.1 -200 X\r\n\r\n${body}`,
    `HTTP/11 200 X\r\n\r\n${body}`,
    `ICY 200 OK\r\n\r\n${body}`,
    `GET / HTTP/1.1\r\nhost: x\r\n\r\n${body}`,
    "\r\n\r\n\r\n",
    "\u0000".repeat(100),
    "",
  ]) as string;
  return plan(Buffer.from(bytes, "latin1"), {
    after: dice.pick(["end", "reset"] as const) ?? "end",
  });
};

const BOMB = gzipSync(Buffer.alloc(64 << 20), { level: 9 });
const BROTLI_BOMB = brotliCompressSync(Buffer.alloc(64 << 20));

const compressed: Recipe = (asked, dice) => {
  const body = rightBody(asked, dice);
  const [encoding, bytes] = dice.pick([
    ["gzip", gzipSync(body)],
    ["gzip", gzipSync(body).subarray(0, -6)],
    ["GZIP", gzipSync(body)],
    ["x-gzip", body],
    ["deflate", deflateSync(body)],
    ["br", brotliCompressSync(body)],
    ["zstd", body],
    ["identity, gzip", gzipSync(body)],
    ["gzip, gzip, gzip, gzip", gzipSync(gzipSync(gzipSync(gzipSync(body))))],
    ["gzip", BOMB],
    ["deflate", BOMB],
    ["br", BROTLI_BOMB],
  ] as const) ?? ["gzip", body];
  const lie = dice.chance(0.1);
  return plan(http(200, bytes, lie ? [] : [`content-encoding: ${encoding}`]), {
    // Said to be nothing special, what is compressed is noise, and what is not is what it is.
    body: lie && bytes === body ? body : undefined,
    framing: lie ? "whole" : "torn",
  });
};

const informational: Recipe = (asked, dice) => {
  const body = rightBody(asked, dice);
  const hint = dice.pick([
    "HTTP/1.1 100 Continue\r\n\r\n",
    "HTTP/1.1 102 X\r\n\r\n",
    "HTTP/1.1 103 Early Hints\r\nlink: x\r\ncontent-encoding: gzip\r\n\r\n",
    'HTTP/1.1 199 X\r\nx-response: {"response":"OK"}\r\n\r\n',
  ]) as string;
  const storm = Buffer.from(hint.repeat(dice.pick([1, 3, 300]) ?? 1));
  const switched = dice.chance(0.15);
  const first = switched
    ? Buffer.from("HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n")
    : storm;
  const framing = switched ? "torn" : hint.includes("100") ? "either" : "whole";
  return plan(Buffer.concat([first, http(200, body)]), { body, framing, poisons: switched });
};

const early: Recipe = (asked, dice) => {
  const status = dice.pick([200, 200, 201, 400, 401, 403, 413, 429, 500, 503]) as number;
  const body = dice.pick([rightBody(asked, dice), Buffer.alloc(0), someBody(asked, dice)]);
  const after = dice.pick(["keep", "end", "reset"] as const) ?? "end";
  // A request of one piece has left by the time its head is read.
  const framing = asked.streamed || status >= 300 ? "torn" : "either";
  return plan(http(status, body ?? Buffer.alloc(0)), {
    body,
    framing,
    at: "head",
    after,
    poisons: true,
  });
};

const brokenOff: Recipe = (asked, dice) => {
  const bytes = http(200, rightBody(asked, dice));
  const at = dice.pick(["connection", "head", "whole"] as const) ?? "whole";
  const upTo = at === "whole" ? dice.int(0, bytes.length - 1) : 0;
  const after = dice.pick(["end", "reset"] as const) ?? "end";
  return plan(bytes.subarray(0, upTo), { at, after, poisons: true });
};

const endless: Recipe = (_, dice) => {
  const first = dice.pick([
    'HTTP/1.1 200 X\r\n\r\n{"response":"OK","x":"',
    `HTTP/1.1 200 X\r\n${chunked}\r\n\r\nfffffff\r\n{"response":"OK","x":"`,
    'HTTP/1.1 200 X\r\ncontent-length: 1000000000\r\n\r\n{"response":"OK","x":"',
    "HTTP/1.1 404 X\r\n\r\n",
    "HTTP/1.1 502 X\r\n\r\n<html>",
  ]) as string;
  return plan(Buffer.from(first), { after: "endless" });
};

const slow: Recipe = (asked, dice) => {
  const body = rightBody(asked, dice);
  const bytes = dice.pick([
    Buffer.alloc(0),
    Buffer.from("HTTP/1.1 200 X\r\n"),
    Buffer.concat([head("HTTP/1.1 200 X", ["content-length: 100000"]), body.subarray(0, 20)]),
  ]) as Buffer;
  return plan(bytes, { after: dice.chance(0.5) ? "drip" : "keep", poisons: true });
};

/** The reply, and right behind it one to a question that nobody asked. */
const followed: Recipe = (asked, dice) => {
  const body = rightBody(asked, dice);
  const stale = http(200, rightBody({ ...asked, filename: "stale.pdf", id: asked.id + 7 }, dice));
  return plan(Buffer.concat([http(200, body), stale]), { body, framing: "whole", poisons: true });
};

/** Repeats what it was sent, in every place that has room for it. */
const echoing: Recipe = (_, dice) => {
  const place = dice.int(0, 4);
  return plan(
    (heard) => {
      const said = heard.body.subarray(0, 4_000);
      const line = said.toString("latin1").replaceAll(/[^\x20-\x7e]/g, "");
      const key = new URLSearchParams(line).get("acc_key") ?? "key";
      return [
        http(200, said),
        http(500, said),
        http(200, Buffer.from(JSON.stringify({ response: "ERROR", responseDescription: key }))),
        Buffer.from(`HTTP/1.1 200 ${line.slice(0, 99)}\r\n\u0000${line}`),
        said,
      ][place] as Buffer;
    },
    { after: "end" },
  );
};

const damaged: Recipe = (asked, dice) => {
  const body = rightBody(asked, dice);
  const bytes = http(200, body);
  const headBytes = bytes.length - body.length;
  for (let n = dice.int(1, 3); n > 0; n--) bytes[dice.int(0, headBytes - 1)] = dice.int(0, 255);
  const status = /^HTTP\/1\.[01] 2\d\d /.test(bytes.toString("latin1"));
  return plan(bytes, { body, framing: status ? "either" : "torn", after: "end", poisons: true });
};

/** Every way of answering, as often as its weight says; the slow ones cost a whole timeout each. */
export const RECIPES: readonly (readonly [number, string, Recipe])[] = [
  [40, "ordinary", ordinary],
  [8, "statuses", statuses],
  [6, "redirect", redirect],
  [2, "elsewhere named", elsewhereNamed],
  [6, "chunks", chunks],
  [6, "lengths", lengths],
  [4, "headers", headers],
  [4, "not HTTP", notHttp],
  [4, "compressed", compressed],
  [3, "informational", informational],
  [4, "early", early],
  [5, "broken off", brokenOff],
  [1, "endless", endless],
  [0.7, "slow", slow],
  [3, "followed", followed],
  [2, "echoing", echoing],
  [6, "damaged head", damaged],
];

/** A plan for this request. */
export function somePlan(asked: Asked, dice: Dice, elsewhere: string): Plan {
  const [name, recipe] = dice.weighted(RECIPES.map(([weight, ...rest]) => [weight, rest] as const));
  return { recipe: name, ...recipe(asked, dice, elsewhere) };
}
