/** `archive` and `archives`: where an archive is, the account there, and how it is reached. */
import { z } from "zod";
import { FIRST_ARCHIVE } from "../domain/archive-identity.ts";
import { SECRET_SCHEMES, type Signing, takesSecret } from "../domain/signing.ts";
import { isExcepted, type NetworkSettings, proxyIn } from "../network/network.ts";
import { invariant } from "../std/fault.ts";
import type { KeyPath } from "./config-problems.ts";
import { section, setting, settings } from "./kind.ts";
import { archiveName, choice, digest, duration, secret } from "./kinds.ts";
import { archiveUrl, localPath, pem, proxyAddress, secretKeys } from "./place-kinds.ts";

const signing = section(
  {
    scheme: setting(choice(...SECRET_SCHEMES, "none", "module").prefault("hmac"), {
      meaning:
        "`hmac` signs the request's fields; `hmac2` also operation, time and file ([what each " +
        "protects](archive-interface.md#what-a-signature-protects)); `none` sends `sig=none`; `module` calls " +
        "a module of yours.",
    }),
    algorithm: setting(digest().prefault("sha256"), {
      meaning: "The digest of `hmac` and `hmac2`.",
    }),
    encoding: setting(choice("base64", "hex").prefault("base64"), {
      meaning: "How the signature is written.",
    }),
    ...secretKeys("secret", secret(), {
      meaning: "The secret itself.",
      file: "/etc/scanferry/signing.secret",
      variable: "SCANFERRY_SIGNING_SECRET",
      need: ({ scheme }) => (takesSecret(String(scheme)) ? "required" : "unused"),
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
  ({ scheme, module }, at) => {
    if (scheme === "module" && module === undefined)
      at.report("module", "is missing", "write e.g. module: ./sign.mjs");
  },
);

/** An archive and the account there. */
export const archiveSchema = section(
  {
    url: setting(archiveUrl(), {
      meaning: "The archive's address, without credentials, query or fragment.",
      example: "https://archive.example.com",
    }),
    ...secretKeys("accountKey", secret(), {
      meaning: "The account key itself.",
      file: "/etc/scanferry/account.key",
      variable: "SCANFERRY_ACCOUNT_KEY",
    }),
    signing,
    ...secretKeys("proxy", proxyAddress(), {
      meaning:
        "The HTTP proxy for the archive, webhooks and the ping: `http://HOST:PORT`, or with " +
        "`USER:PASSWORD@`. `off`: none.",
      example: "http://proxy.example.com:3128",
      file: "/etc/scanferry/proxy.url",
      variable: "SCANFERRY_ARCHIVE_PROXY",
      otherwise: "`$HTTPS_PROXY` or `$HTTP_PROXY` unless `$NO_PROXY` names the host",
      need: () => "optional",
      // Without a user it is no secret.
      isOpen: (proxy) => !proxy.includes("@"),
    }),
    ca: setting(pem("certificates").optional(), {
      meaning:
        "More certificate authorities (a PEM file or its text), for the archive and `notify`.",
      example: "/etc/scanferry/office-ca.crt",
      without: "Node's and the host's",
    }),
    clientCert: setting(pem("certificates").optional(), {
      meaning:
        "The client certificate (a PEM file with the intermediate certificates, or its text). Read again " +
        "when it changes.",
      example: "/etc/scanferry/client.crt",
      without: "none",
    }),
    clientKey: setting(pem("key").optional(), {
      meaning: "Its private key (PEM, mode 600).",
      example: "/etc/scanferry/client.key",
      without: "required with `clientCert`",
    }),
    timeout: setting(duration("1ms", "1d").prefault("60s"), {
      meaning: "How long a request waits for the archive.",
    }),
    storedSize: setting(choice("same", "any").prefault("same"), {
      meaning:
        "With `same`, a local file is moved or deleted only if the archive reports the size that was sent. " +
        "`any`: for archives that change documents.",
    }),
  },
  "The archive and the account, if there is only one; its name is `main`.",
  ({ clientCert, clientKey }, at) => {
    if ((clientCert === undefined) === (clientKey === undefined)) return;
    const missing = clientCert === undefined ? "clientCert" : "clientKey";
    at.report(
      missing,
      "is missing",
      "a certificate and its key go together: name the file of each",
    );
  },
);

/** Several archives by their names, in the place of `archive`. */
export const archivesSchema = setting(z.record(archiveName(), archiveSchema).optional(), {
  meaning:
    "Several archives or accounts by name (`a-z`, `0-9`, `-`), each with the keys of `archive`, instead " +
    "of `archive`. Do not change the names: the journal knows archives by them.",
  example: "{ main: { url: https://a.example.com }, legal: { url: https://b.example.com } }",
  without: "`archive` alone",
});

/** An archive as the file has it: its name, and where its section stands. */
type Written<Section> = {
  readonly name: string;
  readonly key: KeyPath;
  readonly section: Section;
};

/** The archives of a file, in its order; that of `archive:` is called `main`. */
export function archivesIn<Section extends object>(sketch: {
  archive?: Section | undefined;
  archives?: Readonly<Record<string, Section | undefined>> | undefined;
}): Written<Section>[] {
  const { archive, archives = {} } = sketch;
  const single = archive && [{ name: FIRST_ARCHIVE, key: ["archive"], section: archive }];
  const several = Object.entries(archives).flatMap(([name, section]) =>
    section === undefined ? [] : [{ name, key: ["archives", name], section }],
  );
  return [...(single ?? []), ...several];
}

/**
 * Which archive a mirror is carried into: the one it names, else the only one, else `main`; never
 * one by its place in the file, which may change. Undefined where that is none.
 */
export function archiveNameOf(
  mirror: { readonly archive?: string | undefined } | undefined,
  archives: readonly { readonly name: string }[],
): string | undefined {
  const [only] = archives;
  const byDefault = archives.length === 1 ? only?.name : FIRST_ARCHIVE;
  const name = mirror?.archive ?? byDefault;
  return archives.some((archive) => archive.name === name) ? name : undefined;
}

type ArchiveShape = z.output<typeof archiveSchema>;

/** An archive of a file in which nothing was found wrong, its secrets filled in. */
export function accountOf({ name, section }: Written<ArchiveShape>, env: NodeJS.ProcessEnv) {
  const { url, accountKey, timeout, storedSize, proxy, ca, clientCert, clientKey } = section;
  invariant(accountKey !== undefined, "a checked configuration has an account key");
  const client = clientCert && clientKey ? { cert: clientCert, key: clientKey } : undefined;
  return settings({
    /** Unique among the archives; what the journal knows it by. */
    name,
    url,
    accountKey,
    signing: signingOf(section.signing),
    network: networkOf(proxy ?? proxyIn(env, url), ca, client),
    timeoutMs: timeout,
    storedSize,
  });
}

function signingOf({
  scheme,
  algorithm,
  encoding,
  secret,
  module,
}: ArchiveShape["signing"]): Signing {
  if (scheme === "none") return { scheme };
  if (scheme === "module") {
    invariant(module !== undefined, "a checked configuration names its signing module");
    return { scheme, module };
  }
  invariant(secret !== undefined, "a checked configuration has its secret");
  return { scheme, algorithm, encoding, secret };
}

/** How an address that `notify` calls is reached: the way of the first archive, without who we are there. */
export function networkTo(
  { section: { proxy, ca } }: Written<ArchiveShape>,
  env: NodeJS.ProcessEnv,
) {
  return (url: string): NetworkSettings | undefined => {
    const configured = proxy !== "off" && isExcepted(env, url) ? undefined : proxy;
    return networkOf(configured ?? proxyIn(env, url), ca, undefined);
  };
}

function networkOf(
  proxy: string | undefined,
  ca: string | undefined,
  client: NetworkSettings["client"],
): NetworkSettings | undefined {
  const used = proxy === "off" ? undefined : proxy;
  return used || ca || client ? settings({ proxy: used, ca, client }) : undefined;
}
