/** The keys of an archive: where it is, and the account there. */
import { z } from "zod";
import { SECRET_SCHEMES } from "../domain/signing.ts";
import { digest } from "./digest.ts";
import { section, setting } from "./kind.ts";
import { archiveName, choice, duration, secret } from "./kinds.ts";
import { archiveUrl, localPath, pem, proxyAddress } from "./places.ts";

const signing = section(
  {
    scheme: setting(choice(...SECRET_SCHEMES, "none", "module").prefault("hmac"), {
      meaning:
        "`hmac` signs the request's fields with a secret; `hmac2` also what is asked, when, and the file's content " +
        "([what each protects](archive-interface.md#what-a-signature-protects)); `none` sends `sig=none`, `module` " +
        "asks a module of yours.",
      example: "hmac",
    }),
    algorithm: setting(digest().prefault("sha256"), {
      meaning: "For `hmac` and `hmac2`: the digest.",
      example: "sha512",
    }),
    encoding: setting(choice("base64", "hex").prefault("base64"), {
      meaning: "For `hmac` and `hmac2`: how the signature is written.",
      example: "hex",
    }),
    secret: setting(secret().optional(), {
      meaning:
        "For `hmac` and `hmac2`: the secret itself. The file must then be readable by its owner alone.",
      example: '"…"',
      without:
        "`secretFile`, else `$SCANFERRY_SIGNING_SECRET`; one of them is required for `hmac` and `hmac2`",
    }),
    secretFile: setting(localPath().optional(), {
      meaning: "For `hmac` and `hmac2`: the file that holds the secret.",
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
    proxy: setting(proxyAddress().optional(), {
      meaning:
        "The HTTP proxy that leads to the archive, and to what `notify` calls by HTTP: `http://HOST:PORT`, with " +
        "`USER:PASSWORD@` where it asks for them; the file must then be readable by its owner alone. `off`: none, " +
        "whatever the environment says.",
      example: "http://proxy.example.com:3128",
      without:
        "`proxyFile`, else `$SCANFERRY_ARCHIVE_PROXY`, else `$HTTPS_PROXY` or `$HTTP_PROXY` unless `$NO_PROXY` " +
        "excepts the host",
    }),
    proxyFile: setting(localPath().optional(), {
      meaning: "The file that holds the proxy's address.",
      example: "/etc/scanferry/proxy.url",
    }),
    ca: setting(pem().optional(), {
      meaning:
        "Authorities that are trusted beside those of this host: a file of certificates (PEM), or their text. For " +
        "the archive, and for what `notify` calls.",
      example: "/etc/scanferry/office-ca.crt",
      without: "those that Node knows, and those of this host (`/etc/ssl/certs`)",
    }),
    clientCert: setting(pem().optional(), {
      meaning:
        "For an archive that asks for a client certificate (mutual TLS): its file (PEM), with those between it and " +
        "its authority, or its text. Read again when it changes.",
      example: "/etc/scanferry/client.crt",
      without: "none is shown",
    }),
    clientKey: setting(pem().optional(), {
      meaning: "With `clientCert`: its private key (PEM), a file of mode 600, or its text.",
      example: "/etc/scanferry/client.key",
      without: "required with `clientCert`",
    }),
    timeout: setting(duration("1ms", "1d").prefault("60s"), {
      meaning: "How long a request waits for the archive before it counts as failed.",
      example: "2m",
    }),
    storedSize: setting(choice("same", "any").prefault("same"), {
      meaning:
        "What `filesize` the archive reports of a document once it is CONVERTED: the `same` as was sent, or `any`, " +
        "where it changes documents on purpose (compresses or stamps them). With `same`, a file whose document has " +
        "another size is never moved or deleted, and `verify` says so.",
      example: "any",
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
