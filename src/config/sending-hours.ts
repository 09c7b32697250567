import { DAY_MINUTES, type HoursWindow } from "../domain/hours.ts";
import { type Kind, kind, type Refuse } from "./kind.ts";
import { quoted } from "./quoted.ts";

const FIX = 'write windows such as "18:00-07:00" or "18:00-07:00, 12:00-13:00"';
const WINDOW = /^(\d{1,2}):(\d{2}) ?[-–] ?(\d{1,2}):(\d{2})$/;

/** `HH:MM-HH:MM`, one or more with commas between them; over midnight where the end is earlier. */
export function sendingHours(): Kind<HoursWindow[]> {
  return kind("`HH:MM-HH:MM`, several with commas", (value, refuse): HoursWindow[] => {
    if (typeof value !== "string") return refuse(`${quoted(value)} is no hours`, FIX);
    return value.split(",").map((part) => windowIn(part.trim(), refuse));
  });
}

function windowIn(text: string, refuse: Refuse): HoursWindow {
  const found = WINDOW.exec(text);
  if (!found) return refuse(`${quoted(text)} is no window of hours`, FIX);
  const [hour = 0, minute = 0, toHour = 0, toMinute = 0] = found.slice(1).map(Number);
  const [from, to] = [hour * 60 + minute, toHour * 60 + toMinute];
  if (minute > 59 || toMinute > 59 || from >= DAY_MINUTES || to > DAY_MINUTES) {
    return refuse(`${quoted(text)} names a time that no clock shows`, FIX);
  }
  if (from === to) {
    const fix = "write 00:00-24:00, or leave the key out, to send at all hours";
    return refuse(`${quoted(text)} is no time at all`, fix);
  }
  return { from, to };
}
