/** The keys of `quota` that are about the page allowance as it is estimated here; part of `schema.ts`. */
import { z } from "zod";
import { section, setting } from "./kind.ts";
import { choice, givenName, wholeNumber } from "./kinds.ts";

/** More than anyone buys; a bound for attributes. */
const PAGES_MAX = 1_000_000_000;

const reserve = section(
  {
    pages: setting(wholeNumber(0, PAGES_MAX).prefault(0), {
      meaning: "How many pages of each month.",
      example: "500",
    }),
    mirrors: setting(z.array(givenName()).prefault([]), {
      meaning: "The mirrors that may use them.",
      example: "[contracts]",
    }),
  },
  "Pages that only some mirrors may use. When the others have used the rest, they wait for the next " +
    "month.",
);

/** The page allowance. */
export const pageKeys = {
  monthlyPages: setting(wholeNumber(1, PAGES_MAX).optional(), {
    meaning:
      "The A4 pages that the account may upload in a month. Warnings come at 80 % and 100 %.",
    example: "5000",
    without: "no warnings",
  }),
  monthBegins: setting(wholeNumber(1, 28).prefault(1), {
    meaning: "The day on which the account's month begins, at midnight in the host's time zone.",
    example: "15",
  }),
  whenUsedUp: setting(choice("warn", "hold").prefault("warn"), {
    meaning:
      "When `monthlyPages` is used up: `warn` continues until the archive refuses; `hold` waits for the " +
      "next month.",
    example: "hold",
  }),
  reserve,
};
