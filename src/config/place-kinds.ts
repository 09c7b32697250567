/** Kinds of value: addresses, paths, secrets. */
import type { z } from "zod";
import { type PostgresUrl, postgresUrlIn } from "../network/journal-place.ts";
import { quoted } from "../std/printable.ts";
import type { FileKind } from "../std/small-file.ts";
import {
  declare,
  type Kind,
  kind,
  type KindOptions,
  type Refuse,
  type Secret,
  setting,
} from "./kind.ts";
import { textIn } from "./kinds.ts";

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

/** Larger than any host's whole store. */
const CERTIFICATES: FileKind = { what: "certificate", isSecret: false, bytesMax: 4 * 1024 * 1024 };
const KEY: FileKind = { what: "key", isSecret: true, bytesMax: 64 * 1024 };

/** A file of certificates or of a private key (PEM), as written; or the text itself. */
export function pem(what: "certificates" | "key"): Kind<string> {
  const read = (value: unknown, refuse: Refuse) => {
    // Not told: it may be a key.
    const text = textIn(value, () => refuse("is not text", "name the file"));
    return text.includes("-----BEGIN ") ? text : pathIn(text, refuse);
  };
  return kind("path, or PEM text", read, { file: what === "key" ? KEY : CERTIFICATES });
}

/** A path of this machine; unless it is completed otherwise, a relative one is relative to the configuration file. */
export function localPath(
  completed: KindOptions<string> = { resolve: (path, at) => at(path) },
): Kind<string> {
  return kind("path", (value, refuse) => pathIn(textIn(value, refuse), refuse), completed);
}

/** A path as it may be written. */
export function pathIn(path: string, refuse: Refuse): string {
  if (path.trim() === "") return refuse("a path is empty", "write the path");
  if (path.includes("\0")) return refuse(`${quoted(path)} holds a NUL character`, "remove it");
  if (/^~([/\\]|$)/.test(path)) {
    return refuse(`${quoted(path)} starts with ~, which is not expanded`, "write the whole path");
  }
  // Told without its value, which may hold a password.
  if (/^(?!smb|cifs|nfs|afp)[a-z][a-z0-9+.-]+:\/\//i.test(path)) {
    return refuse("is an address, not a path", "write a path of this host");
  }
  if (isShareAddress(path)) {
    return refuse(`${quoted(path)} is a Windows path or the address of a share`, SHARE_FIX);
  }
  return path;
}

/** A secret's keys: `name` for the value, `nameFile` for its file. */
type SecretKeys<Name extends string> = Record<Name | `${Name}File`, z.ZodOptional<Kind<string>>>;

/** What is said of a secret's keys. */
type SecretAbout = {
  readonly meaning: string;
  readonly example?: string;
  /** An example of its file. */
  readonly file: string;
  /** What applies where it is neither written nor in a variable. */
  readonly otherwise?: string;
};

/** Declares a secret of `kind`: the key of its value, and that of the file which holds it. */
export function secretKeys<const Name extends string>(
  name: Name,
  kindOfValue: Kind<string>,
  said: Pick<Secret, "variable"> & Partial<Secret> & SecretAbout,
): SecretKeys<Name> {
  const { variable, need = () => "required", isOpen = () => false, otherwise } = said;
  const { meaning, example = '"…"', file } = said;
  const last = otherwise === undefined ? "" : `, else ${otherwise}`;
  const without = `\`${name}File\`, else \`$${variable}\`${last}`;
  const secret = { variable, need, isOpen };
  const value = declare(kindOfValue.optional(), { about: { meaning, example, without }, secret });
  // As it is written: a relative one is looked for in several places.
  const ofFile = setting(localPath({}).optional(), { meaning: "Its file.", example: file });
  return { [name]: value, [`${name}File`]: ofFile } as SecretKeys<Name>;
}

/** `postgres://…`. Whatever is wrong with it, its value is not told: it may hold a password. */
export function postgresUrl(): Kind<PostgresUrl> {
  return kind("PostgreSQL URL", (value, refuse) => postgresUrlIn(textIn(value, refuse), refuse));
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

/** `keep`, `delete` or `move:PATH`. */
export function afterwards(): Kind<After> {
  const otherwise = "is none of keep, delete, move:PATH";
  const read = (value: unknown, refuse: Refuse): After => {
    if (value === "delete") return { kind: value };
    return keepOrMove(value, refuse, otherwise, "write keep, delete or move:/srv/done");
  };
  return kind("`keep`, `delete`, `move:PATH`", read, { resolve: moved });
}

/** `keep` or `move:PATH`, for what the archive does not have. */
export function afterVeto(): Kind<AfterVeto> {
  const read = (value: unknown, refuse: Refuse) =>
    keepOrMove(value, refuse, "is neither keep nor move:PATH", "write keep or move:/srv/vetoed");
  return kind("`keep`, `move:PATH`", read, { resolve: moved });
}

function keepOrMove(value: unknown, refuse: Refuse, otherwise: string, fix: string): AfterVeto {
  if (value === "keep") return { kind: value };
  if (typeof value === "string" && value.startsWith("move:")) {
    return { kind: "move", to: pathIn(value.slice("move:".length), refuse) };
  }
  return refuse(`${quoted(value)} ${otherwise}`, fix);
}

function moved<T extends After>(after: T, at: (path: string) => string): T {
  return after.kind === "move" ? { ...after, to: at(after.to) } : after;
}

/** A name or address that a browser may be pointed at: no port, no scheme; lower case. */
export function hostName(): Kind<string> {
  return kind("host name", (value, refuse) => {
    const fix = "write the name alone, e.g. scans.example.com";
    const isName = typeof value === "string" && /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/i.test(value);
    return isName ? value.toLowerCase() : refuse(`${quoted(value)} is no host name`, fix);
  });
}

/** A host, without brackets, and a port of it. */
type Address = { readonly host: string; readonly port: number };

/** `HOST:PORT`, or `off`, which YAML 1.1 reads as false. */
export function listener(): Kind<Address | undefined> {
  return kind("`HOST:PORT`, `off`", (value, refuse) => {
    if (value === "off" || value === false) return undefined;
    return addressIn(value, (message, fix) => refuse(message, `${fix}, or off`));
  });
}

/** `HOST:PORT`; an IPv6 address stands in brackets; port 0 is any free one. */
export function address(): Kind<Address> {
  return kind("`HOST:PORT`", addressIn);
}

function addressIn(value: unknown, refuse: Refuse): Address {
  const fix = 'write HOST:PORT, e.g. 127.0.0.1:8470 or "[::1]:8470"';
  const [, v6, name, digits] =
    typeof value === "string"
      ? (/^(?:\[([0-9a-f:.]+)\]|([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)):(\d{1,5})$/i.exec(value) ?? [])
      : [];
  const host = v6 ?? name;
  if (host === undefined || !URL.canParse(`http://${v6 === undefined ? host : `[${host}]`}`)) {
    return refuse(`${quoted(value)} is not HOST:PORT`, fix);
  }
  const port = Number(digits);
  if (port > 65_535) return refuse(`${port} is no port`, "write a port from 0 to 65535");
  return { host, port };
}

/** What becomes of documents whose archive folder does not exist. */
export type MissingFolder =
  | { readonly kind: "hold" }
  | { readonly kind: "nearest" }
  | { readonly kind: "fallback"; readonly path: string };

/** What becomes of the local file of a vetoed document; `to` is an absolute path. */
export type AfterVeto = { readonly kind: "keep" } | { readonly kind: "move"; readonly to: string };

/** What becomes of a local file once it is CONVERTED and proven. */
export type After = AfterVeto | { readonly kind: "delete" };

/** What to write instead of the address of a share. */
export const SHARE_FIX =
  "mount the share on this machine, and write the folder of the mount, e.g. /mnt/scans (docs/shares.md)";

/** `C:\scans`, `\\nas\scans`, `//nas/scans`, `smb://nas/scans`: on this machine it would be a folder of that odd name. */
export function isShareAddress(path: string): boolean {
  return /^(?:[a-z]:(?:[\\/]|$)|\\\\|\/\/|(?:smb|cifs|nfs|afp):)/i.test(path);
}
