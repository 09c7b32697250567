import { z } from "zod";
import { STATES, type State } from "../domain/document.ts";
import { Refusal } from "./refusal.ts";

/** What `/api/documents` is asked. */
export type DocumentQuery = {
  /** Only these states; none: every state. */
  readonly states: readonly State[];
  /** Part of the path, in either case; empty: any. */
  readonly text: string;
  /** Only of the mirror with this name; undefined: of all. */
  readonly mirror?: string | undefined;
  /** Only with this reason; undefined: with any, and with none. */
  readonly code?: string | undefined;
  /** Only what was first seen in this time; epoch milliseconds, `to` not included. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  readonly sort: Sort;
  /** Only what comes after this place of an earlier answer. */
  readonly after?: Place | undefined;
  /** Documents in the answer at most. */
  readonly limit: number;
};

/**
 * `seen`: the latest first, as they were first seen; `name`: by mirror, folder and name; `state`: in the order of a
 * document's life, and the latest first.
 */
const SORTS = ["seen", "name", "state"] as const;
export type Sort = (typeof SORTS)[number];

/** Where a page of the list ends: at this row, which is, or was, in this state where they are sorted by it. */
export type Place = { readonly state: State | undefined; readonly id: number };

const LIMIT_MAX = 200;
const TEXT_MAX = 200;

const TIME = z
  .string()
  .regex(/^\d{1,15}$/)
  .transform(Number)
  .optional();

/** The parameters of `/api/documents`. */
export const DOCUMENT_QUERY = z.object({
  state: z
    .string()
    .transform((list) => [...new Set(list.split(",").filter((word) => word !== ""))])
    .pipe(z.array(z.enum(STATES)))
    .default([]),
  q: z.string().max(TEXT_MAX).default(""),
  mirror: z.string().max(TEXT_MAX).optional(),
  code: z
    .string()
    .regex(/^\w{0,64}$/)
    .optional(),
  from: TIME,
  to: TIME,
  sort: z.enum(SORTS).default("seen"),
  after: z
    .string()
    .regex(new RegExp(`^(?:(?:${STATES.join("|")})\\.)?\\d{1,15}$`))
    .optional(),
  limit: z
    .string()
    .regex(/^\d{1,3}$/)
    .transform(Number)
    .pipe(z.int().min(1).max(LIMIT_MAX))
    .default(50),
});

/** The query of a URL's parameters. Throws a `Refusal` for what cannot be meant. */
export function documentQueryOf(parameters: unknown): DocumentQuery {
  const parsed = DOCUMENT_QUERY.safeParse(parameters);
  if (!parsed.success)
    throw new Refusal(
      400,
      "BAD_QUERY",
      `unusable: ${parsed.error.issues.map(({ path }) => path[0]).join(", ")}`,
      `state: some of ${STATES.join(",")}; q: at most ${TEXT_MAX} characters; mirror: its name; code: a reason; from, to: epoch milliseconds; sort: ${SORTS.join(", ")}; after: \`next\` of an answer; limit: 1 to ${LIMIT_MAX}.`,
    );
  const { state, q, limit, mirror, code, from, to, sort, after } = parsed.data;
  return {
    states: state,
    text: foldedOf(q.trim()),
    limit,
    // The empty choice of a form.
    mirror: mirror === "" ? undefined : mirror,
    code: code === "" ? undefined : code,
    from,
    to,
    sort,
    after: after === undefined ? undefined : placeOf(after),
  };
}

function placeOf(after: string): Place {
  const [id, state] = after.split(".").toReversed();
  return { state: STATES.find((one) => one === state), id: Number(id) };
}

/** Text for comparing: either case, and letters with marks in either spelling. */
export function foldedOf(text: string): string {
  return text.normalize("NFC").toLowerCase();
}
