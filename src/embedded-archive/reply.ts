import type { FastifyReply } from "fastify";
import type { Settings } from "./archive-options.ts";
import { Refusal } from "./refusal.ts";

/** Common conventions, 3. */
export const JSON_TYPE = "application/json;charset=UTF-8";

/** What a reply holds in addition to `response`. */
export type ReplyFields = Record<string, unknown>;

/** A reply before it goes out. */
export type OperationReply = { status: number; body: Record<string, unknown> };

/** Runs an operation; its refusal is an outcome, too. */
export async function outcomeOf(
  settings: Settings,
  work: () => ReplyFields | Promise<ReplyFields>,
): Promise<OperationReply> {
  try {
    return { status: 200, body: { response: "OK", ...(await work()) } };
  } catch (error) {
    if (error instanceof Refusal) return refused(settings, error);
    throw error;
  }
}

/** Errors, 4 and 5: the status and how the code is wrapped are open, so the settings decide. */
export function refused(settings: Settings, { message: code, status }: Refusal): OperationReply {
  const responseDescription = settings.errorStyle === "object" ? { code } : code;
  return {
    status: status ?? settings.errorHttp,
    body: { response: "ERROR", responseDescription },
  };
}

/** Answers with it, in the interface's form. */
export async function send(reply: FastifyReply, { status, body }: OperationReply): Promise<void> {
  await reply.code(status).header("content-type", JSON_TYPE).send(JSON.stringify(body));
}
