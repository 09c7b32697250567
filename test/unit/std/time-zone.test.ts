import { afterEach, expect, test } from "vitest";
import { timeZoneProblem, zoneName } from "../../../src/std/time-zone.ts";

const home = process.env["TZ"];

afterEach(() => {
  if (home === undefined) delete process.env["TZ"];
  else process.env["TZ"] = home;
});

test.for([
  ["Europe/Berln", "UTC", "misspelt"],
  ["CET-1CEST", "UTC", "a rule, no name"],
  ["UTC+3", "UTC-03:00", "no name either, but understood"],
] as const)("TZ=%s is not known, and stands for %s: %s", ([TZ, stands]) => {
  process.env["TZ"] = TZ;
  expect(timeZoneProblem(process.env, Date.now())).toBe(
    `TZ is "${TZ}", a time zone that is not known here: local time is ${stands}, all year`,
  );
});

test.for(["Europe/Berlin", ":Europe/Berlin", ":UTC", "Zulu", "GMT", ""])(
  "TZ=%s is the name of a zone",
  (TZ) => {
    process.env["TZ"] = TZ;
    expect(timeZoneProblem(process.env, Date.now())).toBeUndefined();
    if (TZ === "") expect(zoneName()).toBe("UTC");
    else expect(zoneName()).toMatch(/^\S+$/);
  },
);
