import { describe, test } from "vitest";
import { aPostgresJournal } from "../../fixtures/a-postgres-journal.ts";
import { NO_POSTGRES } from "../../fixtures/postgres.ts";
import { thePostgres } from "../../fixtures/the-postgres.ts";
import { comparedWithModel, type Place } from "./journal-model.ts";

describe.skipIf(NO_POSTGRES)("on a real server", () => {
  const postgres = thePostgres();

  const inPostgres = async (): Promise<Place> => {
    const place = aPostgresJournal(postgres);
    return { open: (role) => place.open(role), [Symbol.asyncDispose]: async () => undefined };
  };

  test(
    "any sequence of changes leaves the journal in PostgreSQL equal to its model",
    // Each run asks a thousand questions, one after another.
    { timeout: 900_000 },
    () => comparedWithModel(inPostgres, 20),
  );
});
