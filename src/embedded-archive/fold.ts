/**
 * Marks on one letter beyond those that Unicode's Stream-Safe Text Format allows, more than any script
 * has: putting them in order takes the square of their number.
 */
const MARKS_TOO_MANY = /(\p{M}{30})\p{M}+/gu;

/**
 * The form in which texts are compared and ordered: capitals and ways of writing an accent do not
 * count. By way of the capitals, for some letters share one (σ and ς), or have two in its place (ß).
 */
export function fold(text: unknown): string {
  if (typeof text !== "string") return "";
  const small = text.replace(MARKS_TOO_MANY, "$1").normalize("NFC").toLowerCase();
  // All ASCII, as most are: nothing is left to fold.
  if (Buffer.byteLength(small) === small.length) return small;
  const capitals = small.toUpperCase();
  // Lower case tells a sigma at a word's end from others, and a text may end in the middle of a word.
  return capitals.toLowerCase().replaceAll("ς", "σ").normalize("NFC");
}
