import type { Config } from "../../config/config.ts";
import { Daemon } from "../../daemon/daemon.ts";
import { EmbeddedArchive } from "../../embedded-archive/embedded-archive.ts";
import { codeOf } from "../../std/fault.ts";
import { printable } from "../../std/printable.ts";
import type { Shell } from "../shell.ts";
import { demoConfig, DemoPlace } from "./demo-place.ts";
import { warningsTo } from "../run-program.ts";
import type { Document, State } from "../../domain/document.ts";
import { failureOf } from "../../domain/failure.ts";
import type { Applied } from "../../journal/journal.ts";
import type { Clock } from "../../std/clock.ts";
import { joinRaw, shown } from "../../std/raw-path.ts";
import { cutMiddle, padded } from "../text-table.ts";
import { ProgressBar } from "../progress-bar.ts";
import { STATE_STYLES } from "../status-lines.ts";
import type { Terminal } from "../terminal.ts";
import { clause, counted } from "../../std/wording.ts";

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

/** As the archive writes it, since that is what everyone waits for. */
const WORDS: Partial<Record<State, string>> = { converted: "CONVERTED" };

const PATH_COLUMNS = 56;

/** On a screen the path gives way: the state, and an id with pages, keep their room. */
const WORD_COLUMNS = 12;
const DETAIL_COLUMNS = 23;

/** Prints each document on its way, a line a step, and on a terminal how far all are below that. */
class Journey {
  readonly #out: Terminal;
  readonly #target: string;
  readonly #bar: ProgressBar;

  /** `target` is the archive folder that the mirror is carried into. */
  constructor(out: Terminal, clock: Clock, target: string) {
    this.#out = out;
    this.#target = target;
    this.#bar = new ProgressBar(out, clock);
  }

  journaled(applied: readonly Applied[]): void {
    this.#bar.journaled(applied);
    for (const { change, document, from, skipped } of applied) {
      if (skipped || !document || change.type !== "event" || document.state === from) continue;
      this.#bar.above(this.#lineOf(document));
    }
  }

  /** Prints a line among the others. */
  say(line: string): void {
    this.#bar.above(line);
  }

  /** Another writer prints a line. */
  giveWay(): void {
    this.#bar.giveWay();
  }

  /** Clears what is drawn over. */
  end(): void {
    this.#bar.end();
  }

  #lineOf(document: Document): string {
    const { state } = document;
    const word = this.#out.paint(STATE_STYLES[state], padded(WORDS[state] ?? state, 9));
    const detail = printable(this.#detailOf(document));
    const full = shown(joinRaw(document.dir, document.name));
    if (!this.#out.isInteractive) {
      return `${word}  ${padded(full, PATH_COLUMNS)}  ${detail}`.trimEnd();
    }
    const columns = Math.max(20, this.#out.width - WORD_COLUMNS - DETAIL_COLUMNS);
    const path = padded(cutMiddle(full, columns), columns);
    return `${word}  ${path}  ${detail}`.trimEnd();
  }

  #detailOf({ state, documentId, pages, targetPath, problem }: Document): string {
    if (problem && (state === "held" || state === "failed")) {
      const fix =
        problem.code === "FOLDER_MISSING"
          ? `the archive has no folder ${targetPath ?? this.#target}, and its interface cannot create folders; scanferry demo --data DIR creates the folders that DIR/scans has at the start`
          : clause(failureOf(problem.code).hint);
      return `${problem.code}: ${fix}`;
    }
    const parts = [
      documentId === null ? "" : `document ${documentId}`,
      pages === null ? "" : counted(pages, "page"),
      state === "pending" && !this.#out.isInteractive ? `for ${targetPath ?? this.#target}` : "",
    ];
    return parts.filter((part) => part !== "").join(", ");
  }
}
