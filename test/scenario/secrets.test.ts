/** Secrets that stand out are looked for in all that a daemon and the command line leave behind. */
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { SqliteJournal } from "../../src/journal/sqlite-journal.ts";
import { ASSET_FILES } from "../../src/dashboard/assets.ts";
import { aProcess } from "../fixtures/a-process.ts";
import { CANARY, leakLine, leaksBelow, leaksIn } from "../fixtures/canary.ts";
import { pdfOf } from "../fixtures/documents.ts";
import { freePort } from "../fixtures/free-port.ts";
import { smtpServer } from "../fixtures/smtp-server.ts";
import { until } from "../fixtures/until.ts";
import { aWorld, type World } from "../fixtures/world.ts";
import { scanferry } from "../unit/cli/in-process.ts";

const { accountKey, signingSecret, webToken, mailPassword, hookSecret } = CANARY;

/** Where a configuration has its secrets from. */
type Origin = "value" | "file" | "environment";

const ORIGINS: readonly (readonly [Origin, string])[] = [
  ["value", "the file is read, checked and told about in messages"],
  ["file", "the file's path is told, its content is not"],
  ["environment", "children inherit the environment unless they are kept from it"],
];

const ENVIRONMENT = {
  SCANFERRY_ACCOUNT_KEY: accountKey,
  SCANFERRY_SIGNING_SECRET: signingSecret,
  SCANFERRY_WEB_TOKEN: webToken,
  SCANFERRY_MAIL_PASSWORD: mailPassword,
  SCANFERRY_WEBHOOK_SECRET: hookSecret,
};

/** A world whose archive loses, breaks and refuses, and a configuration with the canaries. */
async function aLeakyWorld(
  origin: Origin,
  mailPort = 9,
): Promise<{ world: World; config: string; page: string }> {
  const world = await aWorld({
    accounts: [{ key: accountKey, secret: signingSecret }],
    faults: [
      { on: "upload", do: "dropAfter", nth: 2 },
      { on: "upload", do: "status", status: 503, stored: false, html: true, nth: 3 },
      { on: "upload", do: "garbage", nth: 4 },
      { on: "upload", do: "redirect", url: "http://127.0.0.1:9/elsewhere", nth: 5 },
      { on: "folder", do: "truncate", nth: 2 },
      { on: "documents", do: "dropBefore", nth: 1 },
    ],
  });
  const given = {
    value: [
      `accountKey: ${accountKey}`,
      `secret: "${signingSecret}"`,
      `token: ${webToken}`,
      `, password: "${mailPassword}"`,
      `, secret: ${hookSecret}`,
    ],
    file: [
      "accountKeyFile: secrets.key",
      "secretFile: secrets.sig",
      "tokenFile: secrets.web",
      ", passwordFile: secrets.mail",
      ", secretFile: secrets.hook",
    ],
    environment: ["", "", "", "", ""],
  } as const;
  const [key = "", secret = "", token = "", password = "", hook = ""] = given[origin];
  for (const [name, value] of [
    ["key", accountKey],
    ["sig", signingSecret],
    ["web", webToken],
    ["mail", mailPassword],
    ["hook", hookSecret],
  ])
    writeFileSync(join(world.dir, `secrets.${name}`), value ?? "", { mode: 0o600 });
  const port = await freePort();
  const mail = `server: "127.0.0.1:${mailPort}", tls: none, from: a@b.c, to: [a@b.c], user: u${password}`;
  const notify = `notify:
  mail: [{ ${mail} }]
  webhook: [{ url: "http://127.0.0.1:9/in"${hook} }]
  digest: "* * * * * *"`;
  // What was not stored does not come late: nothing is gained by looking for it for long.
  const plain = world.configFile(`log: { level: trace }\n${notify}`, "", "1s");
  const text = readFileSync(plain, "utf8")
    .replace(/accountKey: .*/, key)
    .replace(/secret: .* }/, `${secret} }`)
    .replace("scheme: hmac,  }", "scheme: hmac }")
    .replace("web: off", `web: { listen: "127.0.0.1:${port}"${token && `, ${token}`} }`);
  const config = join(world.dir, "scanferry.yaml");
  writeFileSync(config, text, { mode: 0o600 });
  return { world, config, page: `http://127.0.0.1:${port}` };
}

/** Places of a world that hold the secrets rightly. */
const RIGHTLY = /^(scanferry\.yaml|secrets\.\w+|archive(\/.*)?)$/;

test.for(ORIGINS)("given by %s, a working day leaks none, although %s", async ([origin]) => {
  // A mail server that tells everybody what it was told.
  const login = { user: "u", password: "another" };
  await using post = await smtpServer({ login, wrongLogin: `535 not $ nor ${mailPassword}` });
  const { world, config, page } = await aLeakyWorld(origin, post.port);
  await using _ = world;
  const env = origin === "environment" ? ENVIRONMENT : {};
  await using daemon = aProcess(["--config", config, "run"], env);
  await daemon.says(/"scanned"/);
  for (let n = 0; n < 8; n++) world.write(`scan-${n}.pdf`, pdfOf(1, { seed: n }));
  // One is held for a while: the archive redirected it.
  await until("all but one", () => world.archive.documents().length >= 7);
  await until("a login", () => post.said.some((line) => line.startsWith("AUTH")));
  await daemon.says(
    /cannot send notifications by this channel.*\n(?:.*\n)*.*cannot send notifications/,
  );

  const leaks = await leaksOfPage(page);
  const [reader] = childrenOf(daemon.child.pid ?? 0);
  leaks.push(...leaksOfProcess(reader, true));
  leaks.push(...leaksOfProcess(daemon.child.pid, origin !== "environment"));
  await using journal = await SqliteJournal.open({ path: world.journal, role: "guest" });
  await journal.backup(join(world.dir, "state", "backup.db"));
  leaks.push(...leaksBelow(world.dir, RIGHTLY));

  // A configuration that breaks while the daemon runs learns about in the log.
  writeFileSync(config, `archive: { accountKey:${accountKey}, signing: *${signingSecret}\n`);
  daemon.child.kill("SIGHUP");
  await daemon.says(/the new configuration has errors/);
  expect(await daemon.end("SIGTERM")).toBe(0);
  leaks.push(
    ...leaksIn("stdout", daemon.output.stdout),
    ...leaksIn("stderr", daemon.output.stderr),
  );
  expect(daemon.output.stdout).toMatch(/"level":(10|20)/);
  expect(leaks.map(leakLine)).toEqual([]);
});

/** Every way for a process to come down with words on its lips. */
test.for<[string, Record<string, string>, NodeJS.Signals | undefined, RegExp]>([
  ["an error that nobody catches", later("throw new Error('boom')"), undefined, /boom/],
  [
    "a promise that nobody waits for",
    later("Promise.reject(new Error('boom'))"),
    undefined,
    /boom/,
  ],
  [
    "no memory left",
    later(
      "globalThis.a = []; for (;;) a.push(new Array(1e5).fill(a.length))",
      "--max-old-space-size=64 ",
    ),
    undefined,
    /heap/,
  ],
  ["SIGABRT", {}, "SIGABRT", /^/],
  ["SIGQUIT", {}, "SIGQUIT", /^/],
])("%s: the crash tells no secret, and leaves no report", async ([, env, signal, words]) => {
  const { world, config } = await aLeakyWorld("environment");
  await using _ = world;
  world.write("scan.pdf", pdfOf(1));
  const before = reports();
  // As the unit and the containers do: without a core.
  const within = ["sh", "-c", 'ulimit -c 0; exec "$@"', "sh"];
  await using daemon = aProcess(["--config", config, "run"], { ...ENVIRONMENT, ...env }, within);
  if (signal !== undefined) {
    await daemon.says(/"scanned"/);
    daemon.child.kill(signal);
  }
  expect(await daemon.ended).not.toBe(0);
  expect(daemon.output.stderr).toMatch(words);
  expect(reports()).toEqual(before);
  const said = daemon.output.stdout + daemon.output.stderr;
  const leaks = [...leaksIn("its last words", said), ...leaksBelow(world.dir, RIGHTLY)];
  expect(leaks.map(leakLine)).toEqual([]);
});

const COMMANDS = [
  "run",
  "sync",
  "status",
  "list",
  "plan",
  "explain scan.pdf",
  "retry",
  "pause",
  "resume",
  "check",
  "verify",
  "adopt",
  "archive folders",
  "archive search --query x",
  "archive upload scan.pdf",
] as const;

const BROKEN: readonly (readonly [string, string])[] = [
  [`archive: { accountKey: ${accountKey}, secrt: "${signingSecret}" }`, "a mistyped key"],
  [`archive:\n  accountKey:${accountKey}\n  url: x`, "no blank after the colon"],
  [
    `archive: { url: "http://${accountKey}:${webToken}@host", accountKey: [${accountKey}] }`,
    "a URL",
  ],
  [`web: { token: { ${webToken}: 1 } }\narchive: "${signingSecret}"`, "the wrong shapes"],
];

test.for(BROKEN)(
  "a broken configuration (%s: %s) leaks none, whatever is asked",
  async ([text]) => {
    await using world = await aWorld();
    const config = join(world.dir, "broken.yaml");
    writeFileSync(config, `${text}\n`, { mode: 0o600 });
    for (const command of COMMANDS) {
      const ran = await scanferry(["--config", config, ...command.split(" ")], { cwd: world.dir });
      expect(ran.code, command).toBe(2);
      const leaks = leaksIn(command, ran.stdout + ran.stderr);
      expect(leaks.map(leakLine)).toEqual([]);
    }
  },
);

test.for([
  ["that is there", "", "what is asked for is told"],
  ["that refuses the signature", "another-", "what is refused is told"],
  ["that nobody answers for", "unreachable", "where it was looked for is told"],
] as const)("commands about an archive %s leak none, although %s", async ([, how]) => {
  const { world, config } = await aLeakyWorld("value");
  await using _ = world;
  world.write("scan.pdf", pdfOf(1));
  let text = readFileSync(config, "utf8");
  if (how === "another-") text = text.replace(signingSecret, `${how}${signingSecret}`);
  if (how === "unreachable") text = text.replace(/url: .*/, "url: http://127.0.0.1:9");
  writeFileSync(config, text);
  for (const command of COMMANDS) {
    // A daemon would go on for ever.
    if (command === "run") continue;
    const args = ["--config", config, ...command.split(" ")];
    const ran = await scanferry(args, { cwd: world.source });
    expect(ran.stderr, command).not.toContain("a bug in scanferry");
    expect(leaksIn(command, ran.stdout + ran.stderr).map(leakLine)).toEqual([]);
  }
  expect(leaksBelow(world.dir, RIGHTLY).map(leakLine)).toEqual([]);
});

test("the service and the containers leave no core, in which the secrets would stand", () => {
  const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
  expect(read("systemd/scanferry.service")).toMatch(/^LimitCORE=0$/m);
  for (const path of ["compose.yaml", "compose.several.yaml"])
    expect(read(path), path).toMatch(/ulimits: \{ core: 0 \}/);
  // A report of Node's holds the whole environment.
  for (const path of ["bin/scanferry", "systemd/scanferry.service", "Dockerfile", "compose.yaml"])
    expect(read(path), path).not.toMatch(
      /--report|--heapsnapshot|--inspect(?!-port=240\.0\.0\.1:)/,
    );
});

/** Runs words in the daemon's process once it is under way. */
function later(words: string, flags = ""): Record<string, string> {
  const script = `setTimeout(() => { ${words} }, 2500)`;
  return { NODE_OPTIONS: `${flags}--import=data:text/javascript,${encodeURIComponent(script)}` };
}

/** Reports and cores in the working directory. */
function reports(): string[] {
  return readdirSync(process.cwd()).filter((name) => /^(report\.|core|.*heapsnapshot)/.test(name));
}

/**
 * Every route with and without the token, in head and body; the stream of events for a moment. All at once: the page
 * answers wrong tokens a second late, once they are many.
 */
async function leaksOfPage(url: string) {
  const paths = ASSET_FILES.map((file) => (file === "index.html" ? "/" : `/${file}`)).concat(
    ["/api/status", "/api/documents", "/api/events", "/metrics", "/healthz", "/readyz", "/none"],
    [`/?token=${webToken}`, "/api/retry", "/api/rescan", "/api/pause", "/api/resume"],
  );
  const leaksAt = async (path: string, authorization: string) => {
    const isPost = /retry|rescan|pause|resume/.test(path);
    const post = { "x-scanferry": "1", "content-type": "application/json" };
    const answer = await fetch(url + path, {
      method: isPost ? "POST" : "GET",
      headers: { authorization, ...(isPost ? post : {}) },
      ...(isPost ? { body: path.endsWith("retry") ? '{"ids":[1]}' : "{}" } : {}),
      signal: AbortSignal.timeout(60_000),
    });
    const head = JSON.stringify([...answer.headers]);
    const body = path === "/api/events" ? await first(answer) : await answer.text();
    return leaksIn(`${path} as ${authorization.slice(0, 8)}`, head + body);
  };
  const tokens = [`Bearer ${webToken}`, "Bearer wrong"];
  const leaks = paths.flatMap((path) => tokens.map((token) => leaksAt(path, token)));
  return (await Promise.all(leaks)).flat();
}

/** The first piece of a stream that does not end. */
async function first(answer: Response): Promise<string> {
  for await (const piece of answer.body ?? []) return Buffer.from(piece).toString();
  return "";
}

/** What others may read of a process: how it was called and, for its own user, its environment. */
function leaksOfProcess(pid: number | undefined, isEnvironmentClean: boolean) {
  const read = (what: string) => readFileSync(`/proc/${pid}/${what}`);
  return [
    ...leaksIn(`the command line of ${pid}`, read("cmdline")),
    ...(isEnvironmentClean ? leaksIn(`the environment of ${pid}`, read("environ")) : []),
  ];
}

function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").map(Number);
}
