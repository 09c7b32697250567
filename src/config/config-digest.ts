import { createHmac, getHashes } from "node:crypto";
import { type Kind, kind } from "./kind.ts";
import { textIn } from "./kinds.ts";
import { nearest } from "./nearest.ts";
import { quoted } from "./quoted.ts";

/** A digest that `node:crypto` knows and can make an HMAC with. */
export function digest(): Kind<string> {
  return kind("a digest of `node:crypto`", (value, refuse) => {
    const text = textIn(value, refuse);
    if (fit(text)) return text;
    const meant = nearest(text, getHashes().filter(fit));
    return refuse(
      `${quoted(text)} is not a digest that an HMAC can be made with`,
      meant === undefined ? "write e.g. sha256" : `did you mean ${meant}?`,
    );
  });
}

/** Some listed digests, such as shake128, give no HMAC; only trying tells. */
function fit(name: string): boolean {
  if (!getHashes().some((known) => known.toLowerCase() === name.toLowerCase())) return false;
  try {
    createHmac(name, "key").digest();
    return true;
  } catch {
    return false;
  }
}
