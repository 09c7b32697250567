/** Mail over STARTTLS, to servers that are trusted and that are not. */
import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ChannelConfig, NotifyConfig } from "../../../src/config/notify-section.ts";
import type { MailConfig } from "../../../src/config/channels/mail.ts";
import { systemClock } from "../../../src/std/clock.ts";
import { MailChannel } from "../../../src/notify/mail-channel.ts";
import { type SmtpOptions, smtpServer } from "../../fixtures/smtp-server.ts";
import { scratch } from "../../unit/journal/scratch.ts";
import { aBody } from "../../unit/notify/a-body.ts";
import type { CheckResult } from "../../../src/check/check-result.ts";
import { examineMail } from "../../../src/check/examination.ts";

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

  const channelTo = (
    port: number,
    fields: Partial<MailConfig> = {},
  ): ChannelConfig & MailConfig => ({
    by: "mail",
    name: "office",
    events: [],
    host: "127.0.0.1",
    port,
    tls: "starttls",
    login,
    from: "a@example.com",
    to: ["b@example.com"],
    ...fields,
  });
  const send = (port: number) => new MailChannel(channelTo(port)).send(aBody(), never);

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

  describe("`check`", () => {
    const wrong = { user: "office", password: "not-the-one" };

    test.for([
      // server, configured, level, what it says, what to do
      ["tls", "starttls", {}, "FAIL", "encrypted from the first byte", "`tls: tls`"],
      ["tls", "none", {}, "FAIL", "encrypted from the first byte", "`tls: tls`"],
      ["starttls", "tls", {}, "FAIL", "begins in plain text", "`tls: starttls`"],
      ["none", "starttls", {}, "FAIL", "STARTTLS", "offers no encryption"],
      ["starttls", "starttls", { login: wrong }, "FAIL", "535", "`user` and its password"],
      ["stranger", "starttls", {}, "FAIL", "self-signed", "archive.ca"],
      ["gone", "starttls", {}, "FAIL", "ECONNREFUSED", "Check `server`"],
      ["starttls", "starttls", {}, "ok", "lets office in", null],
      ["tls", "tls", {}, "ok", "lets office in", null],
      ["none", "none", { login: undefined }, "ok", "answers", null],
    ] as const)("server %s, tls: %s %j: %s, %s", async ([speaks, tls, more, level, what, fix]) => {
      const servers: Record<typeof speaks, SmtpOptions> = {
        tls: { login, tls: known },
        starttls: { login, starttls: known },
        stranger: { login, starttls: stranger },
        none: {},
        gone: {},
      };
      await using server = await smtpServer(servers[speaks]);
      if (speaks === "gone") await server[Symbol.asyncDispose]();
      const channels = [channelTo(server.port, { tls, ...more })];
      const findings: CheckResult[] = [];
      const notify = { channels } as unknown as NotifyConfig;
      for await (const one of examineMail({ notify }, systemClock)) findings.push(one);
      expect(findings).toEqual([
        {
          level,
          what: expect.stringContaining(what) as string,
          fix: fix === null ? null : (expect.stringContaining(fix) as string),
        },
      ]);
      expect(server.mails).toEqual([]);
      expect(JSON.stringify(findings)).not.toMatch(/canary|not-the-one/);
    });
  });
});
