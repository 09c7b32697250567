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
  /** Only what last changed in this time; epoch milliseconds, `to` not included. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  /** Only what comes after this place of an earlier answer. */
  readonly after?: Place | undefined;
  /** Documents in the answer at most. */
  readonly limit: number;
};

/** Where a page of the list ends: its last document's last change, epoch milliseconds, and its id. */
export type Place = { readonly at: number; readonly id: number };

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
  after: z
    .string()
    .regex(/^\d{1,15}\.\d{1,15}$/)
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
      `state: some of ${STATES.join(",")}; q: at most ${TEXT_MAX} characters; mirror: its name; code: a reason; from, to: epoch milliseconds; after: \`next\` of an answer; limit: 1 to ${LIMIT_MAX}.`,
    );
  const { state, q, limit, mirror, code, from, to, after } = parsed.data;
  const [at, id] = (after ?? "").split(".").map(Number);
  return {
    states: state,
    text: foldedOf(q.trim()),
    limit,
    // The empty choice of a form.
    mirror: mirror === "" ? undefined : mirror,
    code: code === "" ? undefined : code,
    from,
    to,
    after: at === undefined || id === undefined ? undefined : { at, id },
  };
}

/** Text for comparing: either case, and letters with marks in either spelling. */
export function foldedOf(text: string): string {
  return text.normalize("NFC").toLowerCase();
}
