import { Pool } from "undici";
import { connectorTo } from "../network/connector.ts";
import type { Clock } from "../std/clock.ts";
import { Fault } from "../std/fault.ts";
import type { Transport } from "./exchange.ts";
import type { ArchiveSettings } from "./archive.ts";

/** Each step of the way to a connection has this long. A guess; browsers wait longer. */
const CONNECT_TIMEOUT_MS_MAX = 10_000;

/** The connections to an archive, and the path below which its operations are. */
export type OpenTransport = { line: Transport; prefix: string };

/**
 * Makes the pool of connections; connects nothing yet. Throws a Fault when the address is unfit, or
 * when the environment switches certificate checks off.
 */
export function openTransport(
  settings: Pick<ArchiveSettings, "url" | "timeoutMs" | "connections" | "stepwise" | "network">,
  clock: Clock,
): OpenTransport {
  const url = baseUrl(settings.url);
  if (process.env["NODE_TLS_REJECT_UNAUTHORIZED"] === "0") {
    throw new Fault(
      "TLS_CHECK_DISABLED",
      "NODE_TLS_REJECT_UNAUTHORIZED=0 switches off the check of the archive's certificate",
      "Unset it; for a private authority, name its certificate in `archive.ca`.",
    );
  }
  const { timeoutMs, connections, stepwise = false, network = {} } = settings;
  const { connect, pathPrefix, headers } = connectorTo(url, {
    network,
    timeoutMs: Math.min(timeoutMs, CONNECT_TIMEOUT_MS_MAX),
    clock,
    stepwise,
  });
  const pool = new Pool(url.origin, {
    connections,
    pipelining: 1,
    // Every rule about what was sent and what was not rests on HTTP/1.1.
    allowH2: false,
    connect,
    // Each exchange keeps its own deadline, which also sees a file that stalls and a slow drip.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  return {
    line: { pool, host: url.host, headers, clock, timeoutMs },
    prefix: pathPrefix + url.pathname.replace(/\/+$/, ""),
  };
}

function baseUrl(text: string): URL {
  const hint =
    "Set `archive.url` to the service's base address, for example https://archive.example.com.";
  // The address itself stays out of the message: it may hold a password.
  const unfit = (why: string) =>
    new Fault("ARCHIVE_URL_UNFIT", `the archive's address ${why}`, hint);
  const url = URL.parse(text);
  if (!url) throw unfit("is not a URL");
  if (url.protocol !== "https:" && url.protocol !== "http:")
    throw unfit("is neither https nor http");
  if (url.username !== "" || url.password !== "") throw unfit("holds a user name or password");
  if (url.search !== "" || url.hash !== "") throw unfit("holds a query or fragment");
  return url;
}
