/** The commands as a person has them: in a real terminal, of 80 columns and 24 lines, with real keys. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { aProcess } from "../fixtures/a-process.ts";
import { aTerminal } from "../fixtures/a-terminal.ts";
import { pdfOf } from "../fixtures/documents.ts";
import { until } from "../fixtures/until.ts";
import { aWorld, type World } from "../fixtures/world.ts";

// Every step is a process of its own.
vi.setConfig({ testTimeout: 120_000 });

/** True when there is anything that only a terminal understands. */
const steers = (text: string) => stripVTControlCharacters(text) !== text;

/** Thirty documents, each for a folder of its own that nobody has created. */
async function aTroubledWorld(): Promise<{ world: World; config: string }> {
  const world = await aWorld();
  const config = world.configFile();
  for (let n = 0; n < 30; n++) {
    world.write(
      `Folder with a long name ${n}/a scan with a long name, too ${n}.pdf`,
      pdfOf(1, { seed: n }),
    );
  }
  await using pass = aProcess(["--config", config, "sync"]);
  expect(await pass.ended).toBe(3);
  return { world, config };
}

const linesOf = (text: string) => text.trimEnd().split("\n");
const widest = (lines: readonly string[]) => Math.max(...lines.map(({ length }) => length));

describe("on a screen of 80 columns and 24 lines", () => {
  test("status fits, with what matters first, and says what it left out", async () => {
    const { world, config } = await aTroubledWorld();
    await using _ = world;
    await using status = aTerminal(["--config", config, "status"]);
    expect(await status.ended).toBe(0);
    const lines = linesOf(status.text());
    expect(lines[0]).toBe("30 folders to create in the archive");
    expect(lines.length).toBeLessThan(24);
    expect(widest(lines)).toBeLessThanOrEqual(80);
    expect(lines.join("\n")).toMatch(/… \d+ more; scanferry status --all/);
    await using all = aTerminal(["--config", config, "status", "--all"]);
    await all.ended;
    expect(linesOf(all.text()).filter((line) => line.includes("/Scans/Folder"))).toHaveLength(31);
  });

  test.for(["list", "plan"])("no line of %s is longer than the screen is wide", async (command) => {
    const { world, config } = await aTroubledWorld();
    await using _ = world;
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
    await watch.says(/Waiting for the first scan/);
    await using pass = aProcess(["--config", config, "sync"]);
    await watch.says(/All documents are|The one document is in the archive/);
    expect(await pass.ended).toBe(0);
    await using pause = aProcess(["--config", config, "pause"]);
    await pause.ended;
    await until("the pause on the screen", () => watch.frame()[0] === "Sending is paused");
    expect(watch.frame().length).toBeLessThanOrEqual(24);
    expect(watch.frame().at(-1)).toBe("q quits");
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
    await watch.says(/Waiting for the first scan\n/);
    await using pause = aProcess(["--config", config, "pause"]);
    await pause.ended;
    await watch.says(/Sending is paused\n/);
    expect(await watch.end("SIGINT")).toBe(0);
    expect(linesOf(watch.output.stdout)).toEqual([
      "Waiting for the first scan",
      "Sending is paused",
    ]);
  });
});

describe("progress", () => {
  test("is a bar with rate and remaining time on a terminal, and leaves nothing behind", async () => {
    await using world = await aWorld({ convertDelayMs: 1_500 });
    const config = world.configFile();
    for (let n = 0; n < 30; n++) world.write(`${n}.pdf`, pdfOf(1, { seed: n }));
    await using pass = aTerminal(["--config", config, "sync"]);
    expect(await pass.ended).toBe(0);
    expect(pass.text()).toMatch(/█+░+ {2}\d+ of 30 {2}\d+ \w+ left {2}[\d.]+\/s/);
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
  const script = (shell: string) => {
    const dir = mkdtempSync(join(tmpdir(), "scanferry-completion-"));
    onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
    const main = new URL("../../src/main.ts", import.meta.url).pathname;
    const text = execFileSync(process.execPath, [main, "completion", shell], { encoding: "utf8" });
    writeFileSync(join(dir, "completion"), text);
    mkdirSync(join(dir, "a dir"));
    writeFileSync(join(dir, "office.yaml"), "");
    return dir;
  };

  /** Types a line into an interactive bash, presses Tab, and reads what it has become. */
  async function completed(dir: string, typed: string): Promise<string> {
    const shell = spawn("script", ["-qefc", "exec bash --norc --noprofile -i", "/dev/null"], {
      env: { ...process.env, TERM: "dumb", PS1: "$ ", SHELL: "/bin/bash" },
      cwd: dir,
    });
    let output = "";
    shell.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      output += chunk;
    });
    // The line is echoed back by a command, since bash draws over what it completes.
    shell.stdin.write("bind 'set bell-style none'; scanferry() { printf '<%s>\\n' \"$*\"; }\n");
    shell.stdin.write(`source completion\nscanferry ${typed}\t\n`);
    await until("the line", () => /^<.*>/m.test(output.replaceAll("\r", "")));
    shell.stdin.write("exit\n");
    await once(shell, "close");
    return /^<(.*)>/m.exec(output.replaceAll("\r", ""))?.[1] ?? "";
  }

  test.for([
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
  ] as const)("bash: %s becomes %s: %s", async ([typed, expected]) => {
    expect(await completed(script("bash"), typed)).toBe(expected);
  });

  test("zsh and fish get each command, too", () => {
    for (const shell of ["zsh", "fish"]) {
      const text = execFileSync("cat", [join(script(shell), "completion")], { encoding: "utf8" });
      for (const word of ["verify", "receipt", "archive documents", "held"])
        expect(text).toContain(word);
    }
  });

  test("an unknown shell is refused in one line", async () => {
    await using wrong = aProcess(["completion", "csh"]);
    expect(await wrong.ended).toBe(2);
    expect(wrong.output.stderr).toMatch(/bash, zsh, fish/);
  });
});
