/** Setting it up and checking it, as a person does: typed answers in a real terminal. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { aProcess } from "../fixtures/a-process.ts";
import { aTerminal } from "../fixtures/a-terminal.ts";
import { pdfOf } from "../fixtures/documents.ts";
import { ACCOUNT_KEY, aWorld, SECRET, type World } from "../fixtures/world.ts";
import { scanferry } from "../unit/cli/in-process.ts";

// Every step is a process of its own.
vi.setConfig({ testTimeout: 180_000 });

const ENTER = "\r";
const modeOf = (path: string) => statSync(path).mode & 0o777;

/** With a page at any port: the usual one may be another test's just now. */
const run = (world: World, ...words: string[]) =>
  scanferry(["--config", join(world.dir, "conf", "scanferry.yaml"), ...words], {
    env: { SCANFERRY_WEB_LISTEN: "127.0.0.1:0" },
  });

describe("init in a terminal", () => {
  test("asks, shows no secret, tries the archive, and what it writes works at once", async () => {
    await using world = await aWorld();
    world.write("first.pdf", pdfOf(2));
    const config = join(world.dir, "conf", "scanferry.yaml");
    const journal = join(world.dir, "state", "journal.db");
    await using init = aTerminal(["--config", config, "init", "--journal", journal]);
    await init.says(/Folder with the scans \[\/srv\/scans\]: /);
    init.type(`${world.dir}/nothing${ENTER}`);
    await init.says(/there is no folder .*nothing; create it, or name another/);
    await init.says(/Folder with the scans/);
    init.type(world.source + ENTER);
    await init.says(/Target folder in the archive \[\/Scans\]: /);
    init.type(ENTER);
    await init.says(/The archive's address: /);
    init.type(`archive.example.com${ENTER}`);
    await init.says(/write https:\/\/archive\.example\.com/);
    init.type(world.archive.url + ENTER);
    await init.says(/Account key \(not shown\): /);
    init.type(ACCOUNT_KEY + ENTER);
    await init.says(/How requests are signed \(hmac, hmac2, none\) \[hmac\]: /);
    init.type(ENTER);
    await init.says(/Digest algorithm of the signature \[sha256\]: /);
    init.type(ENTER);
    await init.says(/\[base64\]: /);
    init.type(ENTER);
    await init.says(/Secret for signing \(not shown\): /);
    init.type(`wrong-secret${ENTER}`);
    // The archive does not accept that; what was typed is offered, secrets unseen.
    await init.says(/FAIL [^]*Change the answers \[Y\/n\]: /);
    init.type(ENTER);
    for (const [question, answer] of [
      [/The archive's address \[http:.*\]: /, ""],
      [/Account key \[as before\] \(not shown\): /, ""],
      [/\[hmac\]: /, ""],
      [/\[sha256\]: /, ""],
      [/\[base64\]: /, ""],
      [/Secret for signing \[as before\] \(not shown\): /, SECRET],
    ] as const) {
      await init.says(question);
      init.type(answer + ENTER);
    }
    await init.says(/ok +archive folder \/Scans exists/);
    expect(await init.ended).toBe(0);
    for (const secret of [SECRET, "wrong-secret", ACCOUNT_KEY])
      expect(init.text()).not.toContain(secret);

    const written = readFileSync(config, "utf8");
    expect(written).not.toContain(SECRET);
    expect(modeOf(config)).toBe(0o644);
    expect(modeOf(join(world.dir, "conf", "secrets"))).toBe(0o700);
    expect(modeOf(join(world.dir, "conf", "secrets", "signing.secret"))).toBe(0o600);
    expect(await run(world, "check")).toMatchObject({ code: 0, stderr: "" });
    expect(await run(world, "sync")).toMatchObject({ code: 0 });
    expect(world.archive.documents()).toMatchObject([{ filename: "first.pdf" }]);
  });

  test("Ctrl-C ends it with one line, and nothing was written", async () => {
    await using world = await aWorld();
    await using init = aTerminal(["init"], { cwd: world.dir });
    await init.says(/Folder with the scans/);
    init.type("\u0003");
    expect(await init.ended).toBe(130);
    expect(init.text()).toMatch(/stopped before the last question; no file was written/);
    expect(existsSync(join(world.dir, "scanferry.yaml"))).toBe(false);
  });

  test("what is there already is said before anything is asked", async () => {
    await using world = await aWorld();
    writeFileSync(join(world.dir, "scanferry.yaml"), "mine");
    await using init = aTerminal(["init"], { cwd: world.dir });
    expect(await init.ended).toBe(2);
    expect(init.text()).toMatch(/exists; --force\s+overwrites it/);
  });
});

describe("init by options", () => {
  const options = (world: World) => ["init", "--source", world.source, "--url", world.archive.url];

  test("secrets come from files or the environment, and the archive is tried", async () => {
    await using world = await aWorld();
    const config = join(world.dir, "conf", "scanferry.yaml");
    const key = join(world.dir, "key");
    writeFileSync(key, `${ACCOUNT_KEY}\n`);
    const words = [
      "--config",
      config,
      ...options(world),
      "--account-key-file",
      key,
      "--receipts",
      join(world.dir, "kept"),
    ];
    await using init = aProcess([...words, "--journal", world.journal], {
      SCANFERRY_SIGNING_SECRET: SECRET,
    });
    expect(await init.ended, init.output.stderr).toBe(0);
    expect(init.output.stdout).toMatch(/ok +the archive .* accepts the account/);
    world.write("a.pdf", pdfOf(1));
    expect(await run(world, "sync")).toMatchObject({ code: 0 });
    expect(existsSync(join(world.dir, "kept"))).toBe(true);
    await using wrong = aProcess([...words, "--force"], { SCANFERRY_SIGNING_SECRET: "wrong" });
    expect(await wrong.ended).toBe(1);
    expect(wrong.output.stdout).toMatch(/^FAIL .* — .*check `archive\.accountKey`/m);
  });

  test("without secrets the starter says what to fill in, and only its owner reads it", async () => {
    await using world = await aWorld();
    expect((await run(world, ...options(world))).stdout).toMatch(
      /next: write the account key and the secret/,
    );
    expect(modeOf(join(world.dir, "conf", "scanferry.yaml"))).toBe(0o600);
  });
});

describe("check", () => {
  test("in a terminal: a mark, what was found, and the fix; the exit code is the worst", async () => {
    await using world = await aWorld();
    const config = world.configFile();
    await using good = aTerminal(["--config", config, "check"]);
    expect(await good.ended).toBe(0);
    expect(good.text()).toMatch(/^ok {4}mirror scans: on \w+, watched by \w+ \(.*\)$/m);
    expect(good.raw()).toContain("\u001b[32mok");
    world.write("New/a.pdf", pdfOf(1));
    await scanferry(["--config", config, "sync"]);
    await using held = aTerminal(["--config", config, "check"]);
    expect(await held.ended).toBe(3);
    expect(held.text().replaceAll(/\s+/g, " ")).toMatch(
      /warn 1 document is held: .* \/Scans\/New .* — create the folder/,
    );
  });

  test.for([
    [
      "log",
      (world: World) => `log: { file: ${world.dir}/a-file/x.log }`,
      /^FAIL {2}log: .* — give the daemon's user/m,
    ],
    [
      "receipts",
      (world: World) => `receipts: ${world.dir}/a-file/x`,
      /^FAIL {2}receipts: .* is not writable/m,
    ],
  ] as const)("%s in a place that is none is found, with the fix", async ([, more, expected]) => {
    await using world = await aWorld();
    writeFileSync(join(world.dir, "a-file"), "");
    const check = await scanferry(["--config", world.configFile(more(world)), "check"]);
    expect(check.code).toBe(1);
    expect(check.stdout).toMatch(expected);
  });

  test("an after-action is tried on the places that it needs, as the user it runs as", async () => {
    await using world = await aWorld();
    const done = join(world.dir, "done");
    const config = world.configFile("", `    after: "move:${done}"`);
    const good = await scanferry(["--config", config, "check"]);
    expect(good.code).toBe(0);
    expect(good.stdout).toMatch(/ok +mirror scans: after move: .* (?:is|are) writable/);
    if (process.getuid?.() !== 0) return;
    // Root may write anywhere: the same by someone who may read anything, wherever this stands, and no more.
    mkdirSync(done, { mode: 0o755 });
    chmodSync(world.source, 0o755);
    for (const path of [world.dir, config]) chmodSync(path, path === config ? 0o644 : 0o755);
    writeFileSync(
      config,
      readFileSync(config, "utf8")
        .replace(/^ +accountKey: .*\n/m, "")
        .replace(/, secret: [^ }]+/, ""),
    );
    const env = { SCANFERRY_ACCOUNT_KEY: ACCOUNT_KEY, SCANFERRY_SIGNING_SECRET: SECRET };
    await using weak = aProcess(["--config", config, "check"], env, [
      "setpriv",
      "--reuid=65534",
      "--clear-groups",
      "--inh-caps=+dac_read_search",
      "--ambient-caps=+dac_read_search",
    ]);
    await weak.ended;
    expect(weak.output.stdout + weak.output.stderr).toMatch(
      /FAIL +mirror scans: after move: .*\(EACCES\) — give the daemon's user/,
    );
  });

  test("a port that is taken is found before the daemon is started", async () => {
    await using world = await aWorld();
    const config = world.configFile();
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
    const { port } = taken.address() as { port: number };
    writeFileSync(
      config,
      readFileSync(config, "utf8").replace("web: off", `web: { listen: "127.0.0.1:${port}" }`),
    );
    const check = await scanferry(["--config", config, "check"]);
    expect(check.code).toBe(1);
    expect(check.stdout).toMatch(/FAIL +page: 127\.0\.0\.1:\d+ cannot listen \(another/);
    taken.close();
  });

  test("a configuration that cannot be used: lines on stderr, and findings for programs", async () => {
    await using world = await aWorld();
    const config = world.configFile("batch: { quite: 5s }");
    chmodSync(config, 0o644);
    const check = await scanferry(["--config", config, "check", "--json"]);
    expect(check.code).toBe(2);
    expect(check.stderr).toMatch(/batch\.quite: unknown key; did you mean quiet\?/);
    expect(check.stderr).toMatch(/others can read it .*chmod 600/);
    expect(JSON.parse(check.stdout)).toMatchObject({
      ok: false,
      findings: expect.arrayContaining([
        expect.objectContaining({ level: "FAIL", fix: "did you mean quiet?" }),
      ]),
    });
    rmSync(config);
  });
});
