/** How archives, and what `notify` calls, are reached: proxies and certificates, from the file and the environment. */
import { createPrivateKey, X509Certificate } from "node:crypto";
import type { NetworkSettings } from "../network/network.ts";
import { isExcepted, proxyIn } from "../network/proxies.ts";
import { codeOf } from "../std/fault.ts";
import { archivesIn, type WrittenArchive } from "./archives.ts";
import type { KeyPath } from "./config-problems.ts";
import { proxyProblem } from "./place-kinds.ts";
import type { Sketch } from "./file-schema.ts";
import { type FileKind, readNamedFile, reportIfOpen, type SecretContext } from "./secret-file.ts";
import { findSecret, variableSuffix } from "./secrets.ts";

/** Larger than any host's whole store. */
const CERTIFICATES: FileKind = { what: "certificate", isSecret: false, bytesMax: 4 * 1024 * 1024 };
const KEY: FileKind = { what: "key", isSecret: true, bytesMax: 64 * 1024 };

/** How each archive is reached, by its name, and what else is called; undefined: straight. */
export type Networks = {
  readonly archives: ReadonlyMap<string, NetworkSettings | undefined>;
  /** Of an address that `notify` calls: the way of the first archive, without who we are there. */
  readonly to: (url: string) => NetworkSettings | undefined;
};

/** Looks up proxies and certificates; what is wrong with them is reported. */
export async function findNetworks(sketch: Sketch, around: SecretContext): Promise<Networks> {
  const archives = new Map<string, NetworkSettings | undefined>();
  let first: { proxy: string | undefined; ca: string | undefined } | undefined;
  for (const archive of archivesIn(sketch)) {
    const { url = "" } = archive.section;
    const proxy = await findProxy(archive, around);
    const ca = await findPem(archive, "ca", CERTIFICATES, around);
    if (ca !== undefined) reportUnfit([...archive.key, "ca"], () => certificatesIn(ca), around);
    const client = await findClient(archive, around);
    first ??= { proxy, ca };
    const ofEnvironment = url === "" ? undefined : environmentProxy(url, archive.key, around);
    archives.set(archive.name, settingsOf(proxy ?? ofEnvironment, ca, client));
  }
  const to = (url: string) => {
    const { proxy, ca } = first ?? {};
    const configured = proxy !== "off" && isExcepted(around.env, url) ? undefined : proxy;
    return settingsOf(configured ?? environmentProxy(url, ["archive"], around), ca, undefined);
  };
  return { archives, to };
}

function settingsOf(
  proxy: string | undefined,
  ca: string | undefined,
  client: NetworkSettings["client"],
): NetworkSettings | undefined {
  const settings = {
    ...(proxy === undefined || proxy === "off" ? {} : { proxy }),
    ...(ca === undefined ? {} : { ca }),
    ...(client && { client }),
  };
  return Object.keys(settings).length === 0 ? undefined : settings;
}

async function findProxy(
  { key, name, section }: WrittenArchive,
  around: SecretContext,
): Promise<string | undefined> {
  const { proxy: value, proxyFile: file } = section;
  const origin = {
    section: key,
    name: "proxy",
    value,
    file,
    variable: `SCANFERRY_ARCHIVE_PROXY${variableSuffix(key, name)}`,
    // Without a user it is no secret.
    isOpen: value === undefined || !value.includes("@"),
  };
  const found = await findSecret(origin, "optional", around);
  if (found === undefined || found === value || found === "off") return found;
  const why = proxyProblem(found);
  if (why === undefined) return found;
  around.findings.report([...key, "proxy"], why, "write http://HOST:PORT");
  return undefined;
}

/** What the environment says; a proxy that cannot be used must not be passed by in silence. */
function environmentProxy(
  url: string,
  key: KeyPath,
  { env, findings }: SecretContext,
): string | undefined {
  const proxy = proxyIn(env, url);
  const why = proxy === undefined ? undefined : proxyProblem(proxy);
  if (why === undefined) return proxy;
  const message = `the environment's HTTPS_PROXY or HTTP_PROXY ${why}`;
  findings.report([...key, "proxy"], message, "set it to http://HOST:PORT, or write proxy: off");
  return undefined;
}

async function findPem(
  { key, section }: WrittenArchive,
  name: "ca" | "clientCert" | "clientKey",
  kind: FileKind,
  around: SecretContext,
): Promise<string | undefined> {
  const written = section[name];
  const at = [...key, name];
  if (written === undefined || around.findings.has(at)) return undefined;
  if (!written.includes("-----BEGIN "))
    return (await readNamedFile(written, at, around, kind))?.text;
  if (kind.isSecret) reportIfOpen(at, around);
  return written;
}

async function findClient(
  archive: WrittenArchive,
  around: SecretContext,
): Promise<NetworkSettings["client"]> {
  const { clientCert, clientKey } = archive.section;
  if (clientCert === undefined && clientKey === undefined) return undefined;
  const missing = clientCert === undefined ? "clientCert" : "clientKey";
  if (clientCert === undefined || clientKey === undefined) {
    const fix = "a certificate and its key go together: name the file of each";
    around.findings.report([...archive.key, missing], "is missing", fix);
    return undefined;
  }
  const cert = await findPem(archive, "clientCert", CERTIFICATES, around);
  const key = await findPem(archive, "clientKey", KEY, around);
  if (cert === undefined || key === undefined) return undefined;
  const isFit = reportUnfit([...archive.key, "clientCert"], () => certificatesIn(cert), around);
  const keyAt = [...archive.key, "clientKey"];
  if (isFit) reportUnfit(keyAt, () => assertPair(cert, key), around);
  return { cert, key };
}

/** Every certificate of the text; throws when there is none, or one cannot be read. */
function certificatesIn(text: string): X509Certificate[] {
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  if (blocks.length === 0) throw new Error("holds no certificate (PEM)");
  return blocks.map((block) => new X509Certificate(block));
}

function assertPair(cert: string, key: string): void {
  const pair = createPrivateKey(key);
  if (!certificatesIn(cert)[0]?.checkPrivateKey(pair))
    throw new Error("is the key of another certificate");
}

/** Reports what `read` throws; nothing of the text is shown. True when it was fit. */
function reportUnfit(key: KeyPath, read: () => void, { findings }: SecretContext): boolean {
  try {
    read();
    return true;
  } catch (error) {
    const code = codeOf(error) ?? "";
    const isLocked = /PASSPHRASE|BAD_DECRYPT|INTERRUPTED_OR_CANCELLED/.test(code);
    const isOurs = error instanceof Error && code === "";
    const why = isLocked
      ? "needs a passphrase"
      : isOurs
        ? error.message
        : `cannot be read (${code})`;
    findings.report(
      key,
      why,
      isLocked ? "write the key without one" : "name the right file, as PEM",
    );
    return false;
  }
}
