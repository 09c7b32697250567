/**
 * One of two equal daemons that run side by side under the same load: two local mirrors and one on
 * a share. The archive takes its time over an upload, so that slots, not processors, are what is
 * short: a slot that is lost to the share shows.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { aProcess, type Running } from "../../test/fixtures/a-process.ts";
import { pdfOf } from "../../test/fixtures/documents.ts";
import { freePort } from "../../test/fixtures/free-port.ts";
import { ACCOUNT_KEY, aWorld, SECRET, type World } from "../../test/fixtures/world.ts";
import { DOUBT_WINDOW } from "../judged-world.ts";
import { Share } from "./share.ts";
import { fieldOf } from "../../src/embedded-archive/parameters.ts";

/** How long the archive sits over an upload. */
const UPLOAD_MS = 400;
/** Local files that are under way at a time: more than the daemon has room for. */
const OUTSTANDING = 60;
/** Files that come to the share at once. */
const BURST = 12;
/** `shutdown` of the daemons. */
export const SHUTDOWN_MS = 5_000;

export class Twin implements AsyncDisposable {
  readonly name: string;
  readonly world: World;
  readonly share: Share;
  readonly config: string;
  readonly page: string;
  /** Uploads of local files that the archive has been asked for. */
  local = 0;
  /** Called when the archive is asked to take a file of the share. */
  onShared: () => void = () => {};
  #written = 0;
  #shared = 0;
  #daemon: Running | undefined;
  /** All that daemons of this twin have said. */
  readonly #outputs: Running["output"][] = [];

  private constructor(name: string, world: World, share: Share, port: number) {
    this.name = name;
    this.world = world;
    this.share = share;
    this.page = `http://127.0.0.1:${port}`;
    this.config = join(world.dir, "scanferry.yaml");
    writeFileSync(this.config, yamlOf(world, port), { mode: 0o600 });
    world.archive.setFaults(({ operation, fields }) => {
      if (operation !== "upload") return undefined;
      if (fieldOf(fields, "filename")?.startsWith("share-")) this.onShared();
      else this.local += 1;
      return { do: "delay", ms: UPLOAD_MS };
    });
  }

  static async open(name: string): Promise<Twin> {
    const world = await aWorld({
      folders: ["/Scans/a", "/Scans/b", "/Scans/share"],
      convertDelayMs: 1_000,
    });
    for (const folder of ["a", "b"]) mkdirSync(join(world.source, folder));
    const share = await Share.open(join(world.dir, "behind"), join(world.source, "share"));
    return new Twin(name, world, share, await freePort());
  }

  get daemon(): Running {
    if (!this.#daemon) throw new Error("no daemon runs");
    return this.#daemon;
  }

  /** Everything that was said so far, for secrets and for what went wrong. */
  get said(): string {
    return this.#outputs.map(({ stdout, stderr }) => stdout + stderr).join("");
  }

  async start(): Promise<void> {
    this.#daemon = aProcess(["--config", this.config, "run"]);
    this.#outputs.push(this.#daemon.output);
    await this.#daemon.says(/"started"/);
  }

  /** Carries everything that is left, in a run that ends on its own. */
  async finish(): Promise<number | NodeJS.Signals> {
    const sync = aProcess(["--config", this.config, "sync"]);
    this.#outputs.push(sync.output);
    return await sync.ended;
  }

  /** Keeps as many local files under way as are meant to be. */
  feed(): void {
    while (this.#written - this.local < OUTSTANDING) {
      const n = this.#written++;
      this.world.write(`${n % 2 === 0 ? "a" : "b"}/local-${n}.pdf`, pdfOf(1, { seed: n }));
    }
  }

  /** Someone else puts files on the share. */
  burst(): void {
    for (let i = 0; i < BURST; i++) {
      const n = this.#shared++;
      const bytes = pdfOf(1, { seed: 1_000_000 + n });
      writeFileSync(join(this.share.behind, `share-${n}.pdf`), bytes);
    }
  }

  /** Files that were put on the share. */
  get shared(): number {
    return this.#shared;
  }

  /** Files of the share that the archive has. */
  get carried(): number {
    const documents = this.world.archive.documents();
    return documents.filter(({ filename }) => filename.startsWith("share-")).length;
  }

  /** All files that were written. */
  get written(): number {
    return this.#written + this.#shared;
  }

  /** Milliseconds that the page takes for its state and for a list; rejects when it does not answer. */
  async askPage(): Promise<number> {
    const startedAt = performance.now();
    for (const path of ["/api/status", "/api/documents", "/readyz"]) {
      const reply = await fetch(this.page + path, { signal: AbortSignal.timeout(10_000) });
      await reply.arrayBuffer();
    }
    return (performance.now() - startedAt) / 3;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.share.goOn();
    await this.#daemon?.[Symbol.asyncDispose]();
    await this.share[Symbol.asyncDispose]();
    await this.world[Symbol.asyncDispose]();
  }
}

function yamlOf(world: World, port: number): string {
  const mirrors = ["a", "b", "share"].map(
    (name) =>
      `  - { name: ${name}, source: ${world.source}/${name}, target: /Scans/${name}, settle: 300ms }`,
  );
  return `archive:
  url: ${world.archive.url}
  accountKey: ${ACCOUNT_KEY}
  signing: { scheme: hmac, secret: ${SECRET} }
  timeout: 5s
mirrors:
${mirrors.join("\n")}
journal: ${world.journal}
upload: { concurrency: 4, retry: { initial: 100ms, max: 500ms }, doubt: { window: ${DOUBT_WINDOW} } }
conversion: { poll: { initial: 500ms, max: 2s } }
shutdown: ${SHUTDOWN_MS / 1_000}s
web: { listen: "127.0.0.1:${port}" }
`;
}
