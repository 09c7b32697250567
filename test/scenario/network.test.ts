/** The way to the archive: real proxies, real TLS, and what is said where there is none. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer, type TlsOptions } from "node:tls";
import { createServer as createHttpsServer } from "node:https";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import type { NetworkSettings } from "../../src/network/network.ts";
import { call } from "../../src/notify/webhook-channel.ts";
import { Certificates, hasOpenssl, type Pair } from "../fixtures/certificates.ts";
import { httpProxy, type HttpProxyOptions } from "../fixtures/http-proxy.ts";
import { until } from "../fixtures/until.ts";
import { never, openOn, scan } from "../unit/archive/fixture.ts";
import { RawServer, stored } from "../unit/archive/raw-server.ts";

/** What an upload to `url` comes to. */
async function uploadTo(url: string, network: NetworkSettings): Promise<unknown> {
  await using archive = await openOn({ url }, { network });
  return await archive.upload(scan(), never).catch((error: unknown) => error);
}

const LOGIN = "office:canary-proxy-77";

describe("a proxy", () => {
  test("without TLS is told the whole address, and who asks", async () => {
    await using server = await RawServer.open({ onWhole: (s) => void s.write(stored()) });
    await using proxy = await httpProxy({ login: LOGIN });
    const network = { proxy: `http://${LOGIN}@127.0.0.1:${proxy.port}` };
    expect(await uploadTo(server.url, network)).toMatchObject({ id: 41 });
    expect(proxy.asked).toEqual([
      { line: expect.stringContaining(`POST ${server.url}/`), isThrough: true },
    ]);
    expect(server.only.head).not.toMatch(/proxy-authorization/i);
  });

  test("that does not know who asks is no archive that refuses its account", async () => {
    await using server = await RawServer.open({});
    await using proxy = await httpProxy({ login: LOGIN });
    const ended = await uploadTo(server.url, { proxy: proxy.url });
    expect(ended).toMatchObject({ code: "PROXY_REFUSED", credentials: false });
    expect(server.heard).toEqual([]);
  });
});

describe.skipIf(!hasOpenssl)("TLS", () => {
  const made = new Certificates();
  let fit: Pair;
  let client: Pair;
  let ca: string;

  beforeAll(() => {
    ca = made.make("office-authority", "").cert;
    made.make("foreign-authority", "");
    fit = made.make("fit", "IP:127.0.0.1", "office-authority");
    made.make("other-host", "DNS:mail.example.com", "office-authority");
    made.make("expired", "IP:127.0.0.1", "office-authority", -1);
    made.make("self-signed", "IP:127.0.0.1");
    made.make("foreign", "IP:127.0.0.1", "foreign-authority");
    client = made.make("office-client", "DNS:client", "office-authority");
    made.make("foreign-client", "DNS:client", "foreign-authority");
  });

  afterAll(() => made[Symbol.dispose]());

  /** A server that stores what it gets; `heard` is what it could read. */
  async function tlsServer(options: TlsOptions) {
    const server = createServer({ ...fit, ...options }, (socket) => {
      let words = "";
      socket.on("error", () => {});
      socket.on("data", (chunk: Buffer) => {
        words += chunk.toString("latin1");
        it.heard += chunk.toString("latin1");
        if (words.includes("--\r\n")) socket.end(stored());
      });
    });
    server.on("tlsClientError", () => {});
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const it = { url: `https://127.0.0.1:${port}`, port, heard: "" };
    return it;
  }

  test("by `ca` a private authority is trusted, and nobody else's", async () => {
    const server = await tlsServer({});
    expect(await uploadTo(server.url, { ca })).toMatchObject({ id: 41 });
    expect(await uploadTo(server.url, {})).toMatchObject({ code: "TLS_REFUSED" });
  });

  /** The address of OpenSSL's own server, which takes clients of the office alone. */
  async function sServer(version: string): Promise<string> {
    const words =
      "s_server -accept 127.0.0.1:0 -cert fit.crt -key fit.key -CAfile office-authority.crt";
    const more = ["-Verify", "1", "-verify_return_error", "-naccept", "1", version];
    const child = spawn("openssl", [...words.split(" "), ...more], { cwd: made.path });
    onTestFinished(() => void child.kill("SIGKILL"));
    let said = "";
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (words) => (said += words));
    const portIn = () => /ACCEPT 127\.0\.0\.1:(\d+)/.exec(said)?.[1];
    await until("the server to listen", portIn);
    return `https://127.0.0.1:${portIn()}`;
  }

  const old: TlsOptions = {
    maxVersion: "TLSv1.1",
    minVersion: "TLSv1",
    ciphers: "DEFAULT@SECLEVEL=0",
  };
  const asks: TlsOptions = { requestCert: true, rejectUnauthorized: true };

  test.for([
    ["its certificate has expired (", () => made.pair("expired"), "it is too old"],
    [
      "its certificate has another name than 127.0.0.1:",
      () => made.pair("other-host"),
      "a wrong name",
    ],
    ["(altnames: DNS:mail.example.com)", () => made.pair("other-host"), "and the names it has"],
    [
      'is issued by "foreign-authority", which this host does not trust',
      () => made.pair("foreign"),
      "a private authority",
    ],
    ["its certificate is self-signed", () => made.pair("self-signed"), "nobody vouches for it"],
    ["its version of TLS is too old: at least TLS 1.2", () => old, "of the last century"],
    [
      "asks for a client certificate",
      () => ({ ...asks, ca }),
      "TLS 1.3 says so after the handshake",
    ],
    [
      "may ask for a client certificate",
      () => ({ ...asks, ca, maxVersion: "TLSv1.2" as const }),
      "TLS 1.2 says no more",
    ],
  ] as const)(
    "%s: nothing of it is read, and the message names the cause: %s",
    async ([says, options]) => {
      const server = await tlsServer(options());
      const ended = await uploadTo(server.url, { ca });
      expect(ended).toMatchObject({ kind: "notSent", code: "TLS_REFUSED" });
      expect(String(ended)).toContain(`no TLS with 127.0.0.1:${server.port}: `);
      expect(String(ended)).toContain(says);
      expect(String(ended)).not.toMatch(/Node|openssl/i);
      expect(server.heard).toBe("");
    },
  );

  test.for(["TLSv1.3", "TLSv1.2"] as const)(
    "a server that asks for a client certificate gets it, and no other: %s",
    async (maxVersion) => {
      const server = await tlsServer({ ...asks, ca, maxVersion });
      expect(await uploadTo(server.url, { ca, client })).toMatchObject({ id: 41 });
      // Node's server says nothing to one that it does not know; OpenSSL's does.
      const strict = await sServer(maxVersion === "TLSv1.3" ? "-tls1_3" : "-tls1_2");
      const foreign = made.pair("foreign-client");
      const refused = await uploadTo(strict, { ca, client: foreign });
      expect(refused).toMatchObject({ kind: "notSent", code: "TLS_REFUSED" });
      expect(String(refused)).toContain("does not accept our client certificate");
    },
  );

  test("nginx's answer to nobody's certificate is no refused account and no refused document", async () => {
    const page = "<h1>400 Bad Request</h1><center>No required SSL certificate was sent</center>";
    const server = createHttpsServer(fit, (incoming, outgoing) => {
      incoming.resume().on("end", () => outgoing.writeHead(400).end(page));
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const ended = await uploadTo(`https://127.0.0.1:${port}`, { ca });
    expect(ended).toMatchObject({ code: "TLS_REFUSED" });
    expect(String(ended)).toContain("asks for a client certificate");
  });

  /** A proxy, and an upload through it. */
  async function through(options: HttpProxyOptions, login: string, more: NetworkSettings = { ca }) {
    const server = await tlsServer({});
    await using proxy = await httpProxy({
      ...options,
      ...(options.inspects && { target: server.port }),
    });
    const at = login === "" ? "" : `${login}@`;
    const network = { ...more, proxy: `http://${at}127.0.0.1:${proxy.port}` };
    const ended = await uploadTo(server.url, network);
    return { ended, asked: proxy.asked, heard: server.heard, port: server.port, network };
  }

  test.for([
    [{}, "", "without a user"],
    [{ login: LOGIN }, LOGIN, "with the right one"],
    [{ login: "a b:p@ss:%" }, "a%20b:p%40ss%3A%25", "that has to be encoded"],
  ] as const)("by CONNECT a proxy leads to the archive: %j, %s (%s)", async ([options, login]) => {
    const { ended, asked, port } = await through(options, login);
    expect(ended).toMatchObject({ id: 41 });
    expect(asked).toEqual([{ line: `CONNECT 127.0.0.1:${port}`, isThrough: true }]);
  });

  test.for([
    [{ login: LOGIN }, "", "PROXY_REFUSED", /asks for a user and a password \(HTTP 407\)/],
    [{ login: LOGIN }, "office:canary-wrong", "PROXY_REFUSED", /refuses the user or the password/],
    [
      {
        answer:
          "HTTP/1.1 407 X\r\nproxy-authenticate: NTLM\r\nProxy-Authenticate: Negotiate\r\n\r\n",
      },
      LOGIN,
      "PROXY_REFUSED",
      /asks for NTLM, Negotiate, of which none is spoken/,
    ],
    [
      { answer: "HTTP/1.1 403 Forbidden\r\n\r\n" },
      "",
      "PROXY_REFUSED",
      /does not let us through to 127\.0\.0\.1:\d+ \(HTTP 403\)/,
    ],
    [
      { answer: "HTTP/1.0 503 X\r\n\r\n" },
      "",
      "ARCHIVE_UNREACHABLE",
      /cannot reach 127\.0\.0\.1:\d+ \(HTTP 503\)/,
    ],
    [{ answer: "SSH-2.0-OpenSSH\r\n\r\n" }, "", "ARCHIVE_UNREACHABLE", /\(no HTTP\)/],
    [{ answer: "HTTP/1.1 200 O" }, "", "ARCHIVE_UNREACHABLE", /ended the connection/],
    [{ answer: "x".repeat(40_000) }, "", "ARCHIVE_UNREACHABLE", /without end/],
  ] as const)(
    "a proxy that lets nothing through: nothing was sent, and it says why: %j %s",
    async ([options, login, code, says]) => {
      const { ended, heard } = await through(options, login);
      expect(ended).toMatchObject({ kind: "notSent", code });
      expect(String(ended)).toMatch(/the proxy 127\.0\.0\.1:\d+/);
      expect(String(ended)).toMatch(says);
      expect(String(ended)).not.toContain("canary");
      expect(heard).toBe("");
    },
  );

  test("a proxy that nobody runs is told as the proxy", async () => {
    const ended = await uploadTo("https://archive.example.com", {
      proxy: "http://u:canary-77@127.0.0.1:1",
    });
    expect(ended).toMatchObject({ kind: "notSent", code: "ARCHIVE_UNREACHABLE" });
    expect(String(ended)).toMatch(
      /the proxy: no connection to 127\.0\.0\.1:1: 127\.0\.0\.1: ECONNREFUSED after \d+ ms/,
    );
    expect(String(ended)).not.toContain("canary");
  });

  test("TLS that is inspected on the way is trusted with `ca`, and named without", async () => {
    const inspects = made.pair("foreign");
    const foreign = made.pair("foreign-authority").cert;
    expect((await through({ inspects }, "", { ca: foreign })).ended).toBeInstanceOf(Error);
    const { ended, heard } = await through({ inspects }, "", {});
    expect(ended).toMatchObject({ kind: "notSent", code: "TLS_REFUSED" });
    expect(String(ended)).toContain('issued by "foreign-authority"');
    expect(heard).toBe("");
  });

  test("a webhook goes by the proxy, and its failure tells no secret", async () => {
    let asked = 0;
    const server = createHttpsServer(fit, (_, outgoing) => {
      asked++;
      outgoing.writeHead(204).end();
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    await using proxy = await httpProxy({ login: LOGIN });
    const to = (login: string) => ({ ca, proxy: `http://${login}@127.0.0.1:${proxy.port}` });
    const url = `https://127.0.0.1:${port}/hook/canary-path`;
    await call(url, { method: "POST", body: "{}" }, to(LOGIN), never);
    expect(asked).toBe(1);
    const failing = call(url, { method: "POST", body: "{}" }, to("office:canary-bad"), never);
    await expect(failing).rejects.toThrow(/refuses the user or the password/);
    await expect(failing).rejects.not.toThrow(/canary/);
    expect(asked).toBe(1);
  });
});
