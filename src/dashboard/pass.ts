import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { Clock } from "../std/clock.ts";
import type { Log } from "../std/log.ts";
import { networkOf } from "../std/web-caller.ts";

/** For so long a browser is not asked for the token again. */
const COOKIE_SECONDS = 30 * 24 * 3600;

/**
 * Who may come in beyond loopback: those who know the token, and browsers that showed it once. The
 * cookie is derived from the token, so that it is worth nothing elsewhere and ends with the token.
 */
export class Pass {
  readonly #token: string;
  readonly #cookieName: string;
  readonly #cookie: string;

  /** `port` keeps the cookies of two daemons on one host apart: cookies know no ports. */
  constructor(token: string, port: number) {
    this.#token = token;
    this.#cookieName = `scanferry-${port}`;
    this.#cookie = createHmac("sha256", token).update("scanferry web pass").digest("base64url");
  }

  /** Takes a time that tells nothing of how much of it is right. */
  isToken(candidate: string): boolean {
    return isSame(candidate, this.#token);
  }

  /** True when the headers hold the token (`Authorization: Bearer`) or the cookie. */
  admits(headers: { authorization?: string | undefined; cookie?: string | undefined }): boolean {
    const bearer = /^Bearer +(\S+)$/i.exec(headers.authorization ?? "")?.[1];
    if (bearer !== undefined) return this.isToken(bearer);
    return cookiesOf(headers.cookie, this.#cookieName).some((value) => isSame(value, this.#cookie));
  }

  /**
   * The `Set-Cookie` for a browser that showed the token; `isSecure`: it came by https. `Lax`, so that the links
   * which people mail to each other open; whatever changes something is a POST of the page itself.
   */
  setCookie(isSecure: boolean): string {
    return this.#cookieOf(this.#cookie, COOKIE_SECONDS, isSecure);
  }

  /** The `Set-Cookie` by which a browser forgets it. */
  endCookie(isSecure: boolean): string {
    return this.#cookieOf("", 0, isSecure);
  }

  #cookieOf(value: string, seconds: number, isSecure: boolean): string {
    const secure = isSecure ? "; Secure" : "";
    return `${this.#cookieName}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure}`;
  }
}

function cookiesOf(header: string | undefined, name: string): string[] {
  return (header ?? "").split(";").flatMap((pair) => {
    const [key, value] = pair.trim().split("=", 2);
    return key === name && value !== undefined ? [value] : [];
  });
}

/** Takes the same time wherever the two differ, and whatever their lengths are. */
function isSame(a: string, b: string): boolean {
  return timingSafeEqual(digest(a), digest(b));
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

/** Wrong tokens: counted for each network, said in the log, and slowed where they are many. */

/** More than a person mistypes. */
const FREE_PER_MINUTE = 10;
const MINUTE_MS = 60_000;
/** What every further token of that network waits for. */
const DELAY_MS = 1_000;
/** Networks that are remembered; of more than these the oldest is forgotten. */
const NETWORKS_MAX = 1_000;

type Failures = { count: number; readonly since: number };

export class Attempts {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #failures = new Map<string, Failures>();

  constructor(clock: Clock, log: Log) {
    this.#clock = clock;
    this.#log = log;
  }

  /** Before a token from this address is looked at. Cookies and what needs no token do not come here. */
  async turn(address: string): Promise<void> {
    const { count = 0 } = this.#recent(networkOf(address)) ?? {};
    if (count >= FREE_PER_MINUTE) await this.#clock.sleep(DELAY_MS, new AbortController().signal);
  }

  /** The token was wrong. The first of a minute and the one from which on it is slow are logged. */
  failed(address: string): void {
    const network = networkOf(address);
    const failures = this.#recent(network) ?? { count: 0, since: this.#clock.monotonic() };
    failures.count += 1;
    this.#failures.set(network, failures);
    const [oldest] = this.#failures.keys();
    if (this.#failures.size > NETWORKS_MAX && oldest !== undefined) this.#failures.delete(oldest);
    const { count } = failures;
    const wrong = { code: "TOKEN_WRONG", from: address };
    if (count === 1) this.#log.warn(wrong, "the page got a wrong token");
    if (count === FREE_PER_MINUTE)
      this.#log.warn(
        { ...wrong, times: count },
        "the page got many wrong tokens within a minute: answers to this network are slowed down",
      );
  }

  #recent(network: string): Failures | undefined {
    const failures = this.#failures.get(network);
    if (failures === undefined) return undefined;
    if (this.#clock.monotonic() - failures.since < MINUTE_MS) return failures;
    this.#failures.delete(network);
    return undefined;
  }
}
