import { WEBHOOK_FORMATS } from "../../../src/domain/webhook-format.ts";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { CommandChannel } from "../../../src/notify/command-channel.ts";
import { until } from "../../fixtures/until.ts";
import { scratch } from "../journal/scratch.ts";
import { aBody, AT } from "./a-body.ts";
import type { ChannelConfig } from "../../../src/config/notify-section.ts";
import type { MailConfig } from "../../../src/config/channels/mail.ts";
import { MailChannel } from "../../../src/notify/mail-channel.ts";
import { messageOf } from "../../../src/std/fault.ts";
import { type SmtpOptions, smtpServer } from "../../fixtures/smtp-server.ts";
import { createHmac } from "node:crypto";
import { readFile } from "node:fs/promises";
import { signatureOf, WebhookChannel } from "../../../src/notify/webhook-channel.ts";
import { systemClock } from "../../../src/std/clock.ts";
import { freePort } from "../../fixtures/free-port.ts";
import { hookServer } from "../../fixtures/hook-server.ts";

describe("command", () => {
  const never = new AbortController().signal;
  const channel = (cwd: string, ...run: string[]) =>
    new CommandChannel({ by: "command", name: "command", events: [], run, cwd }, systemClock);

  test("the program gets the message on its input, and its arguments as they are", async () => {
    using directory = scratch();
    const script = 'cat > got.json; printf "%s" "$1" > argument';
    await channel(directory.path, "sh", "-c", script, "sh", "$(id) ; rm").send(aBody(), never);
    expect(JSON.parse(readFileSync(join(directory.path, "got.json"), "utf8"))).toEqual(aBody());
    expect(readFileSync(join(directory.path, "argument"), "utf8")).toBe("$(id) ; rm");
  });

  test("it gets no secret from the environment", async () => {
    using directory = scratch();
    vi.stubEnv("SCANFERRY_ACCOUNT_KEY", "canary-key");
    onTestFinished(() => void vi.unstubAllEnvs());
    await channel(directory.path, "sh", "-c", "env > env").send(aBody(), never);
    const env = readFileSync(join(directory.path, "env"), "utf8");
    expect(env).toContain("PATH=");
    expect(env).not.toContain("canary");
  });

  test.for([
    ["exit 3", "sh ended with exit code 3", "it says that it failed"],
    ["echo 'no\nroute' >&2; exit 3", "sh ended with exit code 3: no route", "it says why"],
    ["sleep 60 & echo why >&2; exit 3", "exit code 3: why", "what it started holds its output"],
    ["kill -TERM $$", "sh ended with SIGTERM", "someone ended it"],
    ["exec 0<&-; exit 0", undefined, "it need not read"],
  ] as const)("%s gives %s: %s", async ([script, reason]) => {
    using directory = scratch();
    const sending = channel(directory.path, "sh", "-c", script).send(aBody(), never);
    if (reason === undefined) await sending;
    else await expect(sending).rejects.toThrow(reason);
  });

  test("a program that is not there is a reason like any other", async () => {
    using directory = scratch();
    await expect(channel(directory.path, "/nowhere/tell").send(aBody(), never)).rejects.toThrow(
      "/nowhere/tell is not there",
    );
  });

  test("when the time is over it ends with all that it started", async () => {
    using directory = scratch();
    const over = new AbortController();
    const pidFile = join(directory.path, "pid");
    const script = "sleep 600 & echo $! > pid.new; mv pid.new pid; wait";
    const sending = channel(directory.path, "sh", "-c", script).send(aBody(), over.signal);
    const pid = await until("its child", () => {
      try {
        return Number(readFileSync(pidFile, "utf8"));
      } catch {
        return undefined;
      }
    });
    over.abort(new Error("too long"));
    await expect(sending).rejects.toThrow("too long");
    await until("the child's end", () => !isAlive(pid));
  });

  function isAlive(pid: number): boolean {
    try {
      return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
    } catch {
      return false;
    }
  }
});

describe("mail", () => {
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
});

describe("webhook", () => {
  const SECRET = "canary-hook-secret";
  const never = new AbortController().signal;
  const clock = { ...systemClock, now: () => AT };
  const channel = (url: string, secret?: string) =>
    new WebhookChannel(
      { by: "webhook", format: "json", name: "hook", events: [], url, secret },
      clock,
    );

  test("the body is signed together with its time", async () => {
    await using hook = await hookServer();
    await channel(`${hook.url}/in?a=1`, SECRET).send(aBody(), never);
    const [call] = hook.calls;
    expect(call).toMatchObject({ method: "POST", path: "/in?a=1" });
    expect(JSON.parse(call?.body ?? "")).toEqual(aBody());
    const timestamp = call?.headers["x-scanferry-timestamp"];
    expect(timestamp).toBe(`${AT / 1_000}`);
    const hmac = createHmac("sha256", SECRET).update(`${String(timestamp)}.${call?.body}`);
    expect(call?.headers["x-scanferry-signature"]).toBe(`v1=${hmac.digest("hex")}`);
    expect(call?.headers["x-scanferry-id"]).toBe("0a1b");
    expect(call?.headers["content-type"]).toBe("application/json");
  });

  test("the example in docs/notify.md is signed as that page says", async () => {
    const page = await readFile(new URL("../../../docs/notify.md", import.meta.url), "utf8");
    const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(page)?.[1];
    const [body = ""] = /^\{"id":.*$/m.exec(page) ?? [];
    const seconds = Number(field("x-scanferry-timestamp"));
    expect(signatureOf("an example secret", seconds, body)).toBe(field("x-scanferry-signature"));
    expect(Object.keys(JSON.parse(body) as object)).toEqual(Object.keys(aBody()));
  });

  /** A file whose name is markup for one service or another. */
  const NASTY = "<!channel> @everyone ```[x](http://e)``` *b* <b>&";
  const aMessage = () => aBody({ kind: "credentials", detail: NASTY });
  const text = aMessage().text;
  const harmless = text.replaceAll("`", "'").replaceAll("@e", "@\u200be").trimEnd();
  const fence = `scanferry on scanner-1\n\`\`\`\n${harmless}\n\`\`\``;
  const title = aMessage().subject;
  const bearer = { authorization: "Bearer canary-token" };
  const extras = { "client::display": { contentType: "text/plain" } };
  const run = (words: string, weight: string) => ({
    type: "RichTextBlock",
    inlines: [{ type: "TextRun", text: words, weight }],
  });
  const card = {
    contentType: "application/vnd.microsoft.card.adaptive",
    contentUrl: null,
    content: {
      $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
      type: "AdaptiveCard",
      version: "1.4",
      body: [run(title, "Bolder"), run(text, "Default")],
    },
  };
  const room = "/_matrix/client/v3/rooms/!a%3Aexample.com/send/m.room.message/0a1b";

  const REQUESTS = [
    ["json", "/in", "POST /in", aMessage(), bearer, "scanferry's own"],
    [
      "ntfy",
      "/scans",
      "POST /",
      { topic: "scans", title, message: text, priority: 5 },
      bearer,
      "JSON goes to the root",
    ],
    [
      "gotify",
      "",
      "POST /message",
      { title, message: text, priority: 8, extras },
      { "x-gotify-key": "canary-token" },
      "plain text by `extras`",
    ],
    [
      "gotify",
      "/g/message",
      "POST /g/message",
      { title, message: text, priority: 8, extras },
      {},
      "its whole address may be given",
    ],
    [
      "slack",
      "/services/x",
      "POST /services/x",
      { text: fence.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;") },
      {},
      "in a block nothing is markup but < and &",
    ],
    [
      "discord",
      "/api/webhooks/1/x",
      "POST /api/webhooks/1/x",
      { content: fence, allowed_mentions: { parse: [] } },
      {},
      "nobody is mentioned",
    ],
    [
      "teams",
      "/workflows/x?sig=1",
      "POST /workflows/x?sig=1",
      { type: "message", attachments: [card] },
      {},
      "runs of text are plain",
    ],
    [
      "matrix",
      "/",
      `PUT ${room}`,
      { msgtype: "m.text", body: `${title}\n${text}`, "m.mentions": {} },
      bearer,
      "the id is the transaction",
    ],
    [
      "pushover",
      "/1/messages.json",
      "POST /1/messages.json",
      { token: "canary-token", user: "!a:example.com", title, message: text, priority: 1 },
      {},
      "token and user in the body",
    ],
  ] as const;

  test("each service has a row", () => {
    expect(new Set(REQUESTS.map(([format]) => format))).toEqual(new Set(WEBHOOK_FORMATS));
  });

  test.for(REQUESTS)("as %s at %s: %s, %o, %o: %s", async ([format, path, line, body, headers]) => {
    await using hook = await hookServer();
    const config = { by: "webhook", format, name: "hook", events: [], secret: undefined } as const;
    const said = { token: "canary-token", to: "!a:example.com", url: `${hook.url}${path}` };
    await new WebhookChannel({ ...config, ...said }, clock).send(aMessage(), never);
    const [call] = hook.calls;
    expect(`${call?.method} ${call?.path}`).toBe(line);
    expect(JSON.parse(call?.body ?? "")).toEqual(body);
    expect(call?.headers).toMatchObject({ "content-type": "application/json", ...headers });
  });

  test.for([
    ["ntfy", 4_096, "longer ones become an attachment"],
    ["discord", 2_000, "longer ones are refused"],
    ["pushover", 1_024, "the same"],
  ] as const)("what is sent to %s has at most %i bytes: %s", async ([format, max]) => {
    await using hook = await hookServer();
    const config = { by: "webhook", format, name: "hook", events: [], secret: undefined } as const;
    const said = { token: "t", to: "u", url: `${hook.url}/x` };
    await new WebhookChannel({ ...config, ...said }, clock).send(
      aBody({ detail: "ü".repeat(9_000) }),
      never,
    );
    const { message, content } = JSON.parse(hook.calls[0]?.body ?? "") as Record<string, string>;
    const sent = message ?? content ?? "";
    expect(Buffer.from(sent).length).toBeLessThanOrEqual(max);
    expect(sent).toContain("…");
    expect(sent).not.toContain("\uFFFD");
  });

  test.for([
    [
      '{"m": "{title}", "k": {"u": "{urgency}"}}',
      "application/json",
      /^\{"m": "Sending .*\\"q\\"", "k": \{"u": "normal"\}\}$/,
    ],
    [
      "{host}: {title} {nothing}",
      "text/plain; charset=utf-8",
      /^scanner-1: Sending "q" \{nothing\}$/,
    ],
  ] as const)("a body of one's own, %s, is %s", async ([template, type, expected]) => {
    await using hook = await hookServer();
    const headers = { "x-team": "canary-header" };
    const said = {
      format: "json",
      secret: undefined,
      url: `${hook.url}/in`,
      headers,
      body: template,
    } as const;
    const own = new WebhookChannel({ by: "webhook", name: "hook", events: [], ...said }, clock);
    await own.send(aBody({ title: 'Sending "q"' }), never);
    const [call] = hook.calls;
    expect(call?.body).toMatch(expected);
    expect(call?.headers).toMatchObject({ "content-type": type, "x-team": "canary-header" });
  });

  test("a refusal names no token and no header", async () => {
    const url = `http://127.0.0.1:${await freePort()}/canary-path`;
    const said = { format: "matrix", token: "canary-token", to: "canary-room", url } as const;
    const config = { by: "webhook", name: "hook", events: [], secret: undefined } as const;
    const error = await new WebhookChannel(
      { ...config, ...said, headers: { a: "canary-a" } },
      clock,
    )
      .send(aBody(), never)
      .catch((e: unknown) => e);
    expect(messageOf(error)).not.toContain("canary");
  });

  test("without a secret it is not signed", async () => {
    await using hook = await hookServer();
    await channel(hook.url).send(aBody(), never);
    expect(hook.calls[0]?.headers["x-scanferry-signature"]).toBeUndefined();
  });

  test.for([
    [302, "a redirect is not followed: it may lead anywhere"],
    [404, "the address is wrong"],
    [503, "it is to be tried again"],
  ] as const)("%i is no success: %s", async ([status]) => {
    await using hook = await hookServer(status);
    const error = await channel(`${hook.url}/canary-path`, SECRET)
      .send(aBody(), never)
      .catch((e: unknown) => e);
    expect(messageOf(error)).toMatch(new RegExp(`^127\\.0\\.0\\.1:\\d+ answered ${status}$`));
    expect(hook.calls).toHaveLength(1);
  });

  test("nobody there: the reason tells neither path nor secret", async () => {
    const url = `http://127.0.0.1:${await freePort()}/canary-path?key=canary-key`;
    const error = await channel(url, SECRET)
      .send(aBody(), never)
      .catch((e: unknown) => e);
    expect(messageOf(error)).toContain("ECONNREFUSED");
    expect(messageOf(error)).not.toContain("canary");
  });

  test("one that does not answer is left when the time is over", async () => {
    await using hook = await hookServer(undefined);
    const over = new AbortController();
    const sending = channel(hook.url).send(aBody(), over.signal);
    await hook.got(1);
    over.abort(new Error("too long"));
    await expect(sending).rejects.toThrow("too long");
  });
});
