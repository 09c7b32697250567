import { WEBHOOK_NEEDS, type WebhookNeeds } from "../domain/webhook-format.ts";
import type { ConfigProblems } from "./config-problems.ts";
import { isLoopback } from "../network/proxies.ts";
import { quoted } from "./quoted.ts";
import type { Sketch } from "./file-schema.ts";

/** Channels that cannot be told apart, and passwords that would travel in the open. */
export function reportChannels({ notify }: Sketch, findings: ConfigProblems): void {
  const names = new Set<string>();
  for (const by of ["mail", "webhook", "command"] as const) {
    for (const [at, channel] of (notify?.[by] ?? []).entries()) {
      const name = channel?.name ?? by;
      if (names.has(name)) {
        const message = `${quoted(name)} is the name of another channel too`;
        findings.report(["notify", by, at, "name"], message, "give it a name of its own");
      }
      names.add(name);
    }
  }
  for (const [at, channel] of (notify?.webhook ?? []).entries()) {
    const { format = "json", to, token, tokenFile, body } = channel ?? {};
    const needs: WebhookNeeds = WEBHOOK_NEEDS[format];
    const key = (name: string) => ["notify", "webhook", at, name];
    if (needs.to === "required" && to === undefined)
      findings.report(
        key("to"),
        "is missing",
        `write ${format === "matrix" ? "the room's id" : "the user's key"}`,
      );
    if (needs.to === "unused" && to !== undefined)
      findings.report(key("to"), `${format} takes none`, "remove it");
    if (needs.token === "unused" && (token ?? tokenFile) !== undefined)
      findings.report(
        key(token === undefined ? "tokenFile" : "token"),
        `${format} takes none`,
        "remove it",
      );
    if (body !== undefined && format !== "json")
      findings.report(key("body"), `is given next to format: ${format}`, "keep one of them");
  }
  for (const [at, channel] of (notify?.mail ?? []).entries()) {
    const { tls, user, server } = channel ?? {};
    if (tls !== "none" || user === undefined || isLoopback(server?.host ?? "")) continue;
    const message = "none would send the password in the open";
    findings.report(["notify", "mail", at, "tls"], message, "write starttls or tls");
  }
}
