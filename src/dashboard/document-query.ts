import { z } from "zod";
import { STATES, type State } from "../domain/document.ts";
import { Refusal } from "./refusal.ts";

/** What `/api/documents` is asked. */
export type DocumentQuery = {
  /** Only these states; none: every state. */
  readonly states: readonly State[];
  /** Part of the path, in either case; empty: any. */
  readonly text: string;
  /** Documents in the answer at most. */
  readonly limit: number;
};

const LIMIT_MAX = 200;
const TEXT_MAX = 200;

/** The parameters of `/api/documents`. */
export const DOCUMENT_QUERY = z.object({
  state: z
    .string()
    .transform((list) => [...new Set(list.split(",").filter((word) => word !== ""))])
    .pipe(z.array(z.enum(STATES)))
    .default([]),
  q: z.string().max(TEXT_MAX).default(""),
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
      `state: some of ${STATES.join(",")}; q: at most ${TEXT_MAX} characters; limit: 1 to ${LIMIT_MAX}.`,
    );
  const { state, q, limit } = parsed.data;
  return { states: state, text: foldedOf(q.trim()), limit };
}

/** Text for comparing: either case, and letters with marks in either spelling. */
export function foldedOf(text: string): string {
  return text.normalize("NFC").toLowerCase();
}
