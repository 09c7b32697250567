import { expect, test } from "vitest";
import { networkSecretsOf, proxyIn } from "../../../src/network/network.ts";

const PROXY = "http://proxy.example.com:3128";

test.for([
  [{ HTTPS_PROXY: PROXY }, "https://a.example.com", PROXY, "it is named"],
  [{ https_proxy: PROXY }, "https://a.example.com", PROXY, "in small letters too"],
  [
    { https_proxy: PROXY, HTTPS_PROXY: "http://x" },
    "https://a.example.com",
    PROXY,
    "which go first",
  ],
  [
    { HTTPS_PROXY: "proxy.example.com:3128" },
    "https://a.example.com",
    PROXY,
    "the scheme is usual",
  ],
  [{ HTTP_PROXY: PROXY }, "https://a.example.com", undefined, "that is for http"],
  [{ HTTP_PROXY: PROXY }, "http://a.example.com", PROXY, "as here"],
  [{ HTTPS_PROXY: "" }, "https://a.example.com", undefined, "empty is none"],
  [{ HTTPS_PROXY: PROXY }, "https://127.0.0.1:8471", undefined, "no proxy leads to this machine"],
  [{ HTTPS_PROXY: PROXY }, "https://localhost", undefined, "nor by its name"],
  [{ HTTPS_PROXY: PROXY }, "https://[::1]:1", undefined, "nor by IPv6"],
] as const)("%j for %s: %s, because %s", ([env, url, expected]) => {
  expect(proxyIn(env, url)).toBe(expected);
});

test.for([
  ["example.com", "https://example.com", true, "the name itself"],
  ["example.com", "https://a.example.com", true, "and what is below"],
  ["example.com", "https://notexample.com", false, "another name"],
  [".example.com", "https://a.example.com", true, "a dot before it is usual"],
  ["*.example.com", "https://a.example.com", true, "a star too"],
  ["EXAMPLE.com", "https://a.Example.COM", true, "names have no case"],
  ["example.com:8443", "https://example.com", false, "another port"],
  ["example.com:443", "https://example.com", true, "the port of the scheme"],
  ["a.test, example.com", "https://example.com", true, "of several"],
  ["a.test example.com", "https://example.com", true, "blanks divide too"],
  ["*", "https://example.com", true, "everything"],
  ["10.0.0.0/8", "https://10.1.2.3", true, "a network"],
  ["10.0.0.0/8", "https://11.1.2.3", false, "not of it"],
  ["10.0.0.0/99", "https://10.1.2.3", false, "no network"],
  ["10.1.2.3", "https://10.1.2.3:8443", true, "an address"],
  ["fd00::/8", "https://[fd12::1]", true, "a network of IPv6"],
  ["fd12::1", "https://[fd12::1]", true, "an address of IPv6"],
  ["[fd12::1]:443", "https://[fd12::1]", true, "in brackets, with a port"],
  ["1.2.3.4", "https://a1.2.3.4.example.com", false, "no part of a name"],
  ["", "https://example.com", false, "nothing is excepted"],
] as const)("NO_PROXY=%j excepts %s: %s (%s)", ([NO_PROXY, url, isExcepted]) => {
  const expected = isExcepted ? undefined : PROXY;
  expect(proxyIn({ HTTPS_PROXY: PROXY, NO_PROXY }, url)).toBe(expected);
});

test("user, password and what they look like on the wire are secrets", () => {
  const wire = Buffer.from("the-user:p@ss").toString("base64");
  const secrets = networkSecretsOf({ proxy: "http://the-user:p%40ss@proxy:1" });
  expect(secrets).toEqual(["the-user", "p@ss", wire]);
  expect(networkSecretsOf({ proxy: "http://proxy:1" })).toEqual([]);
});
