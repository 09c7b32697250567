import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { PgSession } from "../../../../src/journal/postgres/session.ts";
import { aPostgres, NO_POSTGRES, type Postgres } from "../../../fixtures/postgres.ts";

describe.skipIf(NO_POSTGRES !== undefined)("a session on PostgreSQL", () => {
  let postgres: Postgres;

  beforeAll(async () => {
    postgres = await aPostgres();
  });

  afterAll(() => postgres[Symbol.asyncDispose]());

  test("reads what was written before", async () => {
    const { url, schema } = postgres.place();
    await postgres.ask(`CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.kept (n bigint)`);
    const session = await PgSession.open({ url, schema, role: "guest" });
    const written = session.write((query) => query("INSERT INTO kept VALUES ($1)", [7]));
    const { rows } = await session.read((query) => query<{ n: number }>("SELECT n FROM kept", []));
    await written;
    expect(rows).toEqual([{ n: 7 }]);
    await session.close();
  });
});
