import { expect, test } from "vitest";
import { encryptionFindings } from "../../../src/cli/check/archive.ts";

test.for([
  ["https://archive.example.com", false, "it is encrypted"],
  ["http://archive.example.com", true, "the account key would be read by anybody on the way"],
  ["http://192.0.2.1:8471/base", true, "the same"],
  ["http://127.0.0.1:8471", false, "nothing leaves this machine"],
  ["http://[::1]:8471", false, "the same"],
  ["http://localhost:8471", false, "the same"],
] as const)("an archive at %s: warned of: %s, as %s", ([url, isWarned]) => {
  const warning = {
    level: "warn",
    what: `archive ${url} is spoken to without encryption`,
    mend: expect.stringContaining("https://"),
  };
  expect([...encryptionFindings(url)]).toEqual(isWarned ? [warning] : []);
});
