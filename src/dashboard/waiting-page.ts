/** What answers in the page's place while the daemon waits for what it cannot begin without. */
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "../std/clock.ts";
import type { Fault } from "../std/fault.ts";
import type { Log } from "../std/log.ts";
import { addressOf, listenFault } from "./address.ts";
import { isTrusted } from "./admission.ts";
import { Attempts, Pass } from "./pass.ts";
import { listenerOf } from "./listener.ts";
import type { DashboardOptions } from "./options.ts";
import { Refusal } from "./refusal.ts";

export type WaitingPageOptions = Pick<DashboardOptions, "listen" | "names" | "token"> & {
  /** What it waits for. */
  readonly fault: () => Fault;
  readonly log: Log;
  readonly clock: Clock;
};

/** Listens until it is disposed of. Rejects with the Fault `WEB_LISTEN` when the address cannot be had. */
export async function openWaitingPage(options: WaitingPageOptions): Promise<AsyncDisposable> {
  const { listen, names, token, fault, log, clock } = options;
  const address = await addressOf(listen, names);
  const pass = token ? new Pass(token, listen.port) : undefined;
  const gatehouse = { address, pass, attempts: new Attempts(clock, log) };
  const app = listenerOf(gatehouse, log);
  const tell = (word: "healthy" | "ready") => (request: FastifyRequest, reply: FastifyReply) => {
    const { code, message } = fault();
    const why = isTrusted(request, gatehouse) ? { why: `${code}: ${message}` } : {};
    return reply
      .code(503)
      .type("application/json; charset=utf-8")
      .send(`${JSON.stringify({ [word]: false, ...why })}\n`);
  };
  app.get("/healthz", tell("healthy"));
  app.get("/readyz", tell("ready"));
  app.get("/*", async () => {
    const { code, message, hint } = fault();
    throw new Refusal(503, code, message, hint);
  });
  try {
    await app.listen({ host: address.ip, port: listen.port });
  } catch (error) {
    await app.close();
    throw listenFault(listen, error);
  }
  return { [Symbol.asyncDispose]: () => app.close() };
}
