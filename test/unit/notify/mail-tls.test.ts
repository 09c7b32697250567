/** Mail over STARTTLS, to servers that are trusted and that are not. */
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { MailChannel } from "../../../src/notify/mail-channel.ts";
import { smtpServer } from "../../fixtures/smtp-server.ts";
import { scratch } from "../journal/scratch.ts";
import { aBody } from "./a-body.ts";

const hasOpenssl = spawnSync("openssl", ["version"], { stdio: "ignore" }).status === 0;
const login = { user: "office", password: "canary-password-77" };
const never = new AbortController().signal;

describe.skipIf(!hasOpenssl)("starttls", () => {
  const directory = scratch();
  const before = getCACertificates("default");

  /** A key, and a certificate for this address that it signed itself. */
  function certify(name: string) {
    const words =
      "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 10 -subj /CN=x";
    const files = ["-keyout", `${name}.key`, "-out", `${name}.crt`];
    const more = ["-addext", "subjectAltName=IP:127.0.0.1"];
    const options = { cwd: directory.path, stdio: "ignore" } as const;
    execFileSync("openssl", [...words.split(" "), ...files, ...more], options);
    const read = (ending: string) =>
      readFileSync(join(directory.path, `${name}.${ending}`), "utf8");
    return { key: read("key"), cert: read("crt") };
  }

  let known: ReturnType<typeof certify>;
  let stranger: ReturnType<typeof certify>;

  beforeAll(() => {
    known = certify("known");
    stranger = certify("stranger");
    setDefaultCACertificates([...before, known.cert]);
  });

  afterAll(() => {
    setDefaultCACertificates(before);
    directory[Symbol.dispose]();
  });

  const send = (port: number) =>
    new MailChannel({
      by: "mail",
      name: "mail",
      events: [],
      host: "127.0.0.1",
      port,
      tls: "starttls",
      login,
      from: "a@example.com",
      to: ["b@example.com"],
    }).send(aBody(), never);

  test("a server that is trusted is told everything, once the line is encrypted", async () => {
    await using server = await smtpServer({ login, starttls: known });
    await send(server.port);
    expect(server.mails).toHaveLength(1);
    const verbs = server.said.map((line) => line.split(" ")[0]);
    expect(verbs.slice(0, 4)).toEqual(["EHLO", "STARTTLS", "EHLO", "AUTH"]);
  });

  test("a server that nobody vouches for is told nothing", async () => {
    await using server = await smtpServer({ login, starttls: stranger });
    await expect(send(server.port)).rejects.toThrow(/self-signed certificate/);
    expect(server.said.map((line) => line.split(" ")[0])).toEqual(["EHLO", "STARTTLS"]);
  });
});
