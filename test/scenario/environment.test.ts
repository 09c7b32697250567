/** What the environment may not do to it. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { aProcess } from "../fixtures/a-process.ts";
import { pdfOf } from "../fixtures/documents.ts";
import { SECRET, aWorld } from "../fixtures/world.ts";

test.for(["run", "sync"])(
  "`%s` does not start where certificate checks are switched off, and says what to do",
  async (command) => {
    await using world = await aWorld();
    world.write("scan.pdf", pdfOf(1));
    const env = { NODE_TLS_REJECT_UNAUTHORIZED: "0" };
    await using daemon = aProcess(["--config", world.configFile(), command], env);
    expect(await daemon.ended, daemon.output.stdout).toBe(1);
    expect(daemon.output.stderr).toContain("NODE_TLS_REJECT_UNAUTHORIZED=0");
    expect(daemon.output.stderr).toContain("NODE_EXTRA_CA_CERTS");
    expect(daemon.output.stderr).not.toContain(SECRET);
    expect(world.archive.requests().every(({ count }) => count === 0)).toBe(true);
  },
);

test.for([
  ["Europe/Berln", "UTC", "misspelt"],
  ["CET-1CEST", "UTC", "a rule, no name"],
  ["UTC+3", "UTC-03:00", "no name either, but understood"],
] as const)(
  "`check` tells that TZ=%s is not known, and stands for %s: %s",
  async ([TZ, stands]) => {
    await using world = await aWorld();
    await using check = aProcess(["--config", world.configFile(), "check"], { TZ });
    expect(await check.ended, check.output.stderr).toBe(0);
    const line = `warn  time zone: TZ is "${TZ}", a time zone that is not known here: local time is ${stands}, all year`;
    expect(check.output.stdout).toContain(line);
  },
);

test.for(["Europe/Berlin", ":Europe/Berlin", ":UTC", "Zulu", "GMT", ""])(
  "`check` has nothing to say of TZ=%s",
  async (TZ) => {
    await using world = await aWorld();
    await using check = aProcess(["--config", world.configFile(), "check"], { TZ });
    expect(await check.ended, check.output.stderr).toBe(0);
    expect(check.output.stdout).not.toContain("time zone");
  },
);

test("`run` logs once that the time zone is not known, whatever is read again", async () => {
  await using world = await aWorld();
  await using daemon = aProcess(["--config", world.configFile(), "run"], { TZ: "Mars" });
  await daemon.says(/"started"/);
  daemon.child.kill("SIGHUP");
  await daemon.says(/config read again[^]*"started"/);
  expect(await daemon.end("SIGTERM")).toBe(0);
  expect(daemon.output.stdout.match(/a time zone that is not known here/g)).toHaveLength(1);
});

test("a current directory that was removed is told in one line; help needs none", async () => {
  await using world = await aWorld();
  const away = join(world.dir, "away");
  const within = ["sh", "-c", 'mkdir "$0" && cd "$0" && rmdir "$0" && exec "$@"', away];
  await using status = aProcess(["--config", world.configFile(), "status"], {}, within);
  expect(await status.ended).toBe(2);
  expect(status.output.stderr).toBe(
    "scanferry: the current directory is gone (ENOENT); change to one that exists\n",
  );
  await using help = aProcess(["status", "--help"], {}, within);
  expect(await help.ended, help.output.stderr).toBe(0);
});
