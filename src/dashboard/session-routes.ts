/** Signing in and out: for browsers, which get a cookie for the token. Programs send the token each time. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { z } from "zod";
import type { Gatehouse } from "./admission.ts";
import type { Pass } from "./pass.ts";
import { Refusal } from "./refusal.ts";

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
