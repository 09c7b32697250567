/** What the one archive of `archive:` is called, and the first archive of every journal. */
export const FIRST_ARCHIVE = "main";
