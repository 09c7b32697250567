/** The statements that the conformance runner checks at any archive, at the embedded one. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { ArchiveUnderTest } from "./archive-under-test.ts";
import { BEHAVIOUR_ROWS, type Ground } from "./behaviour-rows.ts";
import { prepare } from "./ground.ts";

let under: ArchiveUnderTest;
let ground: Ground;

beforeAll(async () => {
  under = await ArchiveUnderTest.open({ convertDelayMs: 50, folders: ["/Other"] });
  ground = await prepare(under.remote, String(under.archive.createFolder("/Conformance")));
});
afterAll(() => under[Symbol.asyncDispose]());

test.for(BEHAVIOUR_ROWS.map((row) => [row.reference, row.claim, row] as const))(
  "%s: %s",
  async ([, , row]) => {
    expect(await row.holds(ground)).toBeUndefined();
  },
);
