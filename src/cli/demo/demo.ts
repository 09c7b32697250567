import type { Config } from "../../config/config.ts";
import { Daemon } from "../../daemon/daemon.ts";
import { EmbeddedArchive } from "../../embedded-archive/embedded-archive.ts";
import { codeOf } from "../../std/fault.ts";
import { printable } from "../../std/printable.ts";
import type { Shell } from "../shell.ts";
import { demoConfig, DemoPlace } from "./demo-place.ts";
import { Journey } from "./journey.ts";
import { warningsTo } from "../run-program.ts";

/** How long the archive takes to convert: long enough to be seen. */
const CONVERT_DELAY_MS = 400;

/** Where the samples go, in the archive. */
const TARGET = "/Scans";

export type DemoOptions = {
  /** Where everything is kept; undefined: in a temporary directory. */
  readonly data: string | undefined;
  /** Port of the page, when it is free. */
  readonly port: number;
  /** One pass, after which nothing temporary is left; else it goes on watching. */
  readonly isPassing: boolean;
};

/** The demonstration: the embedded archive, the daemon and its page, over a copy of the samples. */
export class Demo implements AsyncDisposable {
  readonly daemon: Daemon;
  readonly #journey: Journey;
  readonly #reminder: string;
  readonly #owned: AsyncDisposableStack;

  private constructor(
    daemon: Daemon,
    { journey, inbox }: { journey: Journey; inbox: string },
    owned: AsyncDisposableStack,
  ) {
    this.daemon = daemon;
    this.#journey = journey;
    const page = daemon.webUrl === undefined ? "" : `; the page is at ${daemon.webUrl}`;
    this.#reminder = `These were the samples. Now copy your own document to ${inbox}${page}`;
    this.#owned = owned;
  }

  /** Opens everything and tells where it is. Rejects with a Fault when a part cannot be opened. */
  static async open(shell: Shell, options: DemoOptions): Promise<Demo> {
    await using stack = new AsyncDisposableStack();
    const say = (line: string) => shell.out.line(printable(line));
    const place = stack.use(await DemoPlace.open(options.data, shell.cwd, say));
    const archive = stack.use(
      await EmbeddedArchive.open({
        dataDir: place.archive,
        listen: { host: "127.0.0.1", port: 0 },
        convertDelayMs: CONVERT_DELAY_MS,
        folders: place.folders.map((folder) => `${TARGET}${folder}`),
        log: (event) => void shell.err.line(JSON.stringify(event)),
      }),
    );
    const config = demoConfig({ place, url: archive.url, target: TARGET, port: options.port });
    const journey = new Journey(shell.out, shell.clock, TARGET);
    stack.defer(() => journey.end());
    const daemon = stack.use(await openDaemon(config, shell, journey));
    await introduce(shell, place, archive.url, daemon, options.isPassing);
    return new Demo(daemon, { journey, inbox: place.inbox }, stack.move());
  }

  /** Clears what is drawn over: what is printed from here on stands on its own. */
  endDrawing(): void {
    this.#journey.end();
  }

  /** Goes on until `stopping` aborts. */
  async run(stopping: AbortSignal): Promise<void> {
    const over = new AbortController();
    const signal = AbortSignal.any([stopping, over.signal]);
    // By then the samples have scrolled away what was printed at the start.
    const reminded = this.daemon.idle({ waitConverted: true }, signal).then(
      () => this.#journey.say(this.#reminder),
      () => {},
    );
    try {
      await this.daemon.run(stopping);
    } finally {
      over.abort();
      await reminded;
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#owned.disposeAsync();
  }
}

/** On the port that was asked for, or any free one where that is taken. */
async function openDaemon(config: Config, shell: Shell, journey: Journey): Promise<Daemon> {
  const { clock, random } = shell.processContext;
  const log = warningsTo(shell.err, [], () => journey.giveWay());
  const journaled = journey.journaled.bind(journey);
  try {
    return await Daemon.open({ config, log, clock, random, journaled });
  } catch (error) {
    if (codeOf(error) !== "WEB_LISTEN" || !config.web) throw error;
    const elsewhere = { ...config, web: { ...config.web, port: 0 } };
    return Daemon.open({ config: elsewhere, log, clock, random, journaled });
  }
}

async function introduce(
  { out }: Shell,
  place: DemoPlace,
  url: string,
  daemon: Daemon,
  isPassing: boolean,
): Promise<void> {
  const say = (name: string, text: string) =>
    out.line(`${out.paint("bold", name.padEnd(10))} ${text}`);
  await say("archive", `${url} (embedded)`);
  if (daemon.webUrl !== undefined) await say("dashboard", daemon.webUrl);
  await say("folder", `${place.inbox} → ${TARGET}`);
  await out.line(
    "Document numbers are not consecutive: several documents are sent at once, and each file inside a signed container has a number, too.",
  );
  if (!isPassing) {
    await out.line(
      "Copy files to the folder and watch them being sent. Ctrl-C ends the demonstration.",
    );
    await out.line(
      "The archive's interface cannot create folders: documents of a new subfolder are held until the folder exists.",
    );
  }
  await out.line();
}
