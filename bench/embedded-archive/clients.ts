import { createHmac, randomBytes } from "node:crypto";
import { Agent, request } from "node:http";

const PATH = "/api/v0_4/document/upload.html";
const BOUNDARY = "bench-boundary";
const TYPE = `multipart/form-data; boundary=${BOUNDARY}`;

/** Everything of an upload's body before the file. */
function head(filename: string): Buffer {
  const fields: [string, string][] = [
    ["acc_key", "demo"],
    ["filename", filename],
  ];
  const text = fields.map(([name, value]) => `${name}=${value}`).join("&");
  fields.push(["sig", createHmac("sha256", "demo").update(text).digest("base64")]);
  const parts = fields.map(
    ([name, value]) =>
      `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  return Buffer.from(
    `${parts.join("")}--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n`,
  );
}

const TAIL = Buffer.from(`\r\n--${BOUNDARY}--\r\n`);

/** Sends one body, piece by piece; rejects unless it is stored. */
function send(url: string, agent: Agent, length: number, pieces: Iterable<Buffer>): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { "content-type": TYPE, "content-length": length };
    const sending = request(url + PATH, { method: "POST", agent, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () => {
        const text = Buffer.concat(chunks).toString();
        if (text.includes('"OK"')) resolve();
        else reject(new Error(text));
      });
    });
    sending.on("error", reject);
    const iterator = pieces[Symbol.iterator]();
    const pump = () => {
      for (let next = iterator.next(); !next.done; next = iterator.next())
        if (!sending.write(next.value)) {
          sending.once("drain", pump);
          return;
        }
      sending.end();
    };
    pump();
  });
}

/** Uploads different files of `bytes` from `clients` connections for `ms`; files a second. */
export async function uploadMany(given: {
  url: string;
  bytes: number;
  clients: number;
  ms: number;
}): Promise<number> {
  const { url, bytes, clients, ms } = given;
  const agent = new Agent({ keepAlive: true, maxSockets: clients });
  const content = randomBytes(bytes);
  const start = performance.now();
  let sent = 0;
  const client = async () => {
    while (performance.now() - start < ms) {
      const front = head(`${sent}.bin`);
      // Different bytes each time, without hashing or random numbers at the client's cost.
      const file = Buffer.from(content);
      file.writeUInt32LE(sent, 0);
      sent += 1;
      await send(url, agent, front.length + bytes + TAIL.length, [front, file, TAIL]);
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  const seconds = (performance.now() - start) / 1000;
  agent.destroy();
  return sent / seconds;
}

/** Uploads one file of `bytes`; milliseconds. */
export async function streamIn(url: string, bytes: number): Promise<number> {
  const agent = new Agent();
  const piece = randomBytes(64 * 1024);
  const front = head("large.bin");
  function* pieces() {
    yield front;
    for (let sent = 0; sent < bytes; sent += piece.length) yield piece;
    yield TAIL;
  }
  const start = performance.now();
  await send(url, agent, front.length + bytes + TAIL.length, pieces());
  return performance.now() - start;
}
