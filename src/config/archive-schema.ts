/** The keys of an archive: where it is, and the account there. */
import { z } from "zod";
import { SECRET_SCHEMES } from "../domain/signing.ts";
import { digest } from "./config-digest.ts";
import { section, setting } from "./kind.ts";
import { archiveName, choice, duration, secret } from "./kinds.ts";
import { archiveUrl, localPath, pem, proxyAddress } from "./place-kinds.ts";

const signing = section(
  {
    scheme: setting(choice(...SECRET_SCHEMES, "none", "module").prefault("hmac"), {
      meaning:
        "`hmac` signs the request's fields; `hmac2` also operation, time and file ([what each " +
        "protects](archive-interface.md#what-a-signature-protects)); `none` sends `sig=none`; `module` calls " +
        "a module of yours.",
      example: "hmac",
    }),
    algorithm: setting(digest().prefault("sha256"), {
      meaning: "The digest of `hmac` and `hmac2`.",
      example: "sha512",
    }),
    encoding: setting(choice("base64", "hex").prefault("base64"), {
      meaning: "How the signature is written.",
      example: "hex",
    }),
    secret: setting(secret().optional(), {
      meaning: "The secret itself.",
      example: '"…"',
      without: "`secretFile`, else `$SCANFERRY_SIGNING_SECRET`",
    }),
    secretFile: setting(localPath().optional(), {
      meaning: "Its file.",
      example: "/etc/scanferry/signing.secret",
    }),
    module: setting(localPath().optional(), {
      meaning:
        "An ES module whose default export makes the signature: `(fields: [name, value][]) => string | " +
        "Promise<string>`.",
      example: "./sign.mjs",
      without: "required for `module`",
    }),
  },
  "How the field `sig` of every request is made. Ask the archive's operator.",
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
      meaning: "The account key itself.",
      example: '"…"',
      without: "`accountKeyFile`, else `$SCANFERRY_ACCOUNT_KEY`",
    }),
    accountKeyFile: setting(localPath().optional(), {
      meaning: "Its file.",
      example: "/etc/scanferry/account.key",
    }),
    signing,
    proxy: setting(proxyAddress().optional(), {
      meaning:
        "The HTTP proxy for the archive, webhooks and the ping: `http://HOST:PORT`, or with " +
        "`USER:PASSWORD@`. `off`: none.",
      example: "http://proxy.example.com:3128",
      without:
        "`proxyFile`, else `$HTTPS_PROXY` or `$HTTP_PROXY` unless `$NO_PROXY` names the host",
    }),
    proxyFile: setting(localPath().optional(), {
      meaning: "Its file.",
      example: "/etc/scanferry/proxy.url",
    }),
    ca: setting(pem().optional(), {
      meaning:
        "More certificate authorities (a PEM file or its text), for the archive and `notify`.",
      example: "/etc/scanferry/office-ca.crt",
      without: "Node's and the host's",
    }),
    clientCert: setting(pem().optional(), {
      meaning:
        "The client certificate (a PEM file with the intermediate certificates, or its text). Read again " +
        "when it changes.",
      example: "/etc/scanferry/client.crt",
      without: "none",
    }),
    clientKey: setting(pem().optional(), {
      meaning: "Its private key (PEM, mode 600).",
      example: "/etc/scanferry/client.key",
      without: "required with `clientCert`",
    }),
    timeout: setting(duration("1ms", "1d").prefault("60s"), {
      meaning: "How long a request waits for the archive.",
      example: "2m",
    }),
    storedSize: setting(choice("same", "any").prefault("same"), {
      meaning:
        "With `same`, a local file is moved or deleted only if the archive reports the size that was sent. " +
        "`any`: for archives that change documents.",
      example: "any",
    }),
  },
  "The archive and the account, if there is only one; its name is `main`.",
);

/** Several archives by their names, in the place of `archive`. */
export const archivesSchema = setting(z.record(archiveName(), archiveSchema).optional(), {
  meaning:
    "Several archives or accounts by name (`a-z`, `0-9`, `-`), each with the keys of `archive`, instead " +
    "of `archive`. Do not change the names: the journal knows archives by them.",
  example: "{ main: { url: https://a.example.com }, legal: { url: https://b.example.com } }",
  without: "`archive` alone",
});
