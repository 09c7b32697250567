/** The one thing that matters first, from a snapshot. Pure: the page shows what this returns. */
import { strings } from "./strings.js";

/** States of documents that are neither archived nor stopped. */
const MOVING = ["settling", "pending", "uploading", "inDoubt", "uploaded"];
const TONES = { error: "bad", warning: "warn" };

/**
 * `places`: the mirrors, where nobody has put a file yet. `tone` is `bad` (something is wrong), `warn` (something waits), `busy`, `good` or `quiet`. `finding` is the finding
 * that the headline shows, if any; `others` are the rest.
 */
export function headlineOf({ findings, documents, mirrors }) {
  const words = strings.headline;
  const finding = findings.find(({ severity }) => severity !== "info");
  const others = findings.filter((one) => one !== finding);
  if (finding) {
    const { title, detail, severity } = finding;
    return { tone: TONES[severity], title, detail, finding, others };
  }
  const moving = MOVING.reduce((all, state) => all + documents[state], 0);
  const { converted } = documents;
  if (moving > 0)
    return { tone: "busy", title: words.moving(moving), detail: words.movingDetail(converted), others };
  if (converted > 0)
    return { tone: "good", title: words.done(converted), detail: words.doneDetail, others };
  return { tone: "quiet", title: words.empty, detail: words.emptyDetail, others, places: mirrors };
}

/** Documents in all states together. */
export function allOf(documents) {
  return Object.values(documents).reduce((all, count) => all + count, 0);
}
