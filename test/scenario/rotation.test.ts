/** A secret is rotated while documents are under way: nothing is lost, nothing twice, no signal needed. */
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { EmbeddedArchive } from "../../src/embedded-archive/embedded-archive.ts";
import { aProcess } from "../fixtures/a-process.ts";
import { audit } from "../fixtures/auditor.ts";
import { pdfOf } from "../fixtures/documents.ts";
import { freePort } from "../fixtures/free-port.ts";
import { until } from "../fixtures/until.ts";
import { ACCOUNT_KEY, SECRET, aWorld } from "../fixtures/world.ts";
import { scanferry } from "../unit/cli/in-process.ts";

const ROTATED = "rotated-secret-0815";

test("the archive takes another secret, then the file gets it: what was refused goes on", async () => {
  const listen = { host: "127.0.0.1", port: await freePort() };
  await using world = await aWorld({ listen });
  const secret = join(world.dir, "signing.secret");
  writeFileSync(secret, SECRET, { mode: 0o600 });
  // Probes come rarely: only the new secret can have it go on in time.
  const text = readFileSync(world.configFile(), "utf8")
    .replace(/secret: .* }/, "secretFile: signing.secret }")
    .replace("initial: 300ms, max: 1s", "initial: 1h, max: 1h");
  const config = join(world.dir, "scanferry.yaml");
  writeFileSync(config, text, { mode: 0o600 });
  await using daemon = aProcess(["--config", config, "run"]);
  await daemon.says(/"scanned"/);
  for (let n = 0; n < 15; n++) world.write(`before-${n}.pdf`, pdfOf(1, { seed: n }));
  await until("some are stored", () => world.archive.documents().length > 3);

  await world.archive.close();
  await using archive = await EmbeddedArchive.open({
    dataDir: join(world.dir, "archive"),
    listen,
    accounts: [{ key: ACCOUNT_KEY, secret: ROTATED }],
    convertDelayMs: 50,
    folders: ["/Scans"],
  });
  for (let n = 0; n < 5; n++) world.write(`between-${n}.pdf`, pdfOf(1, { seed: 100 + n }));
  await daemon.says(/"held"/);
  // As one writes it that was cut short: refused, and the old one stays in use.
  writeFileSync(secret, "", { mode: 0o600 });
  await daemon.says(/the new configuration has errors/);
  writeFileSync(`${secret}.new`, ROTATED, { mode: 0o600 });
  renameSync(`${secret}.new`, secret);
  await daemon.says(
    /a secret's file has changed[\s\S]*a secret's file has changed[\s\S]*"started"/,
  );
  world.write("after.pdf", pdfOf(1, { seed: 200 }));
  await until("all are stored", () => archive.documents().length === 21);
  expect(await daemon.end("SIGTERM")).toBe(0);
  const rest = await scanferry(["--config", config, "sync"]);
  expect(rest.code).toBe(0);
  await archive.idle();
  expect(await audit({ ...world, archive })).toEqual([]);
  expect(daemon.output.stdout).not.toContain(ROTATED);
});

test("a pass with the fixed secret carries over what the wrong one held, however slow the archive", async () => {
  // Longer than a pass takes that has nothing to wait for.
  await using world = await aWorld({
    faults: [{ do: "delay", ms: 1_500, times: Infinity }],
  });
  const text = readFileSync(world.configFile(), "utf8")
    // The next probe is far away: only the start can have it go on.
    .replace("initial: 300ms, max: 1s", "initial: 1h, max: 1h");
  const config = join(world.dir, "scanferry.yaml");
  const write = (secret: string) =>
    writeFileSync(config, text.replace(SECRET, secret), { mode: 0o600 });
  world.write("scan.pdf", pdfOf(1, { seed: 1 }));
  for (const [secret, code, stored] of [
    ["mistyped", 3, 0],
    ["mistyped again", 3, 0],
    [SECRET, 0, 1],
  ] as const) {
    write(secret);
    const pass = await scanferry(["--config", config, "sync"]);
    expect(pass.code, pass.stderr).toBe(code);
    expect(world.archive.documents()).toHaveLength(stored);
  }
});
