/** The keys of an archive: where it is, and the account there. */
import { z } from "zod";
import { digest } from "./digest.ts";
import { section, setting } from "./kind.ts";
import { archiveName, choice, duration, secret } from "./kinds.ts";
import { archiveUrl, localPath } from "./places.ts";

const signing = section(
  {
    scheme: setting(choice("hmac", "none", "module").prefault("hmac"), {
      meaning:
        "`hmac` signs the request's fields with a secret, `none` sends `sig=none`, `module` asks a module of yours.",
      example: "hmac",
    }),
    algorithm: setting(digest().prefault("sha256"), {
      meaning: "For `hmac`: the digest.",
      example: "sha512",
    }),
    encoding: setting(choice("base64", "hex").prefault("base64"), {
      meaning: "For `hmac`: how the signature is written.",
      example: "hex",
    }),
    secret: setting(secret().optional(), {
      meaning: "For `hmac`: the secret itself. The file must then be readable by its owner alone.",
      example: '"…"',
      without: "`secretFile`, else `$SCANFERRY_SIGNING_SECRET`; one of them is required for `hmac`",
    }),
    secretFile: setting(localPath().optional(), {
      meaning: "For `hmac`: the file that holds the secret.",
      example: "/etc/scanferry/signing.secret",
    }),
    module: setting(localPath().optional(), {
      meaning:
        "For `module`: an ES module whose default export makes the signature: " +
        "`(fields: [name, value][]) => string | Promise<string>`.",
      example: "./sign.mjs",
      without: "required for `module`",
    }),
  },
  "How the field `sig` of every request is made; the archive's operator says which way is right.",
);

/** An archive and the account there. */
export const archiveSchema = section(
  {
    url: setting(archiveUrl(), {
      meaning: "The archive's address, without credentials, query or fragment.",
      example: "https://archive.example.com",
      required: true,
    }),
    accountKey: setting(secret().optional(), {
      meaning: "The account key itself. The file must then be readable by its owner alone.",
      example: '"…"',
      without: "`accountKeyFile`, else `$SCANFERRY_ACCOUNT_KEY`; one of them is required",
    }),
    accountKeyFile: setting(localPath().optional(), {
      meaning: "The file that holds the account key.",
      example: "/etc/scanferry/account.key",
    }),
    signing,
    timeout: setting(duration("1ms", "1d").prefault("60s"), {
      meaning: "How long a request waits for the archive before it counts as failed.",
      example: "2m",
    }),
  },
  "The archive and the account, where there is a single one: it is called `main`.",
);

/** Several archives by their names, in the place of `archive`. */
export const archivesSchema = setting(z.record(archiveName(), archiveSchema).optional(), {
  meaning:
    "Several archives, or accounts of one, by names of yours (`a-z`, `0-9` and `-`), each with the keys " +
    "of `archive`; its environment variables end in its name, as `$SCANFERRY_ACCOUNT_KEY_LEGAL`. Each " +
    "has a quota, a pace and a queue of its own. In the place of `archive`, which is the same as " +
    "one called `main`. The journal knows an archive by its name: it must stay.",
  example: "{ main: { url: https://a.example.com }, legal: { url: https://b.example.com } }",
  without: "`archive` alone",
});
