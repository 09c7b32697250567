import { expect, test } from "vitest";
import { whyLeftOut } from "../../../src/cli/left-out.ts";
import { sourceSettings } from "../../../src/daemon/reader-mirror.ts";
import { rawOfText } from "../../../src/std/raw-path.ts";
import { aMirror } from "./mirrors.ts";

const settings = sourceSettings(
  aMirror({
    include: ["**/*.pdf", "**/*.tif"],
    exclude: ["drafts/**", "*-copy.pdf"],
    after: { kind: "move", to: "/srv/scans/done" },
  }),
  undefined,
  null,
);

test.for([
  ["2026/scan.pdf", undefined, "nothing keeps it out"],
  ["2026/Thumbs.db", /built-in list \(Thumbs\.db\): .*system/, "a system file"],
  ["a/~$letter.pdf", /built-in list .*office/, "an office program's lock"],
  ["#recycle/scan.pdf", /#recycle is on the built-in list/, "a directory on the way"],
  ["drafts/scan.pdf", /exclude has "drafts\/\*\*"/, "the glob that does it is named"],
  ["scan-copy.pdf", /exclude has "\*-copy\.pdf"/, "not another one"],
  ["done/scan.pdf", /where finished files are moved/, "it has been archived"],
  ["2026/notes.txt", /no glob of include matches: "\*\*\/\*\.pdf"/, "what would be taken is told"],
] as const)("%s: %s (%s)", ([path, why]) => {
  const said = whyLeftOut(settings, rawOfText(path));
  if (why === undefined) expect(said).toBeUndefined();
  else expect(said).toMatch(why);
});
