import type { Links } from "../sync/links.ts";
import { printable } from "../std/printable.ts";
import { counted } from "../std/wording.ts";

/** What to do about a link in a folder's place. */
export const LINK_HINT =
  "Links are never followed: mount the folder there (`mount --bind`), or give it a mirror of its own.";

/** A line for each link that stands where a folder of documents was. */
export function replacedLines(mirror: string, links: Links | null): string[] {
  return (links?.replaced ?? []).map((path) =>
    printable(`${mirror}: ${path} was a folder and is a link now: nothing below it is sent`),
  );
}

/** How many other links are left out; undefined: none. */
export function otherLinksLine(mirror: string, links: Links | null): string | undefined {
  if (!links || links.others === 0) return undefined;
  const verb = links.others === 1 ? "is" : "are";
  return printable(`${mirror}: ${counted(links.others, "link")} ${verb} left out, never followed`);
}

/** Both, of each mirror, with what is to be done. */
export function linkLines(
  mirrors: readonly { readonly name: string; readonly links: Links | null }[],
): string[] {
  const replaced = mirrors.flatMap(({ name, links }) => replacedLines(name, links));
  const others = mirrors.flatMap(({ name, links }) => otherLinksLine(name, links) ?? []);
  return [...replaced, ...(replaced.length > 0 ? [`  ${LINK_HINT}`] : []), ...others];
}
