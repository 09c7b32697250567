import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import { Fault, messageOf } from "../std/fault.ts";
import type { Log } from "../std/log.ts";
import type { ApiRoute } from "./api-document.ts";
import type { ShownDocument } from "../sync/first-run-choice.ts";
import type { Actions } from "./options.ts";
import { Refusal } from "./refusal.ts";
import type { Gatehouse } from "./admission.ts";
import type { Pass } from "./pass.ts";

/** Documents of one request; for more there is the command line. */
const RETRY_MAX = 1_000;
const ANYWAY = { anyway: z.boolean().optional() };
const RETRY = z.union([
  z.strictObject({ ids: z.array(z.int().positive()).min(1).max(RETRY_MAX), ...ANYWAY }),
  z.strictObject({
    state: z.enum(["held", "failed", "settling"]),
    code: z.string().regex(/^\w{1,64}$/),
    ...ANYWAY,
  }),
]);
/** Documents of one choice: as many as a page shows before it asks. */
const CHOICE_MAX = 200;
const CHOICE = z.strictObject({
  documents: z
    .array(z.strictObject({ id: z.int().positive(), digest: z.string().regex(/^[\da-f]{64}$/) }))
    .min(1)
    .max(CHOICE_MAX),
});
const NOTHING = z.strictObject({});

/** The routes that change something; POST only. */
const ACTION_PATHS = [
  "/api/retry",
  "/api/adopt",
  "/api/send-as-new",
  "/api/pause",
  "/api/resume",
  "/api/rescan",
] as const;

/** The same, as the API's document has them. */
export const ACTIONS: readonly ApiRoute[] = [
  {
    method: "post",
    path: "/api/retry",
    summary:
      "Puts held or failed documents back in the queue, by their ids or all with one reason; `anyway`: also files that are unfinished. Answers how many documents it changed.",
    body: RETRY,
  },
  {
    method: "post",
    path: "/api/adopt",
    summary:
      "Links documents that are held as FIRST_RUN to what the archive has, as `scanferry adopt` does; each has to have the SHA-256 that was shown. Answers how many it linked, how many are `unclear` and how many have `changed`.",
    body: CHOICE,
  },
  {
    method: "post",
    path: "/api/send-as-new",
    summary:
      "Sends such documents although the archive may have them. Answers how many, and how many have `changed`.",
    body: CHOICE,
  },
  { method: "post", path: "/api/pause", summary: "Stops sending.", body: NOTHING },
  { method: "post", path: "/api/resume", summary: "Sends again.", body: NOTHING },
  { method: "post", path: "/api/rescan", summary: "Scans every source now.", body: NOTHING },
];

/** Adds them to the listener; `done` is called after each. */
export function addActions(
  app: FastifyInstance,
  { actions, log, done }: { actions: Actions; log: Log; done: () => void },
): void {
  const work: {
    readonly [P in (typeof ACTION_PATHS)[number]]: (body: unknown) => Promise<object | void>;
  } = {
    "/api/retry": async (body) => {
      const { anyway = false, ...which } = bodyOf(RETRY, body);
      const chosen = "ids" in which ? [...new Set(which.ids)] : which;
      return { documents: await actions.retry(chosen, anyway) };
    },
    "/api/adopt": (body) => actions.adopt(shownIn(body)),
    "/api/send-as-new": (body) => actions.sendAsNew(shownIn(body)),
    "/api/pause": (body) => only(body, () => actions.pause()),
    "/api/resume": (body) => only(body, () => actions.resume()),
    "/api/rescan": (body) => only(body, () => actions.rescan()),
  };
  for (const path of ACTION_PATHS) {
    app.post(path, async ({ body, ip }) => {
      let outcome: object | void;
      try {
        outcome = await work[path](body);
      } catch (error) {
        throw error instanceof Fault ? refusalOf(error) : error;
      } finally {
        done();
      }
      log.info({ action: path.slice("/api/".length), from: ip }, "action requested on the page");
      return { done: true, ...outcome };
    });
  }
  app.addContentTypeParser<string>(
    "application/json",
    { parseAs: "string" },
    async (_request: FastifyRequest, text: string) => jsonOf(text),
  );
}

/** Each document once. */
function shownIn(body: unknown): ShownDocument[] {
  const { documents } = bodyOf(CHOICE, body);
  return [...new Map(documents.map((each) => [each.id, each])).values()];
}

async function only(body: unknown, act: () => Promise<void>): Promise<void> {
  bodyOf(NOTHING, body);
  await act();
}

function jsonOf(text: string): unknown {
  if (text === "") return {};
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Refusal(400, "BAD_BODY", `not JSON: ${messageOf(error)}`, "Send a JSON object.");
  }
}

function bodyOf<T>(schema: z.ZodType<T>, body: unknown): T {
  const parsed = schema.safeParse(body ?? {});
  if (parsed.success) return parsed.data;
  throw new Refusal(
    400,
    "BAD_BODY",
    "the body is not what this route takes",
    `retry takes {"ids": [1 to ${RETRY_MAX} journal ids]} or {"state": "held", "failed" or "settling", "code": a reason}, both with "anyway": true or absent; adopt and send-as-new take {"documents": [{"id": a journal id, "digest": its SHA-256}, 1 to ${CHOICE_MAX}]}; the others take {}.`,
  );
}

function refusalOf({ code, message, hint }: Fault): Refusal {
  return new Refusal(503, code, message, hint);
}

/** Signing in and out: for browsers, which get a cookie for the token. Programs send the token each time. */

const SIGN_IN = z.strictObject({ token: z.string().max(1_000) });

/** Adds them to a listener that has a token. */
export function addSession(app: FastifyInstance, { pass, attempts }: Gatehouse): void {
  if (pass === undefined) return;
  app.post("/sign-in", async (request, reply) => {
    const { success, data } = SIGN_IN.safeParse(request.body);
    if (!success)
      throw new Refusal(400, "BAD_BODY", "the body holds no token", 'Send {"token": "…"}.');
    await attempts.turn(request.ip);
    if (!pass.isToken(data.token)) {
      attempts.failed(request.ip);
      const hint = "The administrator has it: `web.token` or `web.tokenFile` of the configuration.";
      throw new Refusal(401, "TOKEN_WRONG", "the token is wrong", hint);
    }
    reply.header("set-cookie", pass.setCookie(isHttps(request)));
    return { done: true };
  });
  app.post("/sign-out", async (request, reply) => {
    reply.header("set-cookie", pass.endCookie(isHttps(request)));
    return { done: true };
  });
}

/** The answer to an address that brought the token: the same address without it, so that it stays nowhere. */
export function signedIn(request: FastifyRequest, reply: FastifyReply, pass: Pass): FastifyReply {
  const { searchParams } = new URL(request.url, "http://listener");
  searchParams.delete("token");
  const query = searchParams.size === 0 ? "" : `?${searchParams.toString()}`;
  return reply.header("set-cookie", pass.setCookie(isHttps(request))).redirect(`/${query}`, 303);
}

/** As a proxy before it says; anyone who makes that up, weakens nobody's cookie. */
function isHttps({ headers }: FastifyRequest): boolean {
  return headers["x-forwarded-proto"] === "https";
}
