import { expect, test } from "vitest";
import { tokenFindings } from "../../../src/cli/check/web.ts";

test.for([
  ["127.0.0.1", undefined, false, "whoever is on this host may look"],
  ["localhost", undefined, false, "the same"],
  ["0.0.0.0", undefined, true, "nobody would see anything, and wonder why"],
  ["::", undefined, true, "the same"],
  ["192.0.2.1", undefined, true, "an address of the network"],
  ["0.0.0.0", "a token", false, "as it should be"],
  ["nobody.invalid", undefined, false, "that it cannot be listened on is told"],
] as const)(
  "a page at %s with the token %s: warned of: %s, as %s",
  async ([host, token, isWarned]) => {
    const web = { host, port: 8470, ...(token === undefined ? {} : { token }) };
    const found = await Array.fromAsync(tokenFindings(web));
    const warning = {
      level: "warn",
      what: expect.stringContaining("has no token"),
      mend: expect.stringContaining("web.tokenFile"),
    };
    expect(found).toEqual(isWarned ? [warning] : []);
  },
);
