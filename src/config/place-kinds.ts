import type { BeforeHook } from "./hooks.ts";
import { type Kind, kind, type Refuse } from "./kind.ts";
import { textIn } from "./kinds.ts";
import { quoted } from "./quoted.ts";

/** The archive's address, `{base_url}`, without a slash at its end. */
export function archiveUrl(): Kind<string> {
  return kind("http or https URL", (value, refuse) => {
    const text = textIn(value, refuse);
    const fix = "write https://HOST or https://HOST/PATH";
    // Told without its value: what stands before an @ or behind a ? is often a password.
    if (/[@?#]/.test(text)) return refuse("has credentials, a query or a fragment", fix);
    if (!/^https?:\/\//i.test(text)) {
      const bare = /^[\w.-]+(:\d+)?(\/[\w./-]*)?$/.test(text);
      return refuse(
        `${quoted(text)} is not an http or https URL`,
        bare ? `write https://${text}` : fix,
      );
    }
    if (!URL.canParse(text) || /[\s\\]/.test(text))
      return refuse(`${quoted(text)} is not a URL`, fix);
    return new URL(text).href.replace(/\/+$/, "");
  });
}

/** `http://[USER:PASSWORD@]HOST:PORT`, or `off`. Whatever is wrong with it, it is not told: it may hold a password. */
export function proxyAddress(): Kind<string> {
  return kind("URL of a proxy, `off`", (value, refuse) => {
    if (value === "off" || value === false) return "off";
    const text = textIn(value, () => refuse("is not text", "put it in quotes"));
    const why = proxyProblem(text);
    return why === undefined ? text : refuse(why, "write http://HOST:PORT or off");
  });
}

/** Why a proxy's address cannot be used; undefined when it can. */
export function proxyProblem(text: string): string | undefined {
  const url = /^https?:\/\/[^\s\\]+$/i.test(text) ? URL.parse(text) : null;
  if (!url) return "is not an http or https URL";
  if (url.pathname !== "/" || url.search !== "" || url.hash !== "") return "names more than a host";
  return undefined;
}

/** The name of the kind that certificates and their keys are of. */
export const PEM = "path, or PEM text";

/** A file of certificates or a key (PEM), as written; or the text itself. */
export function pem(): Kind<string> {
  return kind(PEM, (value, refuse) => {
    // Not told: it may be a key.
    const text = textIn(value, () => refuse("is not text", "name the file"));
    return text.includes("-----BEGIN ") ? text : pathIn(text, refuse);
  });
}

/** A path of this machine, as written; relative ones are relative to the configuration file. */
export function localPath(): Kind<string> {
  return kind("path", (value, refuse) => pathIn(textIn(value, refuse), refuse));
}

/** A path as it may be written. */
export function pathIn(path: string, refuse: Refuse): string {
  if (path.trim() === "") return refuse("a path is empty", "write the path");
  if (path.includes("\0")) return refuse(`${quoted(path)} holds a NUL character`, "remove it");
  if (/^~([/\\]|$)/.test(path)) {
    return refuse(`${quoted(path)} starts with ~, which is not expanded`, "write the whole path");
  }
  if (isShareAddress(path)) {
    return refuse(`${quoted(path)} is a Windows path or the address of a share`, SHARE_FIX);
  }
  return path;
}

/** The path of an archive folder, `/` the root, without a slash at its end. */
export function folderIn(path: string, refuse: Refuse): string {
  if (!path.startsWith("/")) {
    const bare = path.trim().replace(/^\//, "");
    const fix = /^[^\p{Cc}\\~:.]+$/u.test(bare) ? `write /${bare}` : "write a path such as /Scans";
    return refuse(`${quoted(path)} does not start with /`, fix);
  }
  if (path === "/") return path;
  const parts = path.replace(/\/$/, "").slice(1).split("/");
  if (parts.some((part) => part.trim() === "" || part === "." || part === "..")) {
    return refuse(
      `${quoted(path)} has an empty part, "." or ".."`,
      "write a path such as /Scans/2026",
    );
  }
  if (/\p{Cc}/u.test(path)) return refuse(`${quoted(path)} has a control character`, "remove it");
  return `/${parts.join("/")}`;
}

/** `hold`, `nearest` or `fallback:/Path`. */
export function missingFolder(): Kind<MissingFolder> {
  return kind("`hold`, `nearest`, `fallback:/Path`", (value, refuse): MissingFolder => {
    if (value === "hold" || value === "nearest") return { kind: value };
    if (typeof value === "string" && value.startsWith("fallback:")) {
      return { kind: "fallback", path: folderIn(value.slice("fallback:".length), refuse) };
    }
    const fix = "write hold, nearest or fallback:/Path";
    return refuse(`${quoted(value)} is none of hold, nearest, fallback:/Path`, fix);
  });
}

/** `keep`, `delete` or `move:PATH`; the path is as written. */
export function afterwards(): Kind<After> {
  return kind("`keep`, `delete`, `move:PATH`", (value, refuse): After => {
    if (value === "keep" || value === "delete") return { kind: value };
    if (typeof value === "string" && value.startsWith("move:")) {
      return { kind: "move", to: pathIn(value.slice("move:".length), refuse) };
    }
    const fix = "write keep, delete or move:/srv/done";
    return refuse(`${quoted(value)} is none of keep, delete, move:PATH`, fix);
  });
}

/** `keep` or `move:PATH`, for what the archive does not have; the path is as written. */
export function afterAction(): Kind<BeforeHook["afterVeto"]> {
  return kind("`keep`, `move:PATH`", (value, refuse): BeforeHook["afterVeto"] => {
    if (value === "keep") return { kind: value };
    if (typeof value === "string" && value.startsWith("move:")) {
      return { kind: "move", to: pathIn(value.slice("move:".length), refuse) };
    }
    const fix = "write keep or move:/srv/vetoed";
    return refuse(`${quoted(value)} is neither keep nor move:PATH`, fix);
  });
}

/** A name or address that a browser may be pointed at: no port, no scheme; lower case. */
export function hostName(): Kind<string> {
  return kind("host name", (value, refuse) => {
    const fix = "write the name alone, e.g. scans.example.com";
    const isName = typeof value === "string" && /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/i.test(value);
    return isName ? value.toLowerCase() : refuse(`${quoted(value)} is no host name`, fix);
  });
}

/** `HOST:PORT`; an IPv6 address stands in brackets; port 0 is any free one. */
export function listenAddress(): Kind<{ readonly host: string; readonly port: number }> {
  return kind("`HOST:PORT`", (value, refuse) => {
    const fix = 'write HOST:PORT, e.g. 127.0.0.1:8470 or "[::1]:8470"';
    const [, v6, name, digits] =
      typeof value === "string"
        ? (/^(?:\[([0-9a-f:.]+)\]|([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)):(\d{1,5})$/i.exec(value) ??
          [])
        : [];
    const host = v6 ?? name;
    if (host === undefined || !URL.canParse(`http://${v6 === undefined ? host : `[${host}]`}`)) {
      return refuse(`${quoted(value)} is not HOST:PORT`, fix);
    }
    const port = Number(digits);
    if (port > 65_535) return refuse(`${port} is no port`, "write a port from 0 to 65535");
    return { host, port };
  });
}

/** What becomes of documents whose archive folder does not exist. */
export type MissingFolder =
  | { readonly kind: "hold" }
  | { readonly kind: "nearest" }
  | { readonly kind: "fallback"; readonly path: string };

/** What becomes of a local file once it is CONVERTED and proven; `to` is an absolute path. */
export type After =
  | { readonly kind: "keep" }
  | { readonly kind: "delete" }
  | { readonly kind: "move"; readonly to: string };

/** What to write instead of the address of a share. */
export const SHARE_FIX =
  "mount the share on this machine, and write the folder of the mount, e.g. /mnt/scans (docs/shares.md)";

/** `C:\scans`, `\\nas\scans`, `//nas/scans`, `smb://nas/scans`: on this machine it would be a folder of that odd name. */
export function isShareAddress(path: string): boolean {
  return /^(?:[a-z]:(?:[\\/]|$)|\\\\|\/\/|(?:smb|cifs|nfs|afp):)/i.test(path);
}
