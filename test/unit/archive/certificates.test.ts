/** Certificates that fit, and that do not, from an authority that is made for the test. */
import { execFileSync, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer, getCACertificates, setDefaultCACertificates } from "node:tls";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { errorOf, never, openOn, scan } from "./fixture.ts";
import { stored } from "./raw-server.ts";

const hasOpenssl = spawnSync("openssl", ["version"], { stdio: "ignore" }).status === 0;

describe.skipIf(!hasOpenssl)("the archive's certificate", () => {
  const dir = mkdtempSync(join(tmpdir(), "certificates-"));
  const before = getCACertificates("default");
  const openssl = (...words: string[]) =>
    execFileSync("openssl", words, { cwd: dir, stdio: ["ignore", "ignore", "ignore"] });

  /** A key and a certificate for `host`, signed by `by`, or by itself. */
  function certify(name: string, host: string, days: number, by?: string): void {
    const subject = ["-subj", `/CN=${name}`];
    openssl(
      "req",
      "-newkey",
      "ec",
      "-pkeyopt",
      "ec_paramgen_curve:P-256",
      "-nodes",
      ...subject,
      "-keyout",
      `${name}.key`,
      "-out",
      `${name}.csr`,
    );
    const isAuthority = by === undefined && host === "";
    const extensions = isAuthority ? "basicConstraints=critical,CA:TRUE" : `subjectAltName=${host}`;
    writeFileSync(join(dir, `${name}.ext`), extensions);
    const signer =
      by === undefined
        ? ["-signkey", `${name}.key`]
        : ["-CA", `${by}.crt`, "-CAkey", `${by}.key`, "-CAcreateserial"];
    openssl(
      "x509",
      "-req",
      "-in",
      `${name}.csr`,
      "-out",
      `${name}.crt`,
      ...signer,
      "-extfile",
      `${name}.ext`,
      "-days",
      String(days),
    );
  }

  beforeAll(() => {
    certify("authority", "", 10);
    certify("stranger", "", 10);
    certify("fit", "IP:127.0.0.1", 10, "authority");
    certify("other-host", "DNS:archive.example.com", 10, "authority");
    certify("expired", "IP:127.0.0.1", -1, "authority");
    certify("self-signed", "IP:127.0.0.1", 10);
    certify("unknown-authority", "IP:127.0.0.1", 10, "stranger");
    setDefaultCACertificates([...before, readFileSync(join(dir, "authority.crt"), "utf8")]);
  });

  afterAll(() => {
    setDefaultCACertificates(before);
    rmSync(dir, { recursive: true });
  });

  /** What an upload to a server with this certificate comes to, and what the server could read. */
  async function uploadTo(name: string) {
    let heard = "";
    const key = readFileSync(join(dir, `${name}.key`));
    const cert = readFileSync(join(dir, `${name}.crt`));
    const server = createServer({ key, cert }, (socket) => {
      socket.on("error", () => {});
      socket.on("data", (chunk: Buffer) => {
        heard += chunk.toString("latin1");
        if (heard.includes("--\r\n")) socket.end(stored());
      });
    });
    server.on("tlsClientError", () => {});
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    try {
      const { port } = server.address() as AddressInfo;
      await using archive = await openOn({ url: `https://127.0.0.1:${port}` });
      const ended = await archive.upload(scan(), never).catch((error: unknown) => error);
      return { ended, heard };
    } finally {
      server.close();
    }
  }

  test("that fits is taken", async () => {
    expect((await uploadTo("fit")).ended).toMatchObject({ id: 41 });
  });

  test.for([
    ["other-host", /altnames/i, "it is another host's"],
    ["expired", /expired/i, "it is too old"],
    ["self-signed", /self.signed/i, "nobody vouches for it"],
    ["unknown-authority", /verify|issuer|certificate/i, "nobody known vouches for it"],
  ] as const)(
    "$0 is refused before a byte of the request is sent, because $2",
    async ([name, why]) => {
      const { ended, heard } = await uploadTo(name);
      const error = await errorOf(Promise.reject(ended));
      expect(error).toMatchObject({ kind: "notSent", code: "TLS_REFUSED" });
      expect(error.message).toMatch(why);
      expect(error.message).not.toContain("Node");
      expect(heard).toBe("");
    },
  );
});
