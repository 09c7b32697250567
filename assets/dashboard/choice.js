/** What a person decides of documents that the archive may have: each is sent with the content that was shown. */
import { askFirst } from "./ask-first.js";
import { tell } from "./connection.js";
import { strings } from "./strings.js";

/** Of more the command line decides: a person cannot compare them here. */
export const CHOICE_MAX = 200;
/** The archive is asked for folders, which may be large. */
const ANSWER_MS = 120_000;
const PATHS = { adopt: "/api/adopt", sendAsNew: "/api/send-as-new" };

/** True for what is asked of each document, and not of all with one reason. */
export const isChoice = (action) => Object.hasOwn(PATHS, action);

/** Asks once, does it and resolves with what to report; undefined: the person did not want it after all. */
export async function choose(action, question, records) {
  const text = action === "adopt" ? strings.finding.adoptText : `${question.text} ${strings.finding.asNewText}`;
  if (!(await askFirst({ ...question, text }))) return undefined;
  const documents = records.map(({ id, sha256 }) => ({ id, digest: sha256 }));
  const outcome = await tell(PATHS[action], { documents }, ANSWER_MS);
  return strings.asked[action](outcome);
}
