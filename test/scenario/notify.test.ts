/** Being told, over the whole daemon: the quota closes and opens, and a mail server hangs. */
import { expect, test } from "vitest";
import type { ChannelConfig } from "../../src/config/notify-section.ts";
import { USUAL_EVENTS } from "../../src/domain/event.ts";
import type { MessageBody } from "../../src/notify/message.ts";
import { aNotify } from "../fixtures/a-config.ts";
import { aDaemon } from "../fixtures/a-daemon.ts";
import { pdfOf } from "../fixtures/documents.ts";
import { hookServer } from "../fixtures/hook-server.ts";
import { smtpServer } from "../fixtures/smtp-server.ts";
import { until } from "../fixtures/until.ts";
import { aWorld } from "../fixtures/world.ts";

const PASSWORD = "canary-password-77";
const SECRET = "canary-hook-secret";

const events = [...USUAL_EVENTS, "batch"] as const;

const webhook = (url: string): ChannelConfig => {
  return { by: "webhook", format: "json", name: "hook", events, url, secret: SECRET };
};

const mail = (name: string, port: number): ChannelConfig => ({
  by: "mail",
  name,
  events,
  host: "127.0.0.1",
  port,
  tls: "none",
  login: { user: "office", password: PASSWORD },
  from: "scanferry@example.com",
  to: ["admin@example.com"],
});

/**
 * `what event` of every message a webhook got, but for batches. One that was cut by the end of a life
 * may come again from the next one, under the same id.
 */
function heard(calls: readonly { readonly body: string }[]): string[] {
  const bodies = calls.map(({ body }) => JSON.parse(body) as MessageBody);
  return [...new Map(bodies.map((body) => [body.id, body])).values()]
    .flatMap((body) => body.events)
    .filter(({ event }) => event !== "batch")
    .map(({ what, event }) => `${what} ${event}`);
}

test("the quota closes and opens: mail and webhook are told once each, anyone who hangs", async () => {
  await using world = await aWorld({ quotaPages: 3 });
  await using hook = await hookServer();
  const login = { user: "office", password: PASSWORD };
  await using post = await smtpServer({ login });
  await using hanging = await smtpServer({ hangs: true });
  const channels = [
    mail("hanging", hanging.port),
    webhook(`${hook.url}/told`),
    mail("mail", post.port),
  ];
  const config = world.config({ notify: aNotify({ channels, timeoutMs: 2_000 }) });
  const lines: string[] = [];
  const line = (context: object, message: string) =>
    void lines.push(`${message} ${JSON.stringify(context)}`);
  const isOfHanging = (one: string) => one.includes('"channel":"hanging"');
  const log = { trace: line, debug: line, info: line, warn: line, error: line };
  {
    // What hangs is still waited for when this life ends.
    const patient = { ...config, notify: aNotify({ channels, timeoutMs: 60_000 }) };
    await using running = await aDaemon(patient, { log, tellLookMs: 100 });
    for (let n = 0; n < 6; n++) world.write(`scan-${n}.pdf`, pdfOf(1, { seed: n }));
    await until("the closed gate", async () => (await running.daemon.status()).gate);
    await hook.got(1);
    await post.got(1);
    expect(heard(hook.calls)).toEqual(["began gate"]);
    expect(post.mails[0]?.data).toContain("Sending has stopped: the page allowance is used up");
    await until("a client that waits", () => hanging.clients > 0);
  }
  // What hung did not keep the daemon from ending, and nothing of it is left.
  await until("no client", () => hanging.clients === 0);
  {
    // Another life tells nothing again, then that it is over.
    await using running = await aDaemon(config, { log, tellLookMs: 100 });
    await running.idle(false);
    expect(heard(hook.calls)).toEqual(["began gate"]);
    world.archive.setQuota(undefined);
    const done = async () => (await running.daemon.status()).documents.converted === 6;
    await until("all six", done);
    await until("good news", () => heard(hook.calls).length > 1, 90_000);
    // One that was too slow for its channel is tried again after half a minute and more.
    await until(
      "its mail",
      () => post.mails.some(({ data }) => data.includes("Sending continues:")),
      90_000,
    );
    // A life that is over sooner than a try is cut short says nothing of it.
    await until("word of what hangs", () => lines.some(isOfHanging));
  }
  expect(heard(hook.calls)).toEqual(["began gate", "over gate"]);
  const ofGate = post.mails.filter(({ data }) => /^Subject:.*Sending/m.test(data));
  expect(new Set(ofGate.map(({ data }) => /^Message-ID: (.*)$/m.exec(data)?.[1])).size).toBe(2);
  const all = [...lines, ...hook.calls.map(({ body }) => body), ...post.mails.map((m) => m.data)];
  for (const secret of [PASSWORD, SECRET, "canary-secret-4711"])
    expect(all.filter((one) => one.includes(secret))).toEqual([]);
}, 240_000);

test("a batch that is closed learns about with its receipt, and the ping comes while all is well", async () => {
  await using world = await aWorld({ folders: ["/Scans/2026"] });
  await using hook = await hookServer();
  const ping = { url: `${hook.url}/ping`, method: "POST", schedule: "* * * * * *" } as const;
  const config = world.config({
    notify: aNotify({ channels: [webhook(`${hook.url}/told`)], ping }),
    batch: { quietMs: 500, maxDocuments: 200 },
  });
  // All of them are there at the first scan: however slow the machine, they become ready together.
  for (let n = 0; n < 3; n++) world.write(`2026/scan-${n}.pdf`, pdfOf(2, { seed: n }));
  await using _running = await aDaemon(config, { tellLookMs: 100 });
  const told = () => hook.calls.filter(({ path }) => path === "/told");
  await until("the receipt", () => told().length > 0);
  const receipts = told().flatMap(({ body }) =>
    (JSON.parse(body) as MessageBody).events.map(({ receipt }) => receipt),
  );
  expect(receipts).toMatchObject([{ mirror: "scans", pages: 6 }]);
  expect(receipts[0]?.documents).toHaveLength(3);
  expect(receipts[0]?.documents[0]).toMatchObject({ folder: "/Scans/2026", pages: 2 });
  await until("a ping", () =>
    hook.calls.some(({ path, method }) => `${method} ${path}` === "POST /ping"),
  );
});
