/** What a running daemon says of its own, where the journal cannot tell: that it waits for the journal, say. */
import type { Config } from "../config/config.ts";

/** What `/healthz` answers to who is trusted. */
export type DaemonHealth = { readonly healthy: boolean; readonly why: string };

/** A daemon of this host answers at once. */
const ANSWER_MS_MAX = 1_000;

const ANSWER_LENGTH_MAX = 4_000;

const WILDCARDS: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "::": "[::1]" };

/** Asks the page of `config`; undefined where nothing, or another program, answers there. */
export async function daemonHealth({
  web,
}: Pick<Config, "web">): Promise<DaemonHealth | undefined> {
  if (!web || web.port === 0) return undefined;
  const { host, port, token } = web;
  const name = WILDCARDS[host] ?? (host.includes(":") ? `[${host}]` : host);
  try {
    const reply = await fetch(`http://${name}:${port}/healthz`, {
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      redirect: "error",
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
    });
    return healthIn(JSON.parse((await reply.text()).slice(0, ANSWER_LENGTH_MAX)));
  } catch {
    return undefined;
  }
}

function healthIn(answer: unknown): DaemonHealth | undefined {
  if (typeof answer !== "object" || answer === null) return undefined;
  if (!("healthy" in answer && "why" in answer)) return undefined;
  const { healthy, why } = answer;
  return typeof healthy === "boolean" && typeof why === "string" ? { healthy, why } : undefined;
}
