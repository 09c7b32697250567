import type { Tally } from "../journal/tally.ts";
import { local } from "./message.ts";
import { counted, type Situation } from "./situation.ts";
import type { Telling, Trouble } from "./trouble.ts";

/** What a digest is made of. Times are epoch milliseconds. */
export type Digested = {
  readonly from: number;
  readonly to: number;
  readonly tallies: readonly Tally[];
  readonly nameOf: (mirrorId: number) => string;
  readonly documents: Situation["documents"];
  readonly troubles: readonly Trouble[];
};

const ON_THE_WAY = ["settling", "pending", "uploading", "inDoubt", "uploaded"] as const;
const STOPPED = ["held", "failed"] as const;

/** A summary: what was archived since the last one, what is on its way, and what is wrong. */
export function digestOf(digested: Digested): Telling {
  const { from, to, tallies, nameOf, documents, troubles } = digested;
  const sum = (of: readonly Tally[], key: "converted" | "pages") =>
    of.reduce((all, tally) => all + tally[key], 0);
  const lines = [...Map.groupBy(tallies, ({ mirrorId }) => mirrorId)].map(
    ([id, of]) => `${nameOf(id)}: ${counted(sum(of, "converted"))}, ${sum(of, "pages")} pages`,
  );
  const some = (states: readonly (keyof typeof documents)[]) =>
    states.filter((state) => documents[state] > 0).map((state) => `${documents[state]} ${state}`);
  const now = [...some(ON_THE_WAY), ...some(STOPPED)].join(", ");
  return {
    kind: "digest",
    cause: "digest",
    what: "happened",
    title: `${counted(sum(tallies, "converted"))} archived, ${wrong(troubles.length)}`,
    detail: [
      `From ${local(from)} to ${local(to)}:`,
      ...(lines.length > 0 ? lines : ["nothing was archived."]),
      `Now: ${now === "" ? "nothing waits" : now}.`,
      ...troubles.map(({ title, hint }) => `- ${title}.${hint === "" ? "" : ` ${hint}`}`),
    ].join("\n"),
    hint: "",
    since: from,
    times: 1,
  };
}

function wrong(troubles: number): string {
  if (troubles === 0) return "nothing is wrong";
  return troubles === 1 ? "one thing is wrong" : `${troubles} things are wrong`;
}
