import type { Findings } from "./findings.ts";
import { isLoopback } from "../network/proxies.ts";
import { quoted } from "./quoted.ts";
import type { Sketch } from "./schema.ts";

/** Channels that cannot be told apart, and passwords that would travel in the open. */
export function reportChannels({ notify }: Sketch, findings: Findings): void {
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
  for (const [at, channel] of (notify?.mail ?? []).entries()) {
    const { tls, user, server } = channel ?? {};
    if (tls !== "none" || user === undefined || isLoopback(server?.host ?? "")) continue;
    const message = "none would send the password in the open";
    findings.report(["notify", "mail", at, "tls"], message, "write starttls or tls");
  }
}
