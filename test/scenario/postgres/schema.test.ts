import Database from "better-sqlite3";
import { Client } from "pg";
import { describe, expect, test } from "vitest";
import { bringUpToDate, SCHEMA_VERSION } from "../../../src/journal/postgres/migrate.ts";
import { queryOn } from "../../../src/journal/postgres/query.ts";
import { MIGRATIONS } from "../../../src/journal/postgres/tables.ts";
import { migrate } from "../../../src/journal/schema.ts";
import { NO_POSTGRES } from "../../fixtures/postgres.ts";
import { thePostgres } from "../../fixtures/the-postgres.ts";

describe.skipIf(NO_POSTGRES)("the tables in PostgreSQL", () => {
  const postgres = thePostgres();

  /** Opens a schema as `bringUpToDate` is used: on a connection whose search_path it is. */
  async function opened(schema: string, mayChange: boolean, user = "scanferry") {
    const url = postgres.url.replace("scanferry@", `${user}@`);
    const client = new Client({ connectionString: url });
    await client.connect();
    await client.query(`SET search_path TO ${schema}`);
    try {
      return await bringUpToDate(queryOn(client), { schema, shown: schema, mayChange });
    } finally {
      await client.end();
    }
  }

  test("are made once, anyone who comes at the same time", async () => {
    const changes = await Promise.all([1, 2, 3].map(() => opened("crowd", true)));
    expect(changes.filter(Boolean).length).toBeGreaterThan(0);
    expect(await opened("crowd", true)).toBeUndefined();
    expect(await opened("crowd", false)).toBeUndefined();
    const rows = await postgres.ask("SELECT version FROM crowd.schema_version");
    expect(rows).toEqual([{ version: String(SCHEMA_VERSION) }]);
  });

  test("are made in a schema that is there by someone who may make none", async () => {
    await postgres.ask("CREATE ROLE tenant LOGIN; CREATE SCHEMA given AUTHORIZATION tenant");
    expect(await opened("given", true, "tenant")).toEqual({ from: 0, to: SCHEMA_VERSION });
    await expect(opened("other", true, "tenant")).rejects.toMatchObject({ code: "42501" });
  });

  test("hold every column of SQLite's, so that a journal can be copied", async () => {
    await opened("alike", true);
    const db = new Database(":memory:");
    migrate(db);
    const wanted = db
      .prepare<[], { place: string }>(
        `SELECT t.name || '.' || c.name AS place FROM sqlite_schema t, pragma_table_info(t.name) c
          WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%' AND t.name <> 'owner'`,
      )
      .all()
      .map(({ place }) => place);
    db.close();
    const there = await postgres.ask(
      "SELECT table_name || '.' || column_name AS place FROM information_schema.columns WHERE table_schema = 'alike'",
    );
    const places = new Set(there.map(({ place }) => place));
    expect(wanted.length).toBeGreaterThan(90);
    expect(wanted.filter((place) => !places.has(place))).toEqual([]);
  });

  test("sort text by its bytes", async () => {
    await opened("bytes", true);
    const rows = await postgres.ask(
      `SELECT table_name, column_name FROM information_schema.columns
        WHERE table_schema = 'bytes' AND data_type = 'text' AND collation_name IS DISTINCT FROM 'C'`,
    );
    expect(rows).toEqual([]);
  });

  test("of the first version are brought up to date, with what they hold", async () => {
    await postgres.ask(`CREATE SCHEMA first; SET search_path TO first; ${MIGRATIONS[0]};
      CREATE TABLE schema_version (version bigint NOT NULL); INSERT INTO schema_version VALUES (1);
      INSERT INTO mirrors (id, name, source) VALUES (1, 'scans', '/scans');
      INSERT INTO directories (mirror_id, path) VALUES (1, 'a'), (1, 'b'); RESET search_path`);
    expect(await opened("first", true)).toEqual({ from: 1, to: SCHEMA_VERSION });
    const indexes = async (schema: string) =>
      postgres.ask(`SELECT indexname, replace(indexdef, '${schema}.', '') AS text FROM pg_indexes
        WHERE schemaname = '${schema}' ORDER BY indexname`);
    await opened("again", true);
    expect(await indexes("first")).toEqual(await indexes("again"));
    const again = "INSERT INTO first.directories (mirror_id, path) VALUES (1, 'a')";
    await expect(postgres.ask(again)).rejects.toMatchObject({ code: "23505" });
  });

  test("are not changed while a daemon of an earlier version lives", async () => {
    await postgres.ask(`CREATE SCHEMA lived; SET search_path TO lived; ${MIGRATIONS[0]};
      CREATE TABLE schema_version (version bigint NOT NULL); INSERT INTO schema_version VALUES (1);
      INSERT INTO instances (name, pid, version, started_at, renewed_at, lease_until)
        VALUES ('office', 7, '0.0.9', now(), now(), now() + interval '1 h'); RESET search_path`);
    await expect(opened("lived", true)).rejects.toMatchObject({
      code: "JOURNAL_LOCKED",
      message: expect.stringMatching(
        /process 7 of office, which runs the earlier scanferry 0\.0\.9$/,
      ),
    });
    const version = "SELECT version FROM lived.schema_version";
    expect(await postgres.ask(version)).toEqual([{ version: "1" }]);
    // It was killed, and its lease is over.
    await postgres.ask("UPDATE lived.instances SET lease_until = now()");
    expect(await opened("lived", true)).toEqual({ from: 1, to: SCHEMA_VERSION });
  });

  test("of a later scanferry, of an earlier one for a guest, of none, of someone else", async () => {
    await opened("later", true);
    await postgres.ask("UPDATE later.schema_version SET version = 99");
    await expect(opened("later", true)).rejects.toMatchObject({ code: "JOURNAL_NEWER" });
    await postgres.ask("UPDATE later.schema_version SET version = 0");
    await expect(opened("later", false)).rejects.toMatchObject({ code: "JOURNAL_OLDER" });
    await expect(opened("nowhere", false)).rejects.toMatchObject({ code: "JOURNAL_MISSING" });
    await postgres.ask("CREATE SCHEMA strange; CREATE TABLE strange.things (id int)");
    await expect(opened("strange", true)).rejects.toMatchObject({ code: "JOURNAL_FOREIGN" });
  });
});
