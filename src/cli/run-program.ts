import { readFileSync } from "node:fs";
import { Command, CommanderError } from "commander";
import { readConfigFile } from "../config/config-file.ts";
import { codeOf, Fault, UsageError } from "../std/fault.ts";
import { type AddCommand, commandsFor, HELP_GROUP } from "./command-table.ts";
import { codeOfStop, endingOf, type ExitCode, giveUp, leave } from "./exit.ts";
import { type ProcessContext, Shell } from "./shell.ts";
import { type Log, redactor } from "../std/log.ts";
import { printable } from "../std/printable.ts";
import type { Terminal } from "./terminal.ts";
import { isUnusable } from "../check/check-result.ts";
import { wrapped } from "./text-table.ts";
import { version } from "../daemon/version.ts";
import { examples } from "./option-values.ts";
import { nearest } from "../std/nearest.ts";
import { Stopping } from "../std/abort.ts";
import { systemClock, systemRandom } from "../std/clock.ts";
import { neverBlock } from "../std/never-block.ts";
import { exact, rawOf } from "../std/raw-path.ts";

/** Runs the command line `args` (without node and script); resolves with the exit code. Without any, help. */
export async function runProgram(
  args: readonly string[],
  processContext: ProcessContext,
): Promise<ExitCode> {
  const shell = new Shell(processContext);
  try {
    const program = programOf(shell, await commandsFor(args));
    await program
      .parseAsync(args.length === 0 ? ["--help"] : args, { from: "user" })
      .catch(async (error: unknown) => {
        // Help and version were printed without waiting.
        await shell.out.write("");
        const isHelp = error instanceof CommanderError && error.code === "commander.help";
        throw isHelp && error.exitCode !== 0 ? noCommand(program) : error;
      });
    return shell.stopped === undefined ? shell.exitCode : codeOfStop(shell.stopped);
  } catch (error) {
    const { code, lines } = endingOf(await placed(error, shell), shell.stopped);
    // The end of the process waits for them as long as it may.
    const { isInteractive, width } = shell.err;
    // Elsewhere each is one line, for programs.
    for (const line of lines)
      shell.err.print(`${isInteractive ? wrapped(line, width - 2).join("\n  ") : line}\n`);
    return code;
  }
}

/** What is wrong with the configuration names its file, also where it was found long after that was read. */
async function placed(failure: unknown, shell: Shell): Promise<unknown> {
  if (!isUnusable(failure)) return failure;
  const file = await readConfigFile(shell.places).catch(() => undefined);
  if (file?.isWritten !== true) return failure;
  const { code, message, hint } = failure;
  return new Fault(code, `${file.path}: ${message}`, hint, { cause: failure });
}

/** Runs the command that the process was started with, and ends the process. */
export async function start(): Promise<void> {
  const processContext = contextOfProcess();
  const code = await runProgram(rawArguments(process.argv.slice(2)), processContext);
  await leave(code, processContext.ending);
}

/**
 * A log for commands in the foreground: warnings and errors alone, a line each. What becomes of a
 * document is not repeated here, since the command tells that itself. `before` is called before each
 * line: what is drawn over on a terminal gives way.
 */
export function warningsTo(
  terminal: Terminal,
  secrets: readonly string[],
  before: () => void = () => {},
): Log {
  const redact = redactor(secrets);
  const say = (context: object, message: string) => {
    if ("state" in context) return;
    const facts = Object.entries(context)
      .filter(([name]) => ["mirror", "path", "code"].includes(name))
      .map(([, value]) => String(value));
    const about = facts.length === 0 ? "" : ` (${facts.join(", ")})`;
    before();
    terminal.print(`${printable(redact(`scanferry: ${message}${about}`))}\n`);
  };
  return { trace() {}, debug() {}, info() {}, warn: say, error: say };
}

/** The command line with these commands. Parsing throws `CommanderError` and `UsageError`, and ends no process. */
export function programOf(shell: Shell, commands: readonly AddCommand[]): Command {
  const program = new Command("scanferry")
    .description(
      "Sends scans from local folders to an online document archive: once, complete, to the " +
        "right folder, and with proof.",
    )
    .option(
      "--config <file>",
      "configuration file; default: $SCANFERRY_CONFIG, ./scanferry.yaml, /etc/scanferry/scanferry.yaml",
    )
    .version(version, "-V, --version")
    .addHelpCommand(helpCommand())
    .exitOverride()
    .configureOutput({
      writeOut: (text) => shell.out.print(text),
      // What is wrong is printed in one line, where it is caught.
      writeErr: () => {},
      outputError: () => {},
      getOutHelpWidth: () => shell.out.width,
      getOutHasColors: () => shell.out.hasColour,
    })
    .hook("preAction", async (_, command) => {
      const { config } = program.opts<{ config?: string }>();
      shell.configFile = config;
      const paths = pathsOf(command);
      if (paths.length === 0) return;
      // It would be the working directory, and all that is in it. `--config` says so itself.
      if (config !== "" && paths.includes(""))
        throw new UsageError(
          "a path is empty (is a shell variable not set?); name a file or folder",
        );
      // What reads configurations takes longer to load than most commands to run.
      const { isShareAddress, SHARE_FIX } = await import("../config/place-kinds.ts");
      for (const path of paths) {
        if (!isShareAddress(path)) continue;
        throw new UsageError(`${path} is a Windows path or the address of a share; ${SHARE_FIX}`);
      }
    })
    .addHelpText("after", examples("scanferry init", "scanferry check", "scanferry run"));
  for (const add of commands) add(program, shell);
  return program;
}

/** What was typed where the command, or the program, takes a file or folder of this machine. */
function pathsOf(command: Command): string[] {
  const isPath = (name: string) => /^(?:file|dir|path)$/.test(name);
  const typed: unknown[] = command.registeredArguments.flatMap((argument, at) =>
    isPath(argument.name()) ? [command.processedArgs[at]] : [],
  );
  const values: Readonly<Record<string, unknown>> = command.optsWithGlobals();
  for (let each: Command | null = command; each; each = each.parent) {
    for (const option of each.options) {
      const [, name = ""] = /<([\w-]+)>/.exec(option.flags) ?? [];
      if (isPath(name)) typed.push(values[option.attributeName()]);
    }
  }
  return typed.flat().filter((value) => typeof value === "string");
}

function helpCommand(): Command {
  return new Command("help")
    .argument("[command]")
    .description("show the help of a command")
    .helpOption(false)
    .helpGroup(HELP_GROUP);
}

/**
 * What is missing where commander can only answer with help: on stderr that would be many lines,
 * none of which says what is wrong.
 */
function noCommand(program: Command): UsageError {
  const [word, about] = program.args;
  if (word === "help" && about !== undefined) return unknownCommand(about, namesOf(program));
  const group = program.commands.find((command) => command.name() === word);
  if (!group) return new UsageError("no command given; see scanferry --help");
  return new UsageError(`${group.name()} needs a command: one of ${namesOf(group).join(", ")}`);
}

function unknownCommand(word: string, names: readonly string[]): UsageError {
  const meant = nearest(word, names);
  const fix = meant === undefined ? "see scanferry --help" : `did you mean ${meant}?`;
  return new UsageError(`unknown command '${word}'; ${fix}`);
}

function namesOf(group: Command): string[] {
  return group.commands.map((command) => command.name());
}

/** The process context of this process; `ending` aborts once its end need not wait for anyone who reads what it wrote. */
export function contextOfProcess(): ProcessContext & { readonly ending: AbortSignal } {
  const ending = new AbortController();
  let stopping: AbortSignal | undefined;
  return {
    env: process.env,
    get cwd() {
      return currentDirectory();
    },
    stdout: process.stdout,
    stderr: process.stderr,
    stdin: process.stdin,
    clock: systemClock,
    random: systemRandom,
    stopping: () => (stopping ??= stopSignal(ending)),
    unattended() {
      for (const stream of [process.stdout, process.stderr]) neverBlock(stream);
      ending.abort();
    },
    ending: ending.signal,
  };
}

function currentDirectory(): string {
  try {
    return process.cwd();
  } catch (error) {
    const why = codeOf(error) ?? "unknown error";
    throw new UsageError(`the current directory is gone (${why}); change to one that exists`);
  }
}

/** Aborts at the first SIGINT or SIGTERM; the second ends the process. */
function stopSignal(ending: AbortController): AbortSignal {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => {
      const why = new Stopping(`${signal} received`, signal);
      if (stop.signal.aborted) void giveUp(codeOfStop(why));
      stop.abort(why);
      ending.abort();
    });
  }
  return stop.signal;
}

/** What Node puts where a byte was no text. */
const LOST = "\ufffd";

/**
 * `args` with `\xHH` for bytes that are no text, as far as `commandLine` tells them: the bytes of
 * all arguments of the process, each ended by a NUL.
 */
export function rawArguments(
  args: readonly string[],
  commandLine: () => Buffer = ownCommandLine,
): string[] {
  if (!args.some((arg) => arg.includes(LOST))) return [...args];
  const given = splitAtNul(commandLine()).slice(-args.length);
  return args.map((arg, at) => {
    const bytes = given[at];
    return bytes?.toString() === arg ? exact(rawOf(bytes)) : arg;
  });
}

/** Empty where the system does not tell. */
function ownCommandLine(): Buffer {
  try {
    return readFileSync("/proc/self/cmdline");
  } catch {
    return Buffer.alloc(0);
  }
}

function splitAtNul(bytes: Buffer): Buffer[] {
  const parts: Buffer[] = [];
  let from = 0;
  for (let to = bytes.indexOf(0); to >= 0; to = bytes.indexOf(0, from)) {
    parts.push(bytes.subarray(from, to));
    from = to + 1;
  }
  return parts;
}
