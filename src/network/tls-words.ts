/** What went wrong between two ends of TLS, in words; from the codes of OpenSSL and Node. */
import type { Certificate, PeerCertificate } from "node:tls";
import { legible } from "../std/printable.ts";
import type { ConnectProblem } from "./network.ts";

/** What is known of a handshake that failed. */
export type Handshake = {
  /** The name that was asked for. */
  readonly host: string;
  readonly code: string;
  readonly message: string;
  /** What the other side showed, where it came to that. */
  readonly peer: PeerCertificate | undefined;
  /** We had a certificate to show. */
  readonly hasClient: boolean;
};

/** Nobody known vouches for the certificate: another list of authorities may help. */
export const UNKNOWN_AUTHORITY =
  /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_(GET_ISSUER_CERT(_LOCALLY)?|VERIFY_LEAF_SIGNATURE)|CERT_UNTRUSTED)$/;

/** Alerts about the certificate that we showed, or did not show. */
const ABOUT_OURS =
  /ALERT_(CERTIFICATE_REQUIRED|BAD_CERTIFICATE|UNKNOWN_CA|CERTIFICATE_(EXPIRED|REVOKED|UNKNOWN)|UNSUPPORTED_CERTIFICATE|ACCESS_DENIED)$/;

/** OpenSSL's verdicts on a certificate, and Node's own codes for TLS. */
const TLS_CODE =
  /^(ERR_TLS_|ERR_SSL_|ERR_OSSL_|CERT_|CRL_|UNABLE_TO_|.*SELF_SIGNED|HOSTNAME_MISMATCH$|INVALID_(CA|PURPOSE)$|PATH_LENGTH_EXCEEDED$|EPROTO$)/;

/** Text of a other's certificate is cut here. */
const NAME_CHARACTERS_MAX = 100;

/** True for a code by which one end of TLS refuses the other. */
function isOfTls(code: string): boolean {
  return TLS_CODE.test(code);
}

/** True for an alert that a server sends about our certificate. */
export function isAboutOurs(code: string): boolean {
  return ABOUT_OURS.test(code);
}

/** The problem, and what follows "no TLS with HOST: " or, where nobody spoke TLS, "HOST ". */
export function tlsProblem(handshake: Handshake): { problem: ConnectProblem; said: string } {
  const { code, message, host } = handshake;
  if (/WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG|HTTP_REQUEST$/.test(code))
    return {
      problem: "unreachable",
      said: `${host} answers, but does not use TLS: write http:// instead of https://`,
    };
  if (!isOfTls(code)) {
    const said = `${host} ended the connection before TLS was agreed on (${code || message})`;
    return { problem: "unreachable", said };
  }
  return { problem: "tls", said: `no TLS with ${host}: ${wordsOf(handshake)}` };
}

function wordsOf({ code, message, peer, hasClient, host }: Handshake): string {
  const by = peer ? `"${shown(nameIn(peer.issuer))}"` : "an authority";
  if (code === "CERT_HAS_EXPIRED")
    return `its certificate has expired${peer ? ` (${peer.valid_to})` : ""}`;
  if (code === "CERT_NOT_YET_VALID")
    return `its certificate is not valid yet${peer ? ` (before ${peer.valid_from})` : ""}: is this host's clock right?`;
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID" || code === "HOSTNAME_MISMATCH") {
    const names = peer?.subjectaltname ?? (peer && nameIn(peer.subject));
    return `its certificate has another name than ${host}${names === undefined ? "" : ` (altnames: ${shown(names)})`}`;
  }
  if (code === "DEPTH_ZERO_SELF_SIGNED_CERT")
    return "its certificate is self-signed, and not one that this host trusts";
  if (UNKNOWN_AUTHORITY.test(code))
    return `its certificate is issued by ${by}, which this host does not trust: a private authority, or an inspection of TLS on the way`;
  if (/UNSUPPORTED_PROTOCOL|ALERT_PROTOCOL_VERSION|VERSION_TOO_LOW/.test(code))
    return "its version of TLS is too old: at least TLS 1.2 is asked for";
  if (isAboutOurs(code) || code.endsWith("ALERT_HANDSHAKE_FAILURE")) return ours(code, hasClient);
  // Of a line of OpenSSL what went wrong, without places in its sources; of Node's no advice for programmers.
  const [, reason] = /\berror:[0-9A-F]{8}:[^:]*:[^:]*:([^:]+):/.exec(message) ?? [];
  return reason ?? message.replace(/; if the root CA is installed locally, .*$/s, "");
}

/** The server refused us. */
export function ours(code: string, hasClient: boolean): string {
  const alert = code
    .replace(/^.*ALERT_/, "")
    .toLowerCase()
    .replaceAll("_", " ");
  if (hasClient) return `it does not accept our client certificate (${alert})`;
  return code.endsWith("HANDSHAKE_FAILURE")
    ? "it refuses the handshake: it may ask for a client certificate, which is not configured, or share no cipher with us"
    : `it asks for a client certificate, and none is configured (${alert})`;
}

/** Of a distinguished name the part that people know. */
function nameIn({ CN, O }: Partial<Certificate> = {}): string {
  return [CN ?? O ?? "nobody"].flat().join(", ");
}

function shown(text: string): string {
  const line = legible(text.replaceAll(/\s+/g, " "));
  return line.length > NAME_CHARACTERS_MAX ? `${line.slice(0, NAME_CHARACTERS_MAX)}…` : line;
}
