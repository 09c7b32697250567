/** What an administrator looks at: the log, what is configured, and what `scanferry check` finds. */
import type { FastifyInstance } from "fastify";
import { z } from "zod";
import { messageOf } from "../std/fault.ts";
import { printable } from "../std/printable.ts";
import { levelOf } from "../std/log.ts";
import type { ApiRoute } from "./api-document.ts";
import type { AdministratorView } from "./options.ts";
import { Refusal } from "./refusal.ts";

/** Lines of an answer. */
const LINES_MAX = 500;
const TEXT_MAX = 5_000;
const LEVELS = ["debug", "info", "warn", "error"] as const;
const LEAST = { debug: 0, info: 30, warn: 40, error: 50 } as const;

const LOG_QUERY = z.object({
  level: z.enum(LEVELS).default("debug"),
  mirror: z.string().max(TEXT_MAX).optional(),
  path: z.string().max(TEXT_MAX).optional(),
});

export const INSPECTIONS = [
  {
    method: "get",
    path: "/api/log",
    summary:
      "The latest lines of the log, the latest first: of a level and above, or of one document, by its mirror and path.",
    query: LOG_QUERY,
  },
  {
    method: "get",
    path: "/api/configuration",
    summary: "Each key of the configuration in use that has a value, and where that is from.",
  },
  {
    method: "post",
    path: "/api/check",
    summary: "What `scanferry check --json` prints.",
    body: z.strictObject({}),
  },
] as const satisfies readonly ApiRoute[];

/** One line of the log. */
type LogLine = {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly level: string;
  readonly message: string;
  readonly context: Readonly<Record<string, unknown>>;
};

/** Adds the routes; where there is nothing to look at they answer 404. */
export function addInspection(
  app: FastifyInstance,
  inspection: AdministratorView | undefined,
): void {
  const own = () => {
    if (inspection) return inspection;
    const hint = "`scanferry run` has it.";
    throw new Refusal(404, "NOT_FOUND", "this daemon was not started for it", hint);
  };
  let checking: Promise<object> | undefined;
  app.get("/api/log", async ({ query }) => {
    const parsed = LOG_QUERY.safeParse(query);
    if (parsed.success) return { lines: linesOf(own().lines(), parsed.data) };
    const hint = `level: ${LEVELS.join(", ")}; mirror: its name; path: of a document.`;
    throw new Refusal(400, "BAD_QUERY", "unusable parameters", hint);
  });
  app.get("/api/configuration", async () => ({ keys: own().keys }));
  app.post("/api/check", async () => {
    // It takes a while: those who ask meanwhile get the same answer.
    checking ??= own()
      .check()
      .catch((error: unknown) => {
        const why = `the check gave no answer: ${messageOf(error)}`;
        throw new Refusal(503, "CHECK_FAILED", why, "Run `scanferry check` in a shell.");
      })
      .finally(() => (checking = undefined));
    return checking;
  });
}

function linesOf(lines: readonly string[], asked: z.infer<typeof LOG_QUERY>): LogLine[] {
  const found: LogLine[] = [];
  for (let at = lines.length - 1; at >= 0 && found.length < LINES_MAX; at--) {
    const { time, level, msg, pid: _, ...context } = JSON.parse(lines[at] ?? "{}");
    if (Number(level) < LEAST[asked.level]) continue;
    if (asked.path !== undefined && context.path !== asked.path) continue;
    if (asked.mirror !== undefined && context.mirror !== asked.mirror) continue;
    const line = { level: levelOf(level), message: printable(String(msg)), context };
    found.push({ at: Date.parse(String(time)), ...line });
  }
  return found;
}
