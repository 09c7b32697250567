/** The daemon's web page: whether it can be served where it is to be, and to whom. */
import { createServer } from "node:net";
import { existsSync } from "node:fs";
import type { Config } from "../config/config.ts";
import { tokenPlace } from "../daemon/page-token.ts";
import { addressOf } from "../dashboard/address.ts";
import { codeOf } from "../std/fault.ts";
import { type CheckResult, fail, ok, warn } from "./check-result.ts";

type Web = NonNullable<Config["web"]>;

/** Is the port free? To be asked while no daemon runs. */
export async function portFinding({ host, port }: Web): Promise<CheckResult> {
  const shown = shownOf({ host, port });
  const { promise, resolve } = Promise.withResolvers<CheckResult>();
  const server = createServer();
  server.on("error", (error) => {
    const why = codeOf(error) === "EADDRINUSE" ? "another program listens there" : codeOf(error);
    resolve(fail(`${shown} cannot listen (${why})`, "Set another web.listen, or web: off."));
  });
  server.listen(port, host, () => server.close(() => resolve(ok(`${shown} is free`))));
  return promise;
}

/** Beyond this host the page shows nothing to anyone who has no token, and none is configured. */
export async function* tokenFindings(
  config: Pick<Config, "journal" | "web">,
): AsyncGenerator<CheckResult> {
  const { web } = config;
  if (!web || web.token !== undefined) return;
  const kept = await tokenPlace(config);
  if (kept !== undefined) {
    const since = existsSync(kept)
      ? "it is in"
      : "the first start creates one, prints it once and writes it to";
    yield ok(`${shownOf(web)} asks for a token; ${since} ${kept}`);
    return;
  }
  // A name that does not resolve cannot be listened on, which is reported.
  const isLoopback = await addressOf(web).then(
    (address) => address.isLoopback,
    () => true,
  );
  if (isLoopback) return;
  const what = `${shownOf(web)} is open to the network and has no token: it answers only /healthz and /readyz`;
  yield warn(what, "Set web.tokenFile, or web.listen to 127.0.0.1.");
}

function shownOf({ host, port }: Web): string {
  return `page: ${host.includes(":") ? `[${host}]` : host}:${port}`;
}
