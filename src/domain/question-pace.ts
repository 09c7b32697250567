/**
 * How often a folder is asked about. Documents fall due one by one, and a question about each as it
 * falls due would be as many questions as there are documents; those that wait for one another share
 * a list. Pure.
 */

/** So many documents on their way to CONVERTED are followed one by one: nobody waits for anyone. */
const FEW = 100;
/** What each further one adds to the time for which a folder rests. */
const REST_MS_EACH = 10;
const REST_MS_MAX = 15_000;

/** How long a folder that was asked about rests, by how many documents are outstanding in all; ms. */
export function restAfterQuestionMs(outstanding: number): number {
  return Math.min(REST_MS_MAX, Math.max(0, outstanding - FEW) * REST_MS_EACH);
}
