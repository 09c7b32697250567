import { createHash, createHmac, timingSafeEqual } from "node:crypto";

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
