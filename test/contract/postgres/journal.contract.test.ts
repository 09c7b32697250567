import { describe } from "vitest";
import type { Applied } from "../../../src/journal/journal.ts";
import { aReusedPostgresJournal } from "../../fixtures/a-postgres-journal.ts";
import { NO_POSTGRES } from "../../fixtures/postgres.ts";
import { thePostgres } from "../../fixtures/the-postgres.ts";
import { everyPromise } from "../every-promise.ts";
import type { JournalFixture } from "../journal.contract.ts";

describe.skipIf(NO_POSTGRES)("on a real server", () => {
  const postgres = thePostgres();

  let reused: ReturnType<typeof aReusedPostgresJournal> | undefined;

  async function inPostgres(): Promise<JournalFixture> {
    const place = await (reused ??= aReusedPostgresJournal(postgres));
    const applied: Applied[][] = [];
    const onApplied = (some: Applied[]) => applied.push(some);
    const journal = await place.open("owner", { onApplied });
    return {
      journal,
      applied,
      beside: () => place.open("guest"),
      [Symbol.asyncDispose]: async () => {
        await journal.close();
        await place.empty();
      },
    };
  }

  everyPromise("PostgresJournal", inPostgres);
});
