import type { Outage } from "../sync/outage.ts";
import type { StatusReport } from "../sync/status.ts";

/** What goes on, as far as it is no document's own business. */
export type Standing = {
  readonly report: Pick<StatusReport, "documents" | "paused" | "archives" | "mirrors">;
  /** Archives that are not reached. */
  readonly outages: readonly { readonly archive: string; readonly outage: Outage }[];
  /** Names of the mirrors whose source is away. */
  readonly offline: readonly string[];
  /** Why the page does not listen, which stops nothing else. */
  readonly pageProblem?: string | undefined;
};

const BUSY = ["settling", "pending", "uploading", "inDoubt", "uploaded"] as const;
const WAITING = ["held", "failed"] as const;

/** One line of what goes on, for `systemctl status`: what stops it first, then the numbers. */
export function statusLine({ report, outages, offline, pageProblem }: Standing): string {
  const { documents, paused, archives, mirrors } = report;
  const named = (name: string, before: string) => (archives.length > 1 ? `${before}${name}` : "");
  const numbers = (states: readonly (keyof typeof documents)[]) =>
    states.filter((state) => documents[state] > 0).map((state) => `${documents[state]} ${state}`);
  const stops = [
    ...(paused ? ["paused"] : []),
    ...archives.flatMap(({ name, gate }) =>
      gate ? [`nothing is sent${named(name, " to ")}: ${gate.code}`] : [],
    ),
    ...outages.map(
      ({ archive, outage }) => `archive${named(archive, " ")} not reached: ${outage.problem.code}`,
    ),
    ...offline.map((name) => `source of ${name} offline`),
    ...mirrors.flatMap(({ name, unread }) => (unread ? [`folders of ${name} cannot be read`] : [])),
  ];
  const busy = numbers(BUSY).join(", ") || "idle";
  const page = pageProblem === undefined ? [] : [`no page: ${pageProblem}`];
  return [...stops, busy, `${documents.converted} converted`, ...numbers(WAITING), ...page]
    .join("; ")
    .replaceAll(/\p{Cc}/gu, "?");
}
