import type { Config } from "../config/config.ts";
import type { ConfigPlaces } from "../config/config-file.ts";
import type { Clock, Random } from "../std/clock.ts";
import { EXIT, type ExitCode } from "./exit.ts";
import { printable } from "../std/printable.ts";
import { type OutputStream, Terminal } from "./terminal.ts";
import { existsSync, realpathSync } from "node:fs";
import { delimiter, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import type { Input } from "./questions.ts";
import { shellWord } from "../std/wording.ts";

/** Everything that a command gets from the process it runs in; injected, so that it can be tested. */
export type ProcessContext = {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  /** Where a person types; undefined: nobody does. */
  readonly stdin?: Input | undefined;
  readonly clock: Clock;
  readonly random: Random;
  /** Aborts when the process is asked to stop; asking for it is what makes the process listen. */
  readonly stopping: () => AbortSignal;
  /** Called where nobody need be reading: from then on output neither blocks it nor keeps it from ending. */
  readonly unattended?: () => void;
};

/** What commands share: their process context, where they write, and what they end with. */
export class Shell {
  readonly processContext: ProcessContext;
  readonly out: Terminal;
  readonly err: Terminal;
  /** What `--config` says. */
  configFile: string | undefined;
  exitCode: ExitCode = EXIT.done;
  #hasSkipped = false;
  #stopping: AbortSignal | undefined;

  constructor(processContext: ProcessContext) {
    this.processContext = processContext;
    this.out = new Terminal(processContext.stdout, processContext.env);
    this.err = new Terminal(processContext.stderr, processContext.env);
  }

  get clock(): Clock {
    return this.processContext.clock;
  }

  get cwd(): string {
    return this.processContext.cwd;
  }

  /** Where paths of documents are typed. */
  get directory(): { readonly cwd: string; readonly pwd: string | undefined } {
    return { cwd: this.cwd, pwd: this.processContext.env["PWD"] };
  }

  /** Where the configuration is looked for. */
  get places(): ConfigPlaces {
    const { env, cwd } = this.processContext;
    return { file: this.configFile, env, cwd, skipped: (line) => this.#skipped(line) };
  }

  /** A command as the user types it next, with the configuration that this one was given. */
  typed(command: string): string {
    const { env, cwd } = this.processContext;
    const file = this.configFile === undefined ? "" : `--config ${shellWord(this.configFile)} `;
    return `${typedName(env, cwd)} ${file}${command}`;
  }

  /** Reads the configuration; throws `ConfigError`. */
  async config(): Promise<Config> {
    // Takes long to load, and what is printed of the program itself needs none.
    const { loadConfig } = await import("../config/load-config.ts");
    return loadConfig(this.places);
  }

  /** Once: a command may look for the configuration again. */
  #skipped(line: string): void {
    if (!this.#hasSkipped) this.err.print(`scanferry: ${printable(line)}\n`);
    this.#hasSkipped = true;
  }

  /** Aborts when the command is asked to stop before it is done. */
  stopping(): AbortSignal {
    return (this.#stopping ??= this.untilStopped());
  }

  /** The same for a command that runs until it is asked to stop: it is done then. */
  untilStopped(): AbortSignal {
    return this.processContext.stopping();
  }

  /** Why the command was asked to stop before it was done; undefined: it was not. */
  get stopped(): Error | undefined {
    return this.#stopping?.aborted ? (this.#stopping.reason as Error) : undefined;
  }
}

/** Next to `src` or `dist`, as the package ships it; an image has it elsewhere. */
const OWN = fileURLToPath(new URL("../../bin/scanferry", import.meta.url));

/**
 * What the user types for this program where `cwd` is: `scanferry` where the `PATH` leads to it, else a path that works.
 *
 * @param own the program that this process was started by
 */
export function typedName(env: NodeJS.ProcessEnv, cwd: string, own = OWN): string {
  if (!existsSync(own)) return "scanferry";
  const places = (env["PATH"] ?? "").split(delimiter).filter((place) => place !== "");
  const first = places.map((place) => join(place, "scanferry")).find((path) => existsSync(path));
  if (first !== undefined && realpathSync(first) === realpathSync(own)) return "scanferry";
  const near = relative(cwd, own);
  if (near.startsWith("..")) return shellWord(own);
  return shellWord(near.includes("/") ? near : `./${near}`);
}
