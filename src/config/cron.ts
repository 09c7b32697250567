import { validateDetailed } from "node-cron";
import { type Kind, kind } from "./kind.ts";
import { textIn } from "./kinds.ts";
import { quoted } from "./quoted.ts";

const MEND = 'write 5 fields, or 6 with seconds first, e.g. "*/10 * * * *"';

/** A cron expression of 5 fields, or of 6 with seconds first. Returned as text. */
export function cron(): Kind<string> {
  return kind("cron expression", (value, refuse) => {
    const text = textIn(value, refuse).trim();
    const fields = text.split(/\s+/).length;
    if (fields !== 5 && fields !== 6) {
      return refuse(`${quoted(value)} is not a cron expression`, MEND);
    }
    const { valid, errors } = validateDetailed(text);
    if (valid) return text;
    const wrong = errors.map(({ field }) => field).join(", ");
    return refuse(`${quoted(text)} is not a cron expression (wrong: ${wrong})`, MEND);
  });
}
