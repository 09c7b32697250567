/**
 * What every kind of reply proves: each HTTP status, with each form of a body, to each operation, before
 * and after the whole request went out. The table is the specification; the code has to agree.
 */
import { describe, expect, test } from "vitest";
import { ArchiveError } from "../../../src/archive/archive-error.ts";
import { classifyReply } from "../../../src/archive/classify-reply.ts";
import { failureOf } from "../../../src/domain/failure.ts";
import { OF_ONE_REQUEST } from "../../../src/domain/lookup-failures.ts";
import { eventFor } from "../../../src/domain/event-for.ts";
import { CODES } from "../../../src/wire/codes.ts";
import { type Operation, PATHS } from "../../../src/wire/shapes.ts";
import { inState } from "../../fixtures/a-document.ts";

/**
 * - `result`: it is taken for what it says.
 * - `doubt`: it may be stored; nothing is sent again before a look at the archive.
 * - `refused`: the archive said no in its own words; not stored.
 * - `not`: not stored, by the status; held and tried again.
 * - `one`: not stored, and about nothing but this request; never counted for the account.
 * - `busy`: not stored; tried again after a pause.
 * - `account?`: not stored, if a look-up is refused as well; of a look-up: the account is refused.
 * - `doubt?`: the account, if a look-up is refused as well; else in doubt.
 */
type Proof = "result" | "doubt" | "refused" | "not" | "one" | "busy" | "account?" | "doubt?";

const STATUSES = [
  [[200, 201, 202, 204, 206, 299], "it says that all went well"],
  [[302, 303], "many a server says so when it has done it"],
  [[300, 301, 304, 307, 308, 399], "who wants it elsewhere did not store it"],
  [[401, 403], "the account's status, and that of firewalls"],
  [[408, 409, 425, 499], "the work may have been done, or go on, behind anyone who says so"],
  [[413, 414, 415, 422, 431], "about the size, the head or the form of one request"],
  [[429], "asks for a pause"],
  [[400, 402, 404, 405, 410, 418, 421, 428, 451], "anyone who answered so did not do it"],
  [[500, 502, 503, 504, 520, 524, 599, 600, 999], "it may have failed after it stored"],
] as const;

const error = (responseDescription: unknown) => ({ response: "ERROR", responseDescription });

/** A code that each operation has. */
const CODE_OF: Readonly<Record<Operation, string>> = {
  search: "INVALID_SORT_BY",
  documents: "FOLDER_NOT_EXISTS",
  digidoc: "DOC_NOT_EXIST",
  document: "DOC_NOT_EXIST",
  folders: "FOLDER_NOT_EXISTS",
  folder: "FOLDER_NOT_EXISTS",
  upload: "INVALID_BATCH",
};

/** For each form of a body, what it proves at the statuses above, in that order. */
const BODIES: readonly (readonly [
  name: string,
  body: (operation: Operation) => unknown,
  after: readonly Proof[],
  before: readonly Proof[],
  why: string,
])[] = [
  [
    "an OK that can be read",
    () => ({ response: "OK" }),
    ["result", "doubt", "doubt", "doubt", "doubt", "doubt", "doubt", "doubt", "doubt"],
    ["doubt", "doubt", "doubt", "doubt", "doubt", "doubt", "doubt", "doubt", "doubt"],
    "with another status it contradicts itself, and early it cannot be about the whole file",
  ],
  [
    "an ERROR with a code of the operation",
    (operation) => error(CODE_OF[operation]),
    Array<Proof>(9).fill("refused"),
    Array<Proof>(9).fill("refused"),
    "the status of errors is open: the code counts",
  ],
  [
    "an ERROR that speaks of credentials",
    () => error({ code: "INVALID_SIG" }),
    Array<Proof>(9).fill("account?"),
    Array<Proof>(9).fill("account?"),
    "it got no further than that; but one signature is not the account",
  ],
  [
    "an ERROR with a code of nobody's",
    () => error("SOMETHING_NEW"),
    ["doubt", "doubt", "doubt", "doubt?", "doubt", "doubt", "doubt", "doubt", "doubt"],
    ["not", "not", "not", "account?", "not", "not", "busy", "not", "doubt"],
    "whatever it means, it may have been found out after it was stored",
  ],
  [
    "an ERROR without a code",
    () => error(null),
    ["doubt", "doubt", "doubt", "doubt?", "doubt", "doubt", "doubt", "doubt", "doubt"],
    ["doubt", "not", "not", "account?", "not", "one", "busy", "not", "doubt"],
    "it says even less",
  ],
  ...[
    ["a page of HTML", "<html><h1>nginx</h1>"],
    ["nothing", ""],
    ["half a reply", '{"response":"OK","docu'],
    ["another service's JSON", '{"error":"forbidden","status":"failed"}'],
    ["neither OK nor ERROR", '{"response":"MAYBE"}'],
    ["more than is read", "too big"],
    ["a compressed body", "encoded"],
  ].map(
    ([name, body]) =>
      [
        name ?? "",
        () => body,
        ["doubt", "doubt", "not", "account?", "doubt", "one", "busy", "not", "doubt"],
        ["doubt", "not", "not", "account?", "not", "one", "busy", "not", "doubt"],
        "without a word of the interface only the status is left",
      ] as const,
  ),
];

const ROWS = BODIES.flatMap(([name, body, after, before, why]) =>
  [true, false].map((whole) => ({ name, body, whole, why, proofs: whole ? after : before })),
);

const policy = {
  retry: { initialMs: 1_000, maxMs: 60_000 },
  hold: { initialMs: 30_000, maxMs: 600_000 },
  poll: { initialMs: 2_000, maxMs: 60_000 },
  settleMs: 3_000,
  random: () => 1,
};

function errorOf(
  operation: Operation,
  status: number,
  body: unknown,
  afterRequest: boolean,
): ArchiveError | "result" {
  const bytes = typeof body === "string" ? body : JSON.stringify(body);
  const isUnread = bytes === "too big" || bytes === "encoded";
  const reply = { status, headers: {}, body: isUnread ? bytes : Buffer.from(bytes), afterRequest };
  try {
    return classifyReply(
      reply as never,
      { operation, now: 0, secrets: [] },
      () => "result" as const,
    );
  } catch (thrown) {
    if (thrown instanceof ArchiveError) return thrown;
    throw thrown;
  }
}

/** What the daemon makes of an upload that ended so. */
function proofOf(found: ArchiveError | "result"): Proof {
  if (found === "result") return "result";
  const { outcome } = found;
  const { type } = eventFor(inState("uploading"), outcome, 0, policy);
  const suspected = outcome.credentials;
  if (type === "inDoubt") return suspected ? "doubt?" : "doubt";
  if (suspected) return "account?";
  if (type === "deferred") return "busy";
  if (failureOf(found.code).fate !== "hold") return "refused";
  return OF_ONE_REQUEST.includes(found.code) ? "one" : "not";
}

describe("an upload that is answered", () => {
  describe.for(ROWS)("with $name, the whole request out: $whole, as $why", (row) => {
    test.for(STATUSES.map(([statuses, why], at) => ({ statuses, why, proof: row.proofs[at] })))(
      "and $statuses: $proof; $why",
      ({ statuses, proof }) => {
        for (const status of statuses) {
          const found = errorOf("upload", status, row.body("upload"), row.whole);
          expect([status, proofOf(found)]).toEqual([status, proof]);
        }
      },
    );
  });

  test("one that is not stored is held, and one that is in doubt is not let go by any time", () => {
    for (const { body, whole, proofs } of ROWS) {
      for (const [at, [statuses]] of STATUSES.entries()) {
        for (const status of statuses) {
          const found = errorOf("upload", status, body("upload"), whole);
          if (found === "result") continue;
          const event = eventFor(inState("uploading"), found.outcome, 0, policy);
          const isDoubt = proofs[at]?.startsWith("doubt") === true;
          expect(event.type === "inDoubt", `${status} ${found.message}`).toBe(isDoubt);
          if (proofs[at] === "not" || proofs[at] === "one") {
            expect(event).toMatchObject({ type: "heldBack", dueAt: 30_000 });
          }
        }
      }
    }
  });
});

describe("a look-up that is answered", () => {
  const lookUps = Object.keys(PATHS).filter((each) => each !== "upload") as Exclude<
    Operation,
    "upload"
  >[];

  test.for(lookUps)("%s: the same, and refused credentials are the account's", (operation) => {
    for (const { body, proofs } of ROWS.filter(({ whole }) => whole)) {
      for (const [at, [statuses]] of STATUSES.entries()) {
        for (const status of statuses) {
          const found = errorOf(operation, status, body(operation), true);
          if (found === "result") {
            expect(proofs[at]).toBe("result");
            continue;
          }
          const isAccount = proofs[at]?.endsWith("?") === true;
          const isDoubt = proofs[at]?.startsWith("doubt") === true;
          expect([status, found.kind]).toEqual([status, isDoubt ? "inDoubt" : "refused"]);
          expect(found.problem.code === "CREDENTIALS_REFUSED").toBe(isAccount);
        }
      }
    }
  });

  test("each has a code of its own in the table", () => {
    for (const [operation, code] of Object.entries(CODE_OF)) {
      expect(CODES[operation as Operation]).toContain(code);
    }
  });
});
