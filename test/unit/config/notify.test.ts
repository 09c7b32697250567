import { expect, test } from "vitest";
import { notifySecretsOf } from "../../../src/config/notify-section.ts";
import { USUAL_EVENTS } from "../../../src/domain/event.ts";
import { ConfigFolder, LEAST, SECRETS } from "./config-folder.ts";

const MAIL = "server: smtp.example.com:587, from: a@example.com, to: [b@example.com]";
const withNotify = (text: string) => `${LEAST}notify:\n${text}\n`;

test("without a channel and without a ping there is nothing to be told", async () => {
  using folder = new ConfigFolder(LEAST);
  expect((await folder.load()).notify).toBeUndefined();
});

test("channels of each kind, with what they are by default", async () => {
  using folder = new ConfigFolder(
    withNotify(`  mail: [{ ${MAIL}, user: office, passwordFile: mail.password }]
  webhook: [{ name: chat, urlFile: hook.url, secret: canary-hook, events: [gate, batch] }]
  command: [{ run: [./tell, 1] }]
  quiet: { hours: "22:00-07:00" }
  digest: "0 7 * * *"
  ping: { url: https://ping.example.com/4711 }`),
  );
  folder.write("mail.password", "canary-password\n");
  folder.write("hook.url", "https://hooks.example.com/canary\n");
  const { notify } = await folder.load();
  expect(notify).toEqual({
    channels: [
      {
        by: "mail",
        name: "mail",
        events: USUAL_EVENTS,
        host: "smtp.example.com",
        port: 587,
        tls: "starttls",
        login: { user: "office", password: "canary-password" },
        from: "a@example.com",
        to: ["b@example.com"],
      },
      {
        by: "webhook",
        format: "json",
        name: "chat",
        events: ["gate", "batch"],
        url: "https://hooks.example.com/canary",
        secret: "canary-hook",
      },
      {
        by: "command",
        name: "command",
        events: USUAL_EVENTS,
        run: [`${folder.path}/tell`, "1"],
        cwd: folder.path,
      },
    ],
    timeoutMs: 30_000,
    repeatMs: 86_400_000,
    heldAfterMs: 3_600_000,
    diskBytesMin: 500_000_000,
    quiet: [{ from: 1320, to: 420 }],
    digest: "0 7 * * *",
    ping: { url: "https://ping.example.com/4711", method: "GET", schedule: "*/5 * * * *" },
  });
  expect(notifySecretsOf(notify)).toEqual(["canary-password", "canary-hook"]);
});

test("the environment serves where the file says nothing", async () => {
  using folder = new ConfigFolder(
    withNotify(`  mail: [{ ${MAIL}, user: o }]\n  webhook: [{}]`),
    0o644,
  );
  const { notify } = await folder.load({
    ...SECRETS,
    SCANFERRY_MAIL_PASSWORD: "canary-password",
    SCANFERRY_WEBHOOK_URL: "https://hooks.example.com/very-secret",
    SCANFERRY_WEBHOOK_SECRET: "canary-hook",
    SCANFERRY_PING_URL: "https://ping.example.com/very-secret",
  });
  expect(notifySecretsOf(notify)).toEqual([
    "canary-password",
    "/very-secret",
    "canary-hook",
    "/very-secret",
  ]);
});

test("a variable may name the file of each secret", async () => {
  using folder = new ConfigFolder(withNotify(`  mail: [{ ${MAIL}, user: o }]\n  webhook: [{}]`));
  const file = (name: string, text: string) => folder.write(name, text);
  const { notify } = await folder.load({
    ...SECRETS,
    SCANFERRY_MAIL_PASSWORD_FILE: file("mail", "canary-password\n"),
    SCANFERRY_WEBHOOK_URL_FILE: file("url", "https://hooks.example.com/very-secret\n"),
    SCANFERRY_WEBHOOK_SECRET_FILE: file("secret", "canary-hook\n"),
    SCANFERRY_WEBHOOK_TOKEN_FILE: file("token", "canary-token\n"),
  });
  const expected = ["canary-password", "/very-secret", "canary-hook", "canary-token"];
  expect(notifySecretsOf(notify)).toEqual(expected);
});

test("an address may stand in a file that others can read; a password may not", async () => {
  using open = new ConfigFolder(withNotify("  webhook: [{ url: https://a.example.com/x }]"), 0o644);
  expect(await open.problems()).toEqual([]);
  using shut = new ConfigFolder(
    withNotify(`  mail: [{ ${MAIL}, user: o, password: canary }]`),
    0o644,
  );
  expect(await shut.problems()).toEqual([
    expect.stringMatching(
      /notify\.mail\[0\]\.password: the file holds a secret, and others can read/,
    ),
  ]);
});

test.for([
  [`mail: [{ ${MAIL}, user: o }]`, "password: is missing", "a user needs one"],
  [
    `mail: [{ ${MAIL}, tls: none, user: o, password: canary }]`,
    "in the open",
    "anybody could read it",
  ],
  [`mail: [{ ${MAIL}, tls: ssl }]`, "none of starttls, tls, none", "a wrong word"],
  ["mail: [{ server: smtp.example.com:25, from: a@b.c }]", "to: is missing", "nobody would get it"],
  [`mail: [{ ${MAIL.replace("b@", "Boss <b@")} }]`, "not a mail address", "an address alone"],
  [`mail: [{ ${MAIL} }, { ${MAIL} }]`, "the name of another channel", "two of one name"],
  ["webhook: [{}]", "url: is missing", "nowhere to post to"],
  ["webhook: [{ url: ftp://canary }]", "not an http or https URL", "no web address"],
  [
    "webhook: [{ url: 'https://o:canary@h' }]",
    "a user or a password",
    "it would be logged by others",
  ],
  ["webhook: [{ url: https://h, events: [gates] }]", "did you mean gate?", "a typing error"],
  ["command: [{ run: [] }]", "is empty", "nothing to run"],
  ["command: [{ run: tell }]", "must be a list", "a shell's line is no list"],
  ["digest: daily", "not a cron expression", "no word is one"],
  ["quiet: { hours: night }", "no window of hours", "no word is one"],
] as const)("%s is refused (%s): %s", async ([text, expected]) => {
  using folder = new ConfigFolder(withNotify(`  ${text}`));
  const problems = await folder.problems();
  expect(problems).toHaveLength(1);
  expect(problems[0]).toContain(expected);
  expect(problems[0]).not.toContain("canary");
});

test("a service gets its token, whom it is for, headers and its own address", async () => {
  using folder = new ConfigFolder(
    withNotify(`  webhook:
    - { name: a, format: pushover, tokenFile: push.token, to: canary-user }
    - { name: b, url: "https://h/x", headers: { X-Team: canary-header }, body: "{title}" }`),
  );
  folder.write("push.token", "canary-token\n");
  const { notify } = await folder.load();
  expect(notify?.channels).toMatchObject([
    { url: "https://api.pushover.net/1/messages.json", token: "canary-token", to: "canary-user" },
    { format: "json", headers: { "x-team": "canary-header" }, body: "{title}" },
  ]);
  expect(notifySecretsOf(notify)).toEqual(
    expect.arrayContaining(["canary-token", "canary-user", "canary-header"]),
  );
});

test.for([
  ["format: gotify, url: https://h", "token: is missing", "gotify knows its sender by it"],
  ["format: matrix, url: https://h, token: t", "to: is missing; write the room's id", "a room"],
  [
    "format: slack, url: https://h, token: t",
    "token: slack takes none",
    "its address is the secret",
  ],
  ["format: ntfy, url: https://h/t, to: x", "to: ntfy takes none", "its topic is in the address"],
  ["format: ntfy, url: https://h/t, body: x", "body: is given next to format: ntfy", "one of them"],
  ["format: ntfi, url: https://h/t", "format: .*did you mean ntfy", "a typing mistake"],
  [
    "url: https://h, headers: { Content-Length: 1x }",
    "is set by scanferry",
    "it would tear the request",
  ],
  ["url: https://h, headers: { Expect: 100-continue }", "is set by scanferry", "none would leave"],
  ['url: https://h, headers: { X: "a\\nb" }', "headers.X: has a character that no", "two lines"],
  ["url: https://h, headers: { X: 5€ }", "headers.X: has a character that no header", "Latin only"],
  ["url: https://h, token: 5€", "token: has a character that no header", "it goes into a header"],
] as const)("webhook: { %s } is refused: %s, since %s", async ([keys, problem]) => {
  using folder = new ConfigFolder(withNotify(`  webhook: [{ ${keys} }]`));
  const problems = await folder.problems();
  expect(problems).toHaveLength(1);
  expect(problems[0]).toMatch(new RegExp(problem));
});
