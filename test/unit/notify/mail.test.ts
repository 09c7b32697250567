import { expect, test } from "vitest";
import type { ChannelConfig, MailConfig } from "../../../src/config/notify-config.ts";
import { MailChannel } from "../../../src/notify/mail-channel.ts";
import { messageOf } from "../../../src/std/fault.ts";
import { smtpServer, type SmtpOptions } from "../../fixtures/smtp-server.ts";
import { until } from "../../fixtures/until.ts";
import { aBody } from "./a-body.ts";

const PASSWORD = "canary-password-77";
const login = { user: "office", password: PASSWORD };
const never = new AbortController().signal;

const channel = (port: number, fields: Partial<MailConfig> = {}) =>
  new MailChannel({
    by: "mail",
    name: "mail",
    events: [],
    host: "127.0.0.1",
    port,
    tls: "none",
    login: undefined,
    from: "scanferry@example.com",
    to: ["admin@example.com", "boss@example.com"],
    ...fields,
  } satisfies ChannelConfig);

test("a mail arrives with subject, text and both who get it", async () => {
  await using server = await smtpServer();
  await channel(server.port).send(aBody({ title: "Ende: geschlossen für heute" }), never);
  const [mail] = server.mails;
  expect(mail?.from).toBe("scanferry@example.com");
  expect(mail?.to).toEqual(["admin@example.com", "boss@example.com"]);
  expect(mail?.data).toContain("ossen_f=C3=BCr_heute?=");
  expect(mail?.data).toMatch(/^Message-ID: <0a1b@scanner-1>$/m);
  expect(mail?.data).toMatch(/^Auto-Submitted: auto-generated$/m);
  expect(mail?.data).toContain("7 documents wait.");
  expect(mail?.data).toContain("Buy pages.");
});

test("no title makes a header of its own", async () => {
  await using server = await smtpServer();
  await channel(server.port).send(aBody({ title: "a\r\nBcc: other@example.com" }), never);
  const [headers] = server.mails[0]?.data.split("\r\n\r\n") ?? [];
  expect(headers).toContain("Subject: [scanferry scanner-1] a Bcc: other@example.com");
  expect(headers).not.toMatch(/^Bcc:/m);
  expect(server.mails[0]?.to).toHaveLength(2);
});

test("who has a user logs in", async () => {
  await using server = await smtpServer({ login });
  await channel(server.port, { login }).send(aBody(), never);
  expect(server.mails).toHaveLength(1);
});

test("who of several is refused is named; the others are told, and once", async () => {
  await using server = await smtpServer({ refusal: "550 nobody", refuses: "boss@example.com" });
  const remark = await channel(server.port).send(aBody(), never);
  expect(remark).toBe("refused for boss@example.com");
  expect(server.mails.map(({ to }) => to)).toEqual([["admin@example.com"]]);
});

const plain = Buffer.from(`\0office\0${PASSWORD}`).toString("base64");

test.for<[SmtpOptions, Partial<MailConfig>, string, string]>([
  [{ login: { ...login, password: "other" } }, { login }, "535", "a wrong password"],
  [
    { login: { ...login, password: "other" }, wrongLogin: `535 no: $ ${PASSWORD}` },
    { login },
    "535",
    "a server that repeats what it was told",
  ],
  [{ refusal: "550 5.1.1 nobody of that name" }, {}, "550 5.1.1 nobody", "an unknown address"],
  [{ login }, { login, tls: "starttls" }, "STARTTLS", "a server that does not encrypt"],
])("%j refuses with a reason, and no secret in it: %s", async ([options, fields, reason]) => {
  await using server = await smtpServer(options);
  const error = await channel(server.port, fields)
    .send(aBody(), never)
    .catch((e: unknown) => e);
  expect(messageOf(error)).toContain(reason);
  const all = `${messageOf(error)} ${String((error as Error).cause)}`;
  expect(all).not.toContain(PASSWORD);
  expect(all).not.toContain(plain);
  expect(server.mails).toEqual([]);
});

test("with starttls nothing is told to a server that does not encrypt", async () => {
  await using server = await smtpServer({ login });
  await expect(
    channel(server.port, { login, tls: "starttls" }).send(aBody(), never),
  ).rejects.toThrow();
  expect(server.said.filter((line) => /AUTH|MAIL|RCPT/.test(line))).toEqual([]);
});

test("a server that hangs is left when the time is over, and nothing stays connected", async () => {
  await using server = await smtpServer({ hangs: true });
  const over = new AbortController();
  const sending = channel(server.port).send(aBody(), over.signal);
  await until("the connection", () => server.clients === 1);
  over.abort(new Error("too long"));
  await expect(sending).rejects.toThrow("too long");
  await until("its end", () => server.clients === 0);
});

test("a receipt is attached", async () => {
  await using server = await smtpServer();
  const body = aBody();
  const [event] = body.events;
  const receipt = {
    batch: "b1",
    mirror: "scans",
    openedAt: 0,
    closedAt: 1,
    converted: 1,
    pages: 3,
    documents: [],
  };
  const events = event ? [{ ...event, receipt }] : [];
  await channel(server.port).send({ ...body, events }, never);
  expect(server.mails[0]?.data).toContain("filename=receipt-b1.json");
});
