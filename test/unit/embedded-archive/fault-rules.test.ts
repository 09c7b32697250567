import { describe, expect, test } from "vitest";
import { faultRuleOfText, faultRulesOf } from "../../../src/embedded-archive/fault-rules.ts";

describe("a rule as one word", () => {
  test.for([
    ["dropAfter", { do: "dropAfter" }, "an action alone"],
    ["upload:truncate", { do: "truncate", on: "upload" }, "of one operation"],
    ["delay,ms=5,times=always", { do: "delay", ms: 5, times: Infinity }, "always"],
    ["search:garbage,nth=3,times=2", { do: "garbage", on: "search", nth: 3, times: 2 }, "when"],
    [
      "status,status=503,stored=false,retryAfter=7",
      { do: "status", status: 503, stored: false, retryAfter: "7" },
      "numbers, flags, texts",
    ],
    ["convert,afterMs=never", { do: "convert", afterMs: "never" }, "never"],
    [
      "redirect,url=http://a.test/?b=c",
      { do: "redirect", url: "http://a.test/?b=c" },
      "an equals sign in a value",
    ],
  ] as const)("%s is %j: %s", ([text, rule]) => {
    expect(faultRuleOfText(text)).toEqual(rule);
  });

  test.for([
    ["", "nothing"],
    ["explode", "no such action"],
    ["constructor", "no such action either"],
    ["delay", "ms is missing"],
    ["delay,ms=soon", "no number"],
    ["delay,ms=-1", "no time"],
    ["delay,ms", "no value"],
    ["delay,ms=1,ms=2", "twice"],
    ["dropAfter,ms=1", "not a part of this action"],
    ["uploads:dropAfter", "no such operation"],
    ["status,status=99,stored=true", "no status"],
    ["status,status=500,stored=maybe", "no flag"],
    ["redirect,url=a\r\nb", "a header of one's own"],
    ["dropAfter,do=garbage", "do is not a part"],
  ] as const)("%j is refused: %s", ([text]) => {
    expect(() => faultRuleOfText(text)).toThrow(
      expect.objectContaining({ code: "EMBEDDED_ARCHIVE_OPTIONS" }),
    );
  });
});

test("rules as JSON", () => {
  const json = [{ on: "upload", do: "status", status: 503, stored: true, times: "always" }];
  expect(faultRulesOf(json)).toEqual([{ ...json[0], times: Infinity }]);
  expect(faultRulesOf([])).toEqual([]);
  for (const bad of [null, {}, [null], [[]], [{}], [{ do: "delay", ms: 1.5 }], [{ do: 1 }]])
    expect(() => faultRulesOf(bad)).toThrow(/./);
});
