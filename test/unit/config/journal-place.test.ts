/** Where the journal is: a file, or a PostgreSQL that several daemons share. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { shownJournal } from "../../../src/network/journal-place.ts";
import { ConfigFolder, LEAST, SECRETS } from "./config-folder.ts";

const URL = "postgres://scanferry@db.example.com:5433/scans";
const PASSWORD = "CANARY:journal/pass word";
const WRITTEN = encodeURIComponent(PASSWORD);

async function journalOf(line: string, env: NodeJS.ProcessEnv = {}, mode = 0o600) {
  using folder = new ConfigFolder(`${LEAST}${line}\n`, mode);
  folder.write("journal.password", `${PASSWORD}\n`);
  return (await folder.load({ ...SECRETS, ...env })).journal;
}

const PLAIN = {
  server: URL,
  schema: "scanferry",
  password: undefined,
  hasPasswordInUrl: false,
  leaseMs: 15_000,
  instance: undefined,
};

test.for([
  [`journal: ${URL}`, PLAIN, "short for its keys"],
  [`journal: { url: "${URL}" }`, PLAIN, "its keys"],
  [`journal: postgresql://scanferry@db.example.com:5433/scans`, PLAIN, "by its other name"],
  [`journal: ${URL}?schema=two`, { ...PLAIN, schema: "two" }, "next to another journal"],
  [
    `journal: ${URL}?schema=two&sslmode=verify-full`,
    { ...PLAIN, schema: "two", server: `${URL}?sslmode=verify-full` },
    "what the client library takes stays",
  ],
  [
    `journal: { url: "${URL}", lease: 30s, instance: office-2 }`,
    { ...PLAIN, leaseMs: 30_000, instance: "office-2" },
    "one of several",
  ],
  [
    `journal: { url: "${URL}", passwordFile: journal.password }`,
    { ...PLAIN, password: PASSWORD },
    "a file, as for other secrets",
  ],
  [
    `journal: postgres://scanferry:${WRITTEN}@db.example.com:5433/scans`,
    { ...PLAIN, password: PASSWORD, hasPasswordInUrl: true },
    "in the URL, encoded",
  ],
  [
    `journal: "${URL}?password=${WRITTEN}"`,
    { ...PLAIN, password: PASSWORD, hasPasswordInUrl: true },
    "the other place of a URL",
  ],
  [
    `journal: "postgresql:///scans?host=/var/run/postgresql&port=5433&sslmode=require"`,
    { ...PLAIN, server: "postgres://%2Fvar%2Frun%2Fpostgresql:5433/scans" },
    "a socket, where there is no TLS",
  ],
  [
    `journal: postgresql://scanferry@%2Fvar%2Frun%2Fpostgresql:5433/scans`,
    { ...PLAIN, server: "postgres://scanferry@%2Fvar%2Frun%2Fpostgresql:5433/scans" },
    "the same as libpq has it for a host",
  ],
  [
    `journal: { url: "postgresql://scanferry@/scans?host=/run/pg" }`,
    { ...PLAIN, server: "postgres://scanferry@%2Frun%2Fpg/scans" },
    "with a user and no host",
  ],
  [
    `journal: "postgres:///scans?host=db.example.com&user=scanferry&port=5433"`,
    PLAIN,
    "each at its place, so that whose password it is can be told",
  ],
  [
    `journal: "${URL}?sslmode=require&sslrootcert=system"`,
    { ...PLAIN, server: `${URL}?sslmode=verify-full` },
    "what encrypts asks for a certificate, and the client library warns of nothing",
  ],
] as const)("%s (%j, %s)", async ([line, expected]) => {
  expect(await journalOf(line)).toEqual(expected);
});

test("the environment has the password where nothing else says it, whatever the file's mode", async () => {
  const env = { SCANFERRY_JOURNAL_PASSWORD: PASSWORD };
  expect(await journalOf(`journal: ${URL}`, env, 0o644)).toMatchObject({ password: PASSWORD });
});

test("systemd's credentials have the password file, and it is watched like other secrets", async () => {
  using folder = new ConfigFolder(
    `${LEAST}journal: { url: "${URL}", passwordFile: handed.password }\n`,
  );
  const path = folder.write("credentials/handed.password", PASSWORD);
  const env = { ...SECRETS, CREDENTIALS_DIRECTORY: join(folder.path, "credentials") };
  const config = await folder.load(env);
  expect(config.journal).toMatchObject({ password: PASSWORD });
  expect(config.secretFiles?.map((file) => file.path)).toEqual([path]);
});

test("it is kept for as long as a file is, where that is said", async () => {
  using folder = new ConfigFolder(`${LEAST}journal: { url: "${URL}", retain: 90d }\n`);
  expect((await folder.load()).retention?.retainMs).toBe(90 * 86_400_000);
});

test.for([
  ["journal: postgres://scanferry:CANARY@/scans", "is not a URL"],
  ["journal: postgres://scanferry:CANARY@db.example.com", "names no database"],
  ["journal: postgres://scanferry:CANARY@one:5432,two:5432/scans", "names several hosts"],
  ["journal: postgres://one,two/scans?password=CANARY", "names several hosts"],
  ["journal: postgres:///scans?password=CANARY&host=one,two", "names several hosts"],
  ["journal: postgres://u:CANARY@/scans?host=a/b", "is not a URL"],
  ["journal: postgres://u:CANARY@h/d?sslmode=verify_full", "has an unknown sslmode"],
  ["journal: postgres://u:CANARY@h/d?sslmod=verify-full", "has an unknown parameter"],
  ["journal: postgress://u:CANARY@h/d", "is an address, not a path"],
  ["journal: postgres://u:CANARY@h/d?schema=A-B", "has a schema that is no plain name"],
  ["journal: postgres://u:CANARY@h/d?schema=pg_own", "has a schema that is no plain name"],
  ["journal: { url: mysql://u:CANARY@h/d }", "is not a postgres URL"],
  ["journal: { url: postgres://u@h/d, path: ./j.db }", "is given next to url"],
  ["journal: { path: ./j.db, instance: CANARY }", "is for a journal in PostgreSQL alone"],
  ["journal: { passwordFile: CANARY }", "is for a journal in PostgreSQL alone"],
  ["journal: { url: postgres://u@h/d, lease: 4s }", "is too short; write 5s or more"],
  ["journal: { url: postgres://u:CANARY@h/d, passwordFile: p }", "is given next to password"],
] as const)("%s is refused: %s", async ([line, message]) => {
  using folder = new ConfigFolder(`${LEAST}${line}\n`);
  const problems = await folder.problems();
  expect(problems).toHaveLength(1);
  expect(problems[0]).toContain(message);
  expect(problems[0]).not.toContain("CANARY");
});

test("others must not be able to read a file with a password in its URL", async () => {
  using folder = new ConfigFolder(`${LEAST}journal: postgres://u:CANARY@h/d\n`, 0o644);
  const problems = await folder.problems();
  expect(problems[0]).toContain("the file holds a secret, and others can read it (mode 644)");
  expect(problems[0]).not.toContain("CANARY");
});

test("it is shown without a password and without what may be one", async () => {
  const place = await journalOf(
    `journal: postgres://scanferry:${WRITTEN}@db.example.com:5433/scans?sslkey=x`,
  );
  expect(shownJournal(place)).toBe(`${URL}?schema=scanferry`);
  expect(shownJournal("/j.db")).toBe("/j.db");
});
