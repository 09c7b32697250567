/**
 * The commands. To load all of them takes longer than most take to run, so each is loaded when it is
 * the one that was typed.
 */
import type { Command } from "commander";
import type { Shell } from "./shell.ts";

/** Adds a command to the program. */
export type AddCommand = (program: Command, shell: Shell) => void;

type Load = () => Promise<AddCommand>;

/** The heading of `help` itself. */
export const HELP_GROUP = "Troubleshooting:";

/** By heading, then by what is typed, in the order in which help shows them. */
const GROUPS: Readonly<Record<string, Readonly<Record<string, Load>>>> = {
  "Daily use:": {
    run: async () => (await import("./commands/run.ts")).addRun,
    sync: async () => (await import("./commands/sync.ts")).addSync,
    status: async () => (await import("./commands/status.ts")).addStatus,
    list: async () => (await import("./commands/list.ts")).addList,
    plan: async () => (await import("./commands/plan.ts")).addPlan,
    pause: async () => (await import("./commands/pause.ts")).addPause,
    receipt: async () => (await import("./commands/receipt.ts")).addReceipt,
  },
  "Set-up:": {
    init: async () => (await import("./commands/init.ts")).addInit,
    check: async () => (await import("./commands/check.ts")).addCheck,
    rules: async () => (await import("./commands/rules.ts")).addRules,
    notify: async () => (await import("./commands/notify.ts")).addNotify,
    adopt: async () => (await import("./commands/adopt.ts")).addAdopt,
    systemd: async () => (await import("./commands/systemd.ts")).addSystemd,
    completion: async () => (await import("./commands/completion.ts")).addCompletion,
  },
  [HELP_GROUP]: {
    explain: async () => (await import("./commands/explain.ts")).addExplain,
    retry: async () => (await import("./commands/retry.ts")).addRetry,
    verify: async () => (await import("./commands/verify.ts")).addVerify,
    backup: async () => (await import("./commands/backup.ts")).addBackup,
    journal: async () => (await import("./commands/journal.ts")).addJournal,
  },
  "Archive:": {
    archive: async () => (await import("./commands/archive.ts")).addArchive,
  },
  "Trial:": {
    demo: async () => (await import("./commands/demo.ts")).addDemo,
    "serve-archive": async () => (await import("./commands/serve-archive.ts")).addServeArchive,
    "archive-admin": async () => (await import("./commands/archive-admin.ts")).addArchiveAdmin,
  },
};

const COMMANDS: Readonly<Record<string, Load>> = Object.fromEntries(
  Object.entries(GROUPS).flatMap(([heading, group]) =>
    Object.entries(group).map(([name, load]) => [name, under(heading, load)]),
  ),
);

/** Added together with another. */
const ADDED_WITH: Readonly<Record<string, string>> = { resume: "pause", restore: "backup" };

/** Describes all the others. */
const COMPLETION = "completion";

/** All of them. */
export function allCommands(): Promise<AddCommand[]> {
  return Promise.all(Object.values(COMMANDS).map((load) => load()));
}

/** Those that the command line `args` is about: the one it names, else all. */
export async function commandsFor(args: readonly string[]): Promise<AddCommand[]> {
  const word = firstWord(args);
  if (word === undefined && args.some(asksVersion)) return [];
  const load = word === undefined || word === COMPLETION ? undefined : loaderOf(word);
  return load === undefined ? allCommands() : [await load()];
}

/** The command with its heading. */
function under(heading: string, load: Load): Load {
  return async () => {
    const add = await load();
    return (program, shell) => add(program.commandsGroup(heading), shell);
  };
}

function loaderOf(word: string): Load | undefined {
  const name = Object.hasOwn(ADDED_WITH, word) ? (ADDED_WITH[word] ?? word) : word;
  return Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
}

function asksVersion(arg: string): boolean {
  return arg === "--version" || arg === "-V";
}

/** What is neither an option of the program nor such an option's value. */
function firstWord(args: readonly string[]): string | undefined {
  return args.find((arg, at) => !arg.startsWith("-") && args[at - 1] !== "--config");
}
