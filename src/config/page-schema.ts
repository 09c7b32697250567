/** The keys of `quota` that are about the page allowance as it is reckoned here; part of `schema.ts`. */
import { z } from "zod";
import { section, setting } from "./kind.ts";
import { choice, givenName, wholeNumber } from "./kinds.ts";

/** More than anybody buys; a bound for slips. */
const PAGES_MAX = 1_000_000_000;

const reserve = section(
  {
    pages: setting(wholeNumber(0, PAGES_MAX).prefault(0), {
      meaning: "So many pages of each month.",
      example: "500",
    }),
    mirrors: setting(z.array(givenName()).prefault([]), {
      meaning: "The names of the mirrors that they are for.",
      example: "[contracts]",
    }),
  },
  "Pages that only some mirrors may use: once the others have used the rest, they wait for the next month.",
);

/** The page allowance. */
export const pageKeys = {
  monthlyPages: setting(wholeNumber(1, PAGES_MAX).optional(), {
    meaning:
      "The A4 pages that the account may upload in a month. Told at 80 % and at 100 %. The archive " +
      "itself keeps count, and its QUOTA_LIMIT is what ends sending.",
    example: "5000",
    without: "pages are told as the archive has counted them, and nothing is made of them",
  }),
  monthBegins: setting(wholeNumber(1, 28).prefault(1), {
    meaning: "The day on which the account's month begins, at midnight in the host's time zone.",
    example: "15",
  }),
  whenUsedUp: setting(choice("warn", "hold").prefault("warn"), {
    meaning:
      "What happens once `monthlyPages` is used up: `warn` goes on sending until the archive refuses, " +
      "`hold` lets the rest wait for the next month, and what needs more pages than are left too.",
    example: "hold",
  }),
  smallFirstBelow: setting(wholeNumber(0, PAGES_MAX).optional(), {
    meaning:
      "While fewer pages than this are left, documents of few pages go first, whatever the mirror's " +
      "`order`. 0: never.",
    example: "200",
    without: "a tenth of `monthlyPages`",
  }),
  unknownPages: setting(wholeNumber(1, 10_000).prefault(1), {
    meaning:
      "What a document counts as whose pages cannot be counted here (office files, mails, digidoc " +
      "containers, protected PDFs), until the archive has counted them.",
    example: "3",
  }),
  reserve,
};
