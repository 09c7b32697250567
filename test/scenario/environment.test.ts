/** What the environment may not do to it. */
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { join } from "node:path";
import { createServer, type TlsOptions } from "node:tls";
import { expect, onTestFinished, test } from "vitest";
import { aProcess } from "../fixtures/a-process.ts";
import { Certificates, hasOpenssl } from "../fixtures/certificates.ts";
import { pdfOf } from "../fixtures/documents.ts";
import { until } from "../fixtures/until.ts";
import { SECRET, aWorld } from "../fixtures/world.ts";
import { scanferry } from "../unit/cli/in-process.ts";

test.for(["run", "sync"])(
  "`%s` does not start where certificate checks are switched off, and says what to do",
  async (command) => {
    await using world = await aWorld();
    world.write("scan.pdf", pdfOf(1));
    const env = { NODE_TLS_REJECT_UNAUTHORIZED: "0" };
    await using daemon = aProcess(["--config", world.configFile(), command], env);
    expect(await daemon.ended, daemon.output.stdout).toBe(1);
    expect(daemon.output.stderr).toContain("NODE_TLS_REJECT_UNAUTHORIZED=0");
    expect(daemon.output.stderr).toContain("archive.ca");
    expect(daemon.output.stderr).not.toContain(SECRET);
    expect(Object.values(world.archive.requests()).every((count) => count === 0)).toBe(true);
  },
);

/** Signs as the world's archive asks for, with a secret that only the environment has. */
const MODULE = `import { createHmac } from "node:crypto";
export default (fields) => {
  const text = [...fields].sort(([a], [b]) => (a < b ? -1 : 1)).map(([n, v]) => n + "=" + v).join("&");
  return createHmac("sha256", process.env.OFFICE_PIN).update(text).digest("base64");
};`;

test("a signing module has the environment that it was started with, for look-ups and for uploads", async () => {
  await using world = await aWorld();
  world.write("scan.pdf", pdfOf(1));
  const config = world.configFile();
  writeFileSync(join(world.dir, "sign.mjs"), MODULE);
  const text = readFileSync(config, "utf8").replace(
    /signing: .*/,
    "signing: { scheme: module, module: ./sign.mjs }",
  );
  writeFileSync(config, text);
  await using check = aProcess(["--config", config, "check"], { OFFICE_PIN: SECRET });
  expect(await check.ended, check.output.stdout).toBe(0);
  expect(check.output.stdout).toContain("can reach the archive");
  await using sync = aProcess(["--config", config, "sync"], { OFFICE_PIN: SECRET });
  expect(await sync.ended, sync.output.stdout + sync.output.stderr).toBe(0);
});

test("signed by hmac2, look-ups, uploads of the daemon and those by hand are accepted", async () => {
  await using world = await aWorld({ scheme: "hmac2" });
  const small = world.write("small.pdf", pdfOf(1));
  // Read once into memory, and streamed.
  world.write("large.txt", "a line of it\n".repeat(500_000));
  const config = world.configFile();
  const run = (...words: string[]) => scanferry(["--config", config, ...words]);
  expect(await run("check")).toMatchObject({
    code: 1,
    stdout: expect.stringContaining("INVALID_SIG"),
  });
  writeFileSync(config, readFileSync(config, "utf8").replace("scheme: hmac", "scheme: hmac2"));
  expect(await run("check")).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("requests are signed with hmac2 sha256"),
  });
  expect(await run("sync")).toMatchObject({ code: 0 });
  const byHand = await run("archive", "upload", small, "--filename", "by hand.pdf");
  expect(byHand).toMatchObject({ code: 0 });
  const names = world.archive.documents().map(({ filename }) => filename);
  expect(names.toSorted()).toEqual(["by hand.pdf", "large.txt", "small.pdf"]);
});

/** TLS before the archive, as a load balancer speaks it; its address. */
async function aFront(archive: string, options: TlsOptions): Promise<string> {
  const front = createServer(options, (plain) => {
    const onward = connect(Number(new URL(archive).port), "127.0.0.1");
    for (const socket of [plain, onward]) {
      socket.on("error", () => socket.destroy());
      onTestFinished(() => void socket.destroy());
    }
    plain.pipe(onward).pipe(plain);
  }).listen(0, "127.0.0.1");
  front.on("tlsClientError", () => {});
  await once(front, "listening");
  onTestFinished(() => void front.close());
  return `https://127.0.0.1:${(front.address() as AddressInfo).port}`;
}

test.skipIf(!hasOpenssl)(
  "an archive of a private authority is reached by `check` and by uploads: as it is configured, in the host's store, or told to Node",
  async () => {
    using made = new Certificates();
    await using world = await aWorld();
    const office = join(world.dir, "office.crt");
    writeFileSync(office, made.make("office", "").cert);
    const url = await aFront(world.archive.url, made.make("archive", "IP:127.0.0.1", "office"));
    const config = world.configFile();
    const text = readFileSync(config, "utf8").replace(world.archive.url, url);
    for (const [key, names] of [
      ["  ca: ./office.crt\n", []],
      ["", ["SSL_CERT_FILE"]],
      ["", ["NODE_EXTRA_CA_CERTS"]],
    ] as const) {
      writeFileSync(config, text.replace("  accountKey:", `${key}  accountKey:`));
      const env = {
        NODE_EXTRA_CA_CERTS: undefined,
        SSL_CERT_FILE: undefined,
        SSL_CERT_DIR: undefined,
        ...Object.fromEntries(names.map((name) => [name, office])),
      };
      const how = names[0] ?? "configured";
      world.write(`${how}.pdf`, pdfOf(1, { seed: how.length }));
      await using check = aProcess(["--config", config, "check"], env);
      expect(await check.ended, how + check.output.stdout).toBe(0);
      expect(check.output.stdout, how).toContain(`can reach the archive ${url}`);
      await using sync = aProcess(["--config", config, "sync"], env);
      expect(await sync.ended, how + sync.output.stdout + sync.output.stderr).toBe(0);
      const archived = world.archive.documents().map(({ filename }) => filename);
      expect(archived).toContain(`${how}.pdf`);
    }
  },
);

test.skipIf(!hasOpenssl)(
  "a client certificate that is renewed is shown without a restart, though its key comes later",
  async () => {
    using made = new Certificates();
    await using world = await aWorld();
    const ca = made.make("office", "").cert;
    made.make("stranger", "");
    const server = made.make("archive", "IP:127.0.0.1", "office");
    const asks = { requestCert: true, rejectUnauthorized: true, ca };
    const url = await aFront(world.archive.url, { ...server, ...asks });
    const place = (name: string, text: string) =>
      writeFileSync(join(world.dir, name), text, { mode: 0o600 });
    const old = made.make("old", "DNS:scans", "stranger");
    place("office.crt", ca);
    place("client.crt", old.cert);
    place("client.key", old.key);
    const config = world.configFile();
    const way = "  ca: office.crt\n  clientCert: client.crt\n  clientKey: client.key\n";
    const text = readFileSync(config, "utf8").replace(world.archive.url, url);
    writeFileSync(config, text.replace("  accountKey:", `${way}  accountKey:`));
    await using daemon = aProcess(["--config", config, "run"]);
    await daemon.says(/"started"/);
    world.write("scan.pdf", pdfOf(1));
    await daemon.says(/TLS_REFUSED|ARCHIVE_UNREACHABLE|CONNECTION_LOST/);
    const renewed = made.make("new", "DNS:scans", "office");
    place("client.crt", renewed.cert);
    await daemon.says(/is the key of another certificate/);
    place("client.key", renewed.key);
    await until("the scan", () => world.archive.documents().length === 1);
    expect(daemon.child.exitCode).toBeNull();
    expect(await daemon.end("SIGTERM")).toBe(0);
  },
);

test("a web server that is not the archive cannot be reached", async () => {
  await using world = await aWorld();
  const other = createHttpServer((_, reply) => reply.writeHead(401).end("<h1>Router</h1>")).listen(
    0,
  );
  await once(other, "listening");
  onTestFinished(() => void other.close());
  const config = world.configFile();
  const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
  writeFileSync(config, readFileSync(config, "utf8").replace(world.archive.url, url));
  const { code, stdout } = await scanferry(["--config", config, "check"]);
  expect(code).toBe(1);
  expect(stdout).toContain("a web server answers there with HTTP 401");
  expect(stdout).not.toContain("can reach the archive");
});

test("`check` tells that the time zone of TZ is not known, and names one that is", async () => {
  await using world = await aWorld();
  const config = world.configFile();
  const checked = async (TZ: string) => {
    await using check = aProcess(["--config", config, "check"], { TZ });
    expect(await check.ended, check.output.stderr).toBe(0);
    return check.output.stdout;
  };
  const line = `warn  time zone: TZ is "UTC+3", a time zone that is not known here: local time is UTC-03:00, all year`;
  expect(await checked("UTC+3")).toContain(line);
  expect(await checked(":Europe/Berlin")).toMatch(/^ok +time zone Europe\/Berlin$/m);
});

test("`run` logs once that the time zone is not known, whatever is read again", async () => {
  await using world = await aWorld();
  await using daemon = aProcess(["--config", world.configFile(), "run"], { TZ: "Mars" });
  await daemon.says(/"started"/);
  daemon.child.kill("SIGHUP");
  await daemon.says(/configuration read again[^]*"started"/);
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
