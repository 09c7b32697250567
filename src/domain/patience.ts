import type { Document, Trouble } from "./document.ts";

/** How patient a row is that meets `trouble`: what repeats is waited out longer; new trouble starts over. */
export function patienceOf(
  document: Pick<Document, "trouble" | "patience">,
  trouble: Pick<Trouble, "code">,
): number {
  return document.trouble?.code === trouble.code ? document.patience + 1 : 1;
}
