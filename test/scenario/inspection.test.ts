/** The page of a daemon that runs: its log, the configuration in use, and the check, all without secrets. */
import { readFileSync, writeFileSync } from "node:fs";
import { expect, test, vi } from "vitest";
import { aProcess } from "../fixtures/a-process.ts";
import { freePort } from "../fixtures/free-port.ts";
import { until } from "../fixtures/until.ts";
import { aWorld } from "../fixtures/world.ts";

vi.setConfig({ testTimeout: 120_000 });

const TOKEN = "0123456789abcdef";

test("an administrator sees the log, what is configured and where, and what the check finds", async () => {
  await using world = await aWorld();
  const url = `http://127.0.0.1:${await freePort()}`;
  const file = world.configFile();
  const web = `web: { listen: "${url.slice(7)}", token: ${TOKEN} }`;
  const text = readFileSync(file, "utf8").replace("web: off", web);
  writeFileSync(file, text);
  await using _run = aProcess(["--config", file, "run"]);
  const headers = {
    authorization: `Bearer ${TOKEN}`,
    "x-scanferry": "1",
    "content-type": "application/json",
  };
  const ask = async (path: string, method = "GET") => {
    const body = method === "POST" ? "{}" : null;
    const reply = await fetch(url + path, { method, headers, body });
    const said = await reply.text();
    expect(said).not.toContain(TOKEN);
    return { status: reply.status, answer: JSON.parse(said) as unknown };
  };
  await until("the first lines of the log", async () => {
    const { answer } = await ask("/api/log").catch(() => ({ answer: {} }));
    return JSON.stringify(answer).includes('"message":"started"');
  });
  const line = text.split("\n").findIndex((one) => one.startsWith("web:")) + 1;
  const { answer } = await ask("/api/configuration");
  const { keys } = answer as { keys: { key: string; value: string; origin: string }[] };
  const of = (name: string) => keys.find(({ key }) => key === name);
  expect(of("web.token")).toMatchObject({ value: "(hidden)", origin: `${file}:${line}` });
  expect(of("conversion.stuckAfter")).toMatchObject({ origin: "default" });
  const check = await ask("/api/check", "POST");
  expect(check.status).toBe(200);
  const { findings } = check.answer as { findings: { level: string; what: string }[] };
  expect(findings.some(({ what }) => what.includes(file))).toBe(true);
});
