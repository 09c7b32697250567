import { expect, test } from "vitest";
import { remarksOf } from "../../../src/cli/commands/list.ts";
import { recordOf } from "../../../src/sync/record.ts";
import { aDocument } from "../../fixtures/a-document.ts";

const pending = { after: "due", afterMessage: "AFTER_REFUSED: so" } as const;

test.for([
  ["", {}, "", "there is nothing to say"],
  ["VETOED: no", {}, "VETOED: no", "that is all"],
  ["VETOED: no", pending, "VETOED: no; not moved or deleted: AFTER_REFUSED: so", "each is apart"],
  [
    "",
    { remark: "as a copy", goneAt: 5 },
    "as a copy (the local file is gone or left out)",
    "both",
  ],
] as const)("after %j, with %j, a list says %j: %s", ([problem, set, said]) => {
  expect(remarksOf(recordOf(aDocument(set), "scans"), problem)).toBe(said);
});
