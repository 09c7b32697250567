import type { UsageBucket } from "../journal/usage-bucket.ts";
import { local } from "./message.ts";
import { counted, type Situation } from "./situation.ts";
import type { Notification, Alert } from "./alert.ts";

/** What a digest is made of. Times are epoch milliseconds. */
export type Digested = {
  readonly from: number;
  readonly to: number;
  readonly usageBuckets: readonly UsageBucket[];
  readonly nameOf: (mirrorId: number) => string;
  readonly documents: Situation["documents"];
  readonly alerts: readonly Alert[];
};

const ON_THE_WAY = ["settling", "pending", "uploading", "inDoubt", "uploaded"] as const;
const STOPPED = ["held", "failed"] as const;

/** A summary: what was archived since the last one, what is on its way, and what is wrong. */
export function digestOf(digested: Digested): Notification {
  const { from, to, usageBuckets, nameOf, documents, alerts } = digested;
  const sum = (of: readonly UsageBucket[], key: "converted" | "pages") =>
    of.reduce((all, usageBucket) => all + usageBucket[key], 0);
  const lines = [...Map.groupBy(usageBuckets, ({ mirrorId }) => mirrorId)].map(
    ([id, of]) => `${nameOf(id)}: ${counted(sum(of, "converted"))}, ${sum(of, "pages")} pages`,
  );
  const some = (states: readonly (keyof typeof documents)[]) =>
    states.filter((state) => documents[state] > 0).map((state) => `${documents[state]} ${state}`);
  const now = [...some(ON_THE_WAY), ...some(STOPPED)].join(", ");
  return {
    kind: "digest",
    cause: "digest",
    what: "happened",
    title: `${counted(sum(usageBuckets, "converted"))} archived, ${wrong(alerts.length)}`,
    detail: [
      `From ${local(from)} to ${local(to)}:`,
      ...(lines.length > 0 ? lines : ["nothing was archived."]),
      `Now: ${now === "" ? "nothing waits" : now}.`,
      ...alerts.map(({ title, hint }) => `- ${title}.${hint === "" ? "" : ` ${hint}`}`),
    ].join("\n"),
    hint: "",
    since: from,
    times: 1,
  };
}

function wrong(alerts: number): string {
  if (alerts === 0) return "nothing is wrong";
  return alerts === 1 ? "one thing is wrong" : `${alerts} things are wrong`;
}
