/** The kinds of value that channels are made of. */
import { type Kind, kind } from "./kind.ts";
import { textIn } from "./kinds.ts";
import { quoted } from "./quoted.ts";

/** An address that is called; whatever is wrong with it, it is not told: it may be a secret. */
export function webAddress(): Kind<string> {
  return kind("http or https URL", (value, refuse) => {
    const text = textIn(value, () => refuse("is not text", "put it in quotes"));
    const fix = "write https://HOST/PATH";
    if (!/^https?:\/\//i.test(text) || !URL.canParse(text) || /[\s\\]/.test(text))
      return refuse("is not an http or https URL", fix);
    const { username, password } = new URL(text);
    if (username !== "" || password !== "") return refuse("has a user or a password", fix);
    return text;
  });
}

/** One address of mail, without a name next to it. */
export function mailAddress(): Kind<string> {
  return kind("mail address", (value, refuse) => {
    const text = textIn(value, refuse);
    if (/^[^\s@<>,;:"()[\]\\\p{Cc}]+@[^\s@<>,;:"()[\]\\\p{Cc}]+$/u.test(text)) return text;
    return refuse(`${quoted(text)} is not a mail address`, "write e.g. admin@example.com");
  });
}

/** A program or one of its arguments. */
export function word(): Kind<string> {
  return kind("text", (value, refuse) => {
    const text = typeof value === "number" ? String(value) : textIn(value, refuse);
    if (text.includes("\0")) return refuse("holds a NUL character", "remove it");
    return text;
  });
}

/** The name of a user at a mail server. */
export function userName(): Kind<string> {
  return kind("text", (value, refuse) => {
    const text = textIn(value, refuse);
    if (text === "" || /\p{Cc}/u.test(text))
      return refuse("is no name of a user", "write it in one line");
    return text;
  });
}

/** The name of a header that a request may be given. */
export function headerName(): Kind<string> {
  return kind("header name", (value, refuse) => {
    const text = textIn(value, refuse);
    const name = text.toLowerCase();
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(text))
      return refuse("a header's name is not one", "write letters, digits and -");
    if (/^(host|connection|content-length|transfer-encoding|upgrade|x-scanferry-.*)$/.test(name))
      return refuse(`${quoted(text)} is set by scanferry`, "remove it");
    return text;
  });
}

/** The text of a request. */
export function bodyText(): Kind<string> {
  return kind("text", (value, refuse) => {
    const text = textIn(value, refuse);
    return text === "" ? refuse("is empty", "write a text, or leave the key out") : text;
  });
}
