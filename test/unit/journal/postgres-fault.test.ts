import { DatabaseError } from "pg";
import { expect, test } from "vitest";
import { asJournalFault, whyOf } from "../../../src/journal/postgres/postgres-fault.ts";

test("of a host with several addresses each is told", () => {
  const errors = ["::1", "127.0.0.1"].map((to) => new Error(`connect ECONNREFUSED ${to}:5432`));
  expect(whyOf(new AggregateError(errors))).toBe(
    "connect ECONNREFUSED ::1:5432; connect ECONNREFUSED 127.0.0.1:5432",
  );
});

test.for([
  ["42501", "JOURNAL_REFUSED", "Check user", "a right that is missing"],
  ["3F000", "JOURNAL_REFUSED", "USAGE and CREATE", "a schema of another role"],
  ["42P01", "JOURNAL_BROKEN", "pg_restore", "tables that another program removed"],
  ["XX001", "JOURNAL_BROKEN", "Check the disk", "a damaged page"],
] as const)("%s is %s: %s (%s)", ([number, code, hint]) => {
  const error = Object.assign(new DatabaseError("no", 2, "error"), { code: number });
  expect(asJournalFault(error, "postgres://h/d")).toMatchObject({
    code,
    hint: expect.stringContaining(hint) as string,
  });
});
