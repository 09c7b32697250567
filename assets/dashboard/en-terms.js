/** The fixed terms in English: states, and what became of attempts and documents. */

/** As the command line calls them. */
export const STATES = {
  settling: "settling",
  pending: "pending",
  uploading: "uploading",
  inDoubt: "in doubt",
  uploaded: "uploaded",
  converted: "converted",
  held: "held",
  failed: "failed",
};

/** What they mean to a person. */
export const STATE_HELP = {
  settling: "Seen, not yet stable or complete",
  pending: "Ready, waiting for its turn",
  uploading: "Being sent",
  inDoubt: "Sent, reply lost: the archive is asked before anything is sent again",
  uploaded: "In the archive, not yet converted",
  converted: "Converted and proven to be in the archive",
  held: "Waits for something outside, or for a person: its reason says which",
  failed: "Needs a person",
};

/** What became of an attempt. */
export const OUTCOMES = {
  accepted: "accepted",
  deferred: "put off",
  refused: "rejected",
  heldBack: "held",
  inDoubt: "reply lost",
  found: "found in the archive",
  absent: "not in the archive",
};

/** What an event of the history did, where a state does not say it all. */
export const EVENTS = {
  add: "seen",
  note: "noted",
  forget: "forgotten: the file is gone",
  follow: "renamed or moved",
  polled: "asked for: not converted yet",
  looked: "looked for in the archive",
  released: "given back before it was sent",
  goesOn: "continues",
  changed: "the file changed",
  unfinished: "looks unfinished",
};
