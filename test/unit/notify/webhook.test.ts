import { createHmac } from "node:crypto";
import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { signatureOf } from "../../../src/notify/signature.ts";
import { WebhookChannel } from "../../../src/notify/webhook-channel.ts";
import { systemClock } from "../../../src/std/clock.ts";
import { messageOf } from "../../../src/std/fault.ts";
import { freePort } from "../../fixtures/free-port.ts";
import { hookServer } from "../../fixtures/hook-server.ts";
import { aBody, AT } from "./a-body.ts";

const SECRET = "canary-hook-secret";
const never = new AbortController().signal;
const clock = { ...systemClock, now: () => AT };
const channel = (url: string, secret?: string) =>
  new WebhookChannel({ by: "webhook", name: "hook", events: [], url, secret }, clock);

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
