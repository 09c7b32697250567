import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { freePort } from "../../fixtures/free-port.ts";
import { hookServer } from "../../fixtures/hook-server.ts";
import { smtpServer } from "../../fixtures/smtp-server.ts";
import { scratch } from "../journal/scratch.ts";
import { scanferry } from "./in-process.ts";

const BASE = `archive: { url: "http://127.0.0.1:9", accountKey: k, signing: { scheme: none } }
mirrors: [{ source: /srv/scans, target: /Scans }]
`;

function configIn(directory: string, notify: string): string {
  const file = join(directory, "scanferry.yaml");
  writeFileSync(file, `${BASE}${notify}`, { mode: 0o600 });
  return file;
}

test("each channel is tried, and what came of it is told", async () => {
  using directory = scratch();
  await using hook = await hookServer();
  await using post = await smtpServer();
  const file = configIn(
    directory.path,
    `notify:
  mail: [{ server: 127.0.0.1:${post.port}, tls: none, from: a@example.com, to: [b@example.com] }]
  webhook:
    - { name: chat, url: "${hook.url}/in" }
    - { name: gone, url: "http://127.0.0.1:${await freePort()}/canary-path" }
  command: [{ run: [sh, -c, "exit 4"] }]
`,
  );
  const all = await scanferry(["--config", file, "notify", "test"]);
  expect(all.stdout.split("\n")).toEqual([
    "ok    mail (mail): the server took the mail",
    "ok    chat (webhook): the address took the message",
    expect.stringMatching(/^FAIL {2}gone \(webhook\): .*ECONNREFUSED/),
    "FAIL  command (command): sh ended with exit code 4",
    "",
  ]);
  expect(all.code).toBe(1);
  expect(all.stdout).not.toContain("canary");
  expect(post.mails[0]?.data).toContain("A test: this channel works");
  const one = await scanferry(["--config", file, "notify", "test", "--channel", "chat", "--json"]);
  expect(JSON.parse(one.stdout)).toEqual({
    ok: true,
    channels: [{ channel: "chat", by: "webhook", ok: true, reason: null }],
  });
  expect(one.code).toBe(0);
  expect(
    hook.calls.map(({ body }) => (JSON.parse(body) as { events: object[] }).events),
  ).toMatchObject([[{ event: "test" }], [{ event: "test" }]]);
});

test.for([
  ["", [], "no channel is configured", "there is nothing to try"],
  [
    "notify: { command: [{ run: [tell] }] }\n",
    ["--channel", "mail"],
    "there are: command",
    "a typing error",
  ],
] as const)("%j, %j is an usage error (%s): %s", async ([notify, words, expected]) => {
  using directory = scratch();
  const file = configIn(directory.path, notify);
  const ended = await scanferry(["--config", file, "notify", "test", ...words]);
  expect(ended.code).toBe(2);
  expect(ended.stderr).toContain(expected);
});
