import type { UsageBucket } from "../journal/usage-bucket.ts";
import { local } from "./message.ts";
import { counted } from "../std/wording.ts";
import { type Finding, MOVING } from "../report/finding.ts";
import type { Notification } from "./alert.ts";
import type { StatusReport } from "../report/status.ts";

/** What a digest is made of. Times are epoch milliseconds. */
export type DigestContent = {
  readonly from: number;
  readonly to: number;
  readonly usageBuckets: readonly UsageBucket[];
  readonly nameOf: (mirrorId: number) => string;
  readonly documents: StatusReport["documents"];
  readonly findings: readonly Finding[];
};

const STOPPED = ["held", "failed"] as const;

/** A summary: what was archived since the last one, what is on its way, and what is wrong. */
export function digestOf(digested: DigestContent): Notification {
  const { from, to, usageBuckets, nameOf, documents, findings } = digested;
  const sum = (of: readonly UsageBucket[], key: "converted" | "pages") =>
    of.reduce((all, usageBucket) => all + usageBucket[key], 0);
  const lines = [...Map.groupBy(usageBuckets, ({ mirrorId }) => mirrorId)].map(
    ([id, of]) =>
      `${nameOf(id)}: ${counted(sum(of, "converted"), "document")}, ${sum(of, "pages")} pages`,
  );
  const some = (states: readonly (keyof typeof documents)[]) =>
    states.filter((state) => documents[state] > 0).map((state) => `${documents[state]} ${state}`);
  const now = [...some(MOVING), ...some(STOPPED)].join(", ");
  return {
    kind: "digest",
    cause: "digest",
    what: "happened",
    title: `${counted(sum(usageBuckets, "converted"), "document")} archived, ${wrong(findings.filter(({ severity }) => severity !== "info").length)}`,
    detail: [
      `From ${local(from)} to ${local(to)}:`,
      ...(lines.length > 0 ? lines : ["nothing was archived."]),
      `Now: ${now === "" ? "nothing waits" : now}.`,
      ...findings.map(({ title, fix }) => `- ${title}.${fix === "" ? "" : ` ${fix}`}`),
    ].join("\n"),
    hint: "",
    since: from,
    times: 1,
  };
}

function wrong(findings: number): string {
  if (findings === 0) return "nothing is wrong";
  return findings === 1 ? "one thing is wrong" : `${findings} things are wrong`;
}
