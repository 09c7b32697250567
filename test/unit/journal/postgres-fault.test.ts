import { expect, test } from "vitest";
import { whyOf } from "../../../src/journal/postgres/postgres-fault.ts";

test("of a host with several addresses each is told", () => {
  const errors = ["::1", "127.0.0.1"].map((to) => new Error(`connect ECONNREFUSED ${to}:5432`));
  expect(whyOf(new AggregateError(errors))).toBe(
    "connect ECONNREFUSED ::1:5432; connect ECONNREFUSED 127.0.0.1:5432",
  );
});
