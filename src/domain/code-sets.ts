/** Sets of codes, as the rows of `FAILURES` say. */
import { FAILURES, type Failure, type FixedBy } from "./failure.ts";

const codesOf = (is: (failure: Failure) => boolean): readonly string[] =>
  Object.entries<Failure>(FAILURES).flatMap(([code, failure]) => (is(failure) ? [code] : []));

const fixedBy = (what: FixedBy) =>
  codesOf((failure) => failure.fate === "hold" && failure.fixedBy.includes(what));

/** The codes that close the account's gate. */
export const GATE_CODES = codesOf(({ fate }) => fate === "gate");

/** Codes whose documents wait for an archive folder; the folder loop lets them go on. */
export const FOLDER_CODES = fixedBy("folder");

/** Why the rules hold a document that was not sent: other rules, or other notes, may help. */
export const RULE_CODES = fixedBy("rules");

/** What a file next to the document may fix. */
export const COMPANION_CODES = fixedBy("companion");

/** Codes of files that a person may have sent as they are. */
export const ANYWAY_CODES = fixedBy("anyway");

/** Codes of what is held while in doubt, and of nothing else that is held: the archive may have it. */
export const DOUBT_CODES = fixedBy("doubt");

/** Refusals of what goes with a document, or of all of it: fixed by deciding that again, by the rules as they are then. */
export const ATTRIBUTE_CODES = [
  ...fixedBy("attributes"),
  ...Object.keys(FAILURES).filter((code) => /^INVALID_(METADATA_|EXPIRE_DATE)/.test(code)),
];

/** Codes of an archive that took what was sent, and named another document. */
export const TAKEN_CODES: readonly string[] = ["REPLY_MISMATCHED", "DOCUMENT_ID_TAKEN"];

/** What was sent without a reply to a folder that is gone by now. */
export const FOLDER_GONE = "DOUBT_FOLDER_GONE";

/** What was sent without a reply and may be filed in another folder. */
export const ELSEWHERE = "DOUBT_ELSEWHERE";

/** What the archive gave an id for, and has another document under. */
export const ANOTHER_DOCUMENT = "ANOTHER_DOCUMENT";
