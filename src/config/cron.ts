import { createRequire } from "node:module";
import { type Kind, kind } from "./kind.ts";
import { textIn } from "./kinds.ts";
import { quoted } from "./quoted.ts";

const FIX = 'write 5 fields, or 6 with seconds first, e.g. "*/10 * * * *"';

/** Loaded for an expression in a configuration: no command is kept waiting for it by a default. */
const nodeCron = () => createRequire(import.meta.url)("node-cron") as typeof import("node-cron");

/** A cron expression of 5 fields, or of 6 with seconds first. Returned as text; a `default` is not looked at. */
export function cron(): Kind<string> {
  return kind("cron expression", (value, refuse) => {
    const text = textIn(value, refuse).trim();
    const fields = text.split(/\s+/).length;
    if (fields !== 5 && fields !== 6) {
      return refuse(`${quoted(value)} is not a cron expression`, FIX);
    }
    const { valid, errors } = nodeCron().validateDetailed(text);
    if (valid) return text;
    const wrong = errors.map(({ field }) => field).join(", ");
    return refuse(`${quoted(text)} is not a cron expression (wrong: ${wrong})`, FIX);
  });
}
