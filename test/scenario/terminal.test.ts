/** The commands as a person has them: in a real terminal, of 80 columns and 24 lines, with real keys. */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { aProcess, BUILT } from "../fixtures/a-process.ts";
import { failureOf } from "../../src/domain/failure.ts";
import { aTerminal } from "../fixtures/a-terminal.ts";
import { pdfOf } from "../fixtures/documents.ts";
import { until } from "../fixtures/until.ts";
import { aWorld, type World } from "../fixtures/world.ts";
import { scanferry } from "../unit/cli/in-process.ts";

// Every step is a process of its own.
vi.setConfig({ testTimeout: 180_000 });

/** True when there is anything that only a terminal understands. */
const steers = (text: string) => stripVTControlCharacters(text) !== text;

const linesOf = (text: string) => text.trimEnd().split("\n");
const widest = (lines: readonly string[]) => Math.max(...lines.map(({ length }) => length));

describe("thirty documents, each for a folder of its own that nobody has created", () => {
  let world: World;
  let config = "";
  beforeAll(async () => {
    world = await aWorld();
    config = world.configFile();
    for (let n = 0; n < 30; n++) {
      world.write(
        `Folder with a long name ${n}/a scan with a long name, too ${n}.pdf`,
        pdfOf(1, { seed: n }),
      );
    }
    expect((await scanferry(["--config", config, "sync"])).code).toBe(3);
  });
  afterAll(() => world[Symbol.asyncDispose]());

  test("on a screen of 40 columns and 12 lines what matters first still stands", async () => {
    const size: [number, number] = [12, 40];
    await using status = aTerminal(["--config", config, "status"], { size });
    expect(await status.ended).toBe(0);
    const lines = linesOf(status.text());
    expect(lines[0]).toBe("scanferry is not running");
    const text = lines.join(" ").replaceAll(/\s+/g, " ");
    expect(text, "advice is never cut").toContain(failureOf("FOLDER_MISSING").hint);
    expect(widest(lines)).toBeLessThanOrEqual(40);

    await using watched = aTerminal(["--config", config, "status", "--watch"], { size });
    const frame = await until(
      "a whole screen",
      () => watched.frame().length > 0 && watched.frame(),
    );
    expect(frame[0]).toBe("scanferry is not running");
    expect(frame.at(-1)).toBe("q quits");
    expect(frame.length).toBeLessThanOrEqual(12);
    watched.type("q");
    await watched.ended;

    await using list = aTerminal(["--config", config, "list"], { size });
    expect(await list.ended).toBe(0);
    const [, heading, ...rows] = linesOf(list.text());
    expect(heading).toMatch(/^state {6}file$/);
    expect(rows[0]).toMatch(/^held +Folder.*\d\.pdf/);
    expect(widest(rows.slice(0, 30))).toBeLessThanOrEqual(40);
  });

  test("status fits 80 columns and 24 lines, what matters first, and says what it left out", async () => {
    await using status = aTerminal(["--config", config, "status"]);
    expect(await status.ended).toBe(0);
    const lines = linesOf(status.text());
    expect(lines[0]).toBe("scanferry is not running");
    expect(lines.length).toBeLessThan(24);
    expect(widest(lines)).toBeLessThanOrEqual(80);
    expect(lines.join("\n")).toMatch(/… \d+ more; scanferry status --all/);
    await using all = aTerminal(["--config", config, "status", "--all"]);
    await all.ended;
    expect(linesOf(all.text()).filter((line) => line.includes("/Scans/Folder"))).toHaveLength(36);
  });

  test.for(["list", "plan"])("no line of %s is longer than 80 columns", async (command) => {
    await using shown = aTerminal(["--config", config, command]);
    await shown.ended;
    const lines = linesOf(shown.text());
    expect(lines.length).toBeGreaterThan(30);
    expect(widest(lines)).toBeLessThanOrEqual(80);
    expect(lines.filter((line) => line.includes("FOLDER_MISSING")).length).toBeGreaterThanOrEqual(
      30,
    );
  });
});

describe("status --watch", () => {
  test.for([
    ["q", "q"],
    ["\u0003", "Ctrl-C"],
  ])("is drawn in place, follows the journal, and ends with %j (%s)", async ([key]) => {
    await using world = await aWorld();
    const config = world.configFile();
    world.write("a.pdf", pdfOf(1));
    await using watch = aTerminal(["--config", config, "status", "--watch"]);
    await watch.says(/No documents/);
    await using pass = aProcess(["--config", config, "sync"]);
    await watch.says(/The only document (?:that scanferry has seen )?is in the archive/);
    expect(await pass.ended).toBe(0);
    await using pause = aProcess(["--config", config, "pause"]);
    await pause.ended;
    const frame = await until("the pause on the screen", () => {
      const drawn = watch.frame();
      return drawn[0] === "Sending is paused" && drawn;
    });
    expect(frame.length).toBeLessThanOrEqual(24);
    expect(frame.at(-1)).toBe("q quits");
    watch.type(key ?? "");
    expect(await watch.ended).toBe(0);
    // The alternate screen is left, the cursor is back, and what was seen last stays.
    const [before = "", after = ""] = watch.raw().split("\u001b[?1049l");
    expect(before).toContain("\u001b[?1049h");
    expect(before).toContain("\u001b[?25h");
    expect(stripVTControlCharacters(after)).toMatch(/^Sending is paused/);
  });

  test("without a terminal each piece of news is a line, told once", async () => {
    await using world = await aWorld();
    const config = world.configFile();
    await using watch = aProcess(["--config", config, "status", "--watch"]);
    await watch.says(/No documents\n/);
    await using pause = aProcess(["--config", config, "pause"]);
    await pause.ended;
    await watch.says(/Sending is paused\n/);
    expect(await watch.end("SIGINT")).toBe(0);
    expect(linesOf(watch.output.stdout)).toEqual(["No documents", "Sending is paused"]);
  });
});

describe("progress", () => {
  test("is a bar with rate and remaining time on a terminal, and leaves nothing behind", async () => {
    // Half of them take their time: it cannot be over before the bar with its rate was seen.
    await using world = await aWorld({ faults: [{ do: "convert", afterMs: 4_000, times: 15 }] });
    const config = world.configFile();
    for (let n = 0; n < 30; n++) world.write(`${n}.pdf`, pdfOf(1, { seed: n }));
    await using pass = aTerminal(["--config", config, "sync"]);
    await pass.says(/█+░+ {2}\d+ of 30 {2}\d+ \w+ left {2}[\d.]+\/s/);
    expect(await pass.ended).toBe(0);
    // What is left on the screen is what stands behind the last time the line was cleared.
    const left = stripVTControlCharacters(pass.raw().split("\u001b[2K").at(-1) ?? "");
    expect(left.trim()).toBe("sent 30, converted 30, held 0, failed 0");
  });

  test("is plain lines elsewhere, without anything that steers a terminal", async () => {
    await using world = await aWorld();
    const config = world.configFile();
    for (let n = 0; n < 150; n++) world.write(`${n}.txt`, `scan ${n}`);
    await using pass = aProcess(["--config", config, "sync"]);
    expect(await pass.ended).toBe(0);
    expect(steers(pass.output.stdout)).toBe(false);
    expect(pass.output.stdout).not.toContain("\r");
    expect(linesOf(pass.output.stdout).length).toBeLessThan(230);
  });
});

test.for([
  ["a terminal", true, {}, true],
  ["NO_COLOR in a terminal", true, { NO_COLOR: "1" }, false],
  ["a pipe", false, {}, false],
  ["FORCE_COLOR in a pipe", false, { FORCE_COLOR: "1" }, true],
] as const)("colours: %s", async ([, isTerminal, env, expected]) => {
  await using world = await aWorld();
  const words = ["--config", world.configFile(), "status"];
  await using shown = isTerminal ? aTerminal(words, { env }) : undefined;
  await using piped = aProcess(words, { NO_COLOR: "", ...env });
  await shown?.ended;
  await piped.ended;
  expect(steers(shown?.raw() ?? piped.output.stdout)).toBe(expected);
});

describe("completion", () => {
  /** How each shell is started, and what it reads first: a function that tells what a line has become. */
  const SHELLS = {
    bash: {
      start: "exec bash --noprofile --rcfile setup -i",
      setup: "scanferry() { printf '<%s>' \"$*\" >line; }\nsource ./completion\n",
    },
    zsh: {
      start: "exec zsh --no-globalrcs -i",
      setup: [
        // The slash goes, otherwise, once Enter follows it.
        "setopt no_auto_remove_slash",
        "autoload -U compinit && compinit -u -D",
        "scanferry() { printf '<%s>' \"$*\" >line }",
        "source ./completion\n",
      ].join("\n"),
    },
    "zsh, from $fpath": {
      start: "exec zsh --no-globalrcs -i",
      setup: [
        "fpath=($PWD/functions $fpath)",
        // The slash goes, otherwise, once Enter follows it.
        "setopt no_auto_remove_slash",
        "autoload -U compinit && compinit -u -D",
        "scanferry() { printf '<%s>' \"$*\" >line }\n",
      ].join("\n"),
    },
    fish: {
      start: "exec fish --no-config --private --init-command 'source setup'",
      setup: "function scanferry; printf '<%s>' \"$argv\" >line; end\nsource ./completion\n",
    },
  } as const;
  type Shell = keyof typeof SHELLS;
  const shells = Object.keys(SHELLS) as Shell[];
  const programOf = (shell: Shell) => shell.split(",")[0] ?? shell;

  /** Where CI says so a missing shell is a failure. */
  const isMissing = (shell: Shell) =>
    !process.env["CI"] && spawnSync(programOf(shell), ["--version"]).error !== undefined;

  /** A place for one shell: its completion, what it reads first, a file and a directory. */
  function aPlace(shell: Shell): string {
    const dir = mkdtempSync(join(tmpdir(), "scanferry-completion-"));
    const words = [BUILT, "completion", programOf(shell)];
    const text = execFileSync(process.execPath, words, { encoding: "utf8" });
    mkdirSync(join(dir, "functions"));
    writeFileSync(join(dir, "completion"), text);
    writeFileSync(join(dir, "functions/_scanferry"), text);
    writeFileSync(join(dir, "setup"), SHELLS[shell].setup);
    writeFileSync(join(dir, ".zshrc"), SHELLS[shell].setup);
    mkdirSync(join(dir, "a dir"));
    writeFileSync(join(dir, "office.yaml"), "");
    return dir;
  }

  /** An interactive shell; `completed` types a line, presses Tab and Enter, and tells what it has become. */
  function aShell(shell: Shell) {
    const dir = aPlace(shell);
    const child = spawn("script", ["-qefc", SHELLS[shell].start, "/dev/null"], {
      env: {
        ...process.env,
        TERM: "xterm",
        HOME: dir,
        TMPDIR: dir,
        ZDOTDIR: dir,
        SHELL: "/bin/sh",
      },
      cwd: dir,
    });
    child.stdout.resume();
    const ended = once(child, "close");
    const line = () => {
      const told = join(dir, "line");
      return existsSync(told) ? /^<(.*)>$/s.exec(readFileSync(told, "utf8"))?.[1] : undefined;
    };
    return {
      async completed(typed: string): Promise<string> {
        rmSync(join(dir, "line"), { force: true });
        child.stdin.write(`scanferry ${typed}\t\r`);
        await until("the line", () => line() !== undefined);
        return line() ?? "";
      },
      async end() {
        child.stdin.write("exit\r");
        await ended;
        rmSync(dir, { recursive: true, force: true });
      },
    };
  }

  describe.for(shells)("%s", (shell) => {
    let shown: ReturnType<typeof aShell> | undefined;
    beforeAll(() => {
      if (!isMissing(shell)) shown = aShell(shell);
    });
    afterAll(() => shown?.end());

    test.skipIf(isMissing(shell)).for([
      ["veri", "verify", "a command"],
      ["archive docum", "archive document", "as far as two commands agree"],
      ["archive-ad", "archive-admin", "not archive"],
      ["list --state hel", "list --state held", "the values that an option may have"],
      ["list --sta", "list --state", "an option"],
      ["--config off", "--config office.yaml", "a file"],
      ["--config office.yaml stat", "--config office.yaml status", "the value is no command"],
      ["demo --data a", "demo --data a dir/", "a directory with a blank in its name"],
      ["completion fi", "completion fish", "what an argument may be"],
      ["list --mirror off", "list --mirror off", "a file is no mirror"],
      ["explain off", "explain office.yaml", "a file as an argument"],
    ] as const)("%s becomes %s: %s", async ([typed, expected]) => {
      expect(await shown?.completed(typed)).toBe(expected);
    });
  });

  test("an unknown shell is refused in one line", async () => {
    await using wrong = aProcess(["completion", "csh"]);
    expect(await wrong.ended).toBe(2);
    expect(wrong.output.stderr).toMatch(/bash, zsh, fish/);
  });
});
