/** What the one archive of `archive:` is called, and the first archive of every journal. */
export const FIRST_ARCHIVE = "main";

/** What the name of an archive that was replaced ends with; no configured name has a space. */
export function retiredSuffix(at: number): string {
  return ` until ${new Date(at).toISOString()}`;
}

/** Whether an archive of this name was replaced: what was sent to it is history. */
export function isRetired(name: string): boolean {
  return / until \d{4}-[-T:.\d]+Z$/.test(name);
}
