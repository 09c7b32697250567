import type { Command } from "commander";
import type { HttpArchive } from "../../archive/http-archive.ts";
import { accountsOf, archivesOf, type Config } from "../../config/config.ts";
import { assertApart } from "../../daemon/source-places.ts";
import type { Journal, Registry, Reports } from "../../journal/journal.ts";
import { Fault } from "../../std/fault.ts";
import { EXIT } from "../exit.ts";
import {
  ACTION_STYLES,
  attributeLine,
  PlanJson,
  type PlanNotes,
  PlanText,
} from "../plan/plan-output.ts";
import type { Shell } from "../shell.ts";
import { accountOf, pageReportOf } from "../../report/page-report.ts";
import { Destinations, knownArchives } from "../../report/plan/destinations.ts";
import {
  type MirrorPlan,
  placeOf,
  type PlanLine,
  type PlanTotals,
} from "../../report/plan/plan-line.ts";
import { planMirrors } from "../../report/plan/plan-mirrors.ts";
import { readJournal } from "../../journal/open-journal.ts";
import { examples } from "../option-values.ts";
import { lookUpSettings, openClient } from "../../archive/archive-settings.ts";
import { failureOf } from "../../domain/failure.ts";
import { dirOf, nameOf, shown } from "../../std/raw-path.ts";
import { cut, cutMiddle, padded, widthOf, wrapped } from "../text-table.ts";
import { printable } from "../../std/printable.ts";
import type { Terminal } from "../terminal.ts";
import { clause, counted, sizeText } from "../../std/wording.ts";

/** `scanferry plan`: dry run. Sends nothing, writes nothing. */
export function addPlan(program: Command, shell: Shell): void {
  program
    .command("plan")
    .description(
      "show what would be sent, to which folder, and what would be held; send and write nothing",
    )
    .option("--json", "print one JSON object")
    .action(({ json }: { json?: boolean }) => plan(shell, json === true))
    .addHelpText("after", examples("scanferry plan", "scanferry plan --json | jq .totals"));
}

async function plan(shell: Shell, json: boolean): Promise<void> {
  const config = await shell.config();
  // What the daemon refuses to send is no plan.
  assertApart(config.mirrors);
  await using stack = new AsyncDisposableStack();
  const journal = await readJournal(config);
  stack.use(journal);
  const known = await knownArchives(config, journal);
  const destinations = new Map<string, Destinations>();
  for (const account of accountsOf(config)) {
    const archive = await openArchive(account, shell);
    if (!(archive instanceof Fault)) stack.use(archive);
    destinations.set(account.archive.name, new Destinations(archive));
  }
  const text = shell.out.isInteractive ? new PlanScreen(shell.out) : new PlanText(shell.out);
  const output = json ? new PlanJson(shell.out) : text;
  const totals = { send: 0, pages: 0, pagesUnknown: 0, bytes: 0, hold: 0, wait: 0, skip: 0 };
  const plans = await planMirrors({
    config,
    known,
    destinations,
    clock: shell.clock,
    random: shell.processContext.random,
    signal: shell.stopping(),
    begin: (mirror) => output.begin(mirror),
    emit: async (line) => {
      add(totals, line);
      await output.line(line);
    },
  });
  const stopped = journal === undefined ? null : await whyStopped(journal, config);
  const pagesLeft = await pagesLeftIn(journal, config, shell.clock.now());
  await output.end(plans, destinations, { totals, stopped, pagesLeft });
  const isOffline = plans.some(({ offline }) => offline !== null);
  shell.exitCode = isOffline ? EXIT.fault : totals.hold > 0 ? EXIT.unsettled : EXIT.done;
}

/** Without an archive to ask, the plan is still worth something. */
async function openArchive(config: Config, { clock }: Shell): Promise<HttpArchive | Fault> {
  try {
    return await openClient(lookUpSettings(config), clock);
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
}

function add(totals: PlanTotals, { action, pages, sizeBytes }: PlanLine): void {
  totals[action] += 1;
  if (action !== "send") return;
  totals.bytes += sizeBytes;
  if (pages === null) totals.pagesUnknown += 1;
  else totals.pages += pages;
}

/** Of this month's allowance; of several archives: of the one that has the fewest. */
async function pagesLeftIn(
  journal: (Registry & Reports) | undefined,
  config: Config,
  now: number,
): Promise<number | null> {
  if (!journal) return config.quota.pages.monthlyPages ?? null;
  const left: number[] = [];
  for (const { quota, mirrors } of accountsOf(config)) {
    const account = await accountOf(journal, quota.pages, mirrors);
    const { allowance } = await pageReportOf(journal, account, now);
    if (allowance) left.push(allowance.left);
  }
  return left.length === 0 ? null : Math.min(...left);
}

async function whyStopped(journal: Journal, config: Config): Promise<string | null> {
  if (await journal.paused()) return "sending is paused; run scanferry resume";
  const archives = archivesOf(config);
  const reasons: string[] = [];
  for (const { id, name } of await journal.archives()) {
    if (!archives.some((archive) => archive.name === name)) continue;
    const { closedAt, problem } = await journal.of(id).gate();
    if (closedAt === null) continue;
    const why = problem?.message ?? "the archive rejects the account";
    reasons.push(archives.length > 1 ? `to ${name}: ${why}` : why);
  }
  return reasons.length === 0 ? null : reasons.join("; ");
}

/** A plan as a person reads it on a terminal: by archive folder, no line longer than the screen is wide. */

const NOTE_COLUMNS = 24;

class PlanScreen extends PlanText {
  readonly #out: Terminal;
  /** Documents that would be held, or wait, by the reason. */
  readonly #reasons = new Map<string, number>();
  #folder: string | undefined;

  constructor(out: Terminal) {
    super(out);
    this.#out = out;
  }

  override async line(line: PlanLine): Promise<void> {
    const { width } = this.#out;
    const { action, path, pages, sizeBytes, problem, remark, sentName } = line;
    const place = placeOf(line);
    // A folder's documents come together; where they do not, it is named again.
    const folder = `${shown(dirOf(path))}\n${place}`;
    if (folder !== this.#folder) {
      await this.#out.line(`  → ${this.#out.paint("bold", cut(printable(place), width - 4))}`);
    }
    this.#folder = folder;
    if (problem) this.#reasons.set(problem.code, (this.#reasons.get(problem.code) ?? 0) + 1);
    const mark = this.#out.paint(ACTION_STYLES[action], action);
    const size = padded(sizeText(sizeBytes), 8, "right");
    const paper = padded(pages === null ? "? p" : `${pages} p`, 6, "right");
    const name = shown(nameOf(path));
    const notes = [problem?.code, sentName === name ? undefined : `as ${sentName}`, remark];
    const note = notes.filter((each) => each !== undefined && each !== null).join(", ");
    const shownNote = note === "" ? "" : `  ${cut(printable(note), NOTE_COLUMNS)}`;
    const start = `    ${mark}  ${paper}  ${size}  `;
    const room = width - widthOf(start) - widthOf(shownNote);
    await this.#out.line(`${start}${cutMiddle(name, room)}${this.#out.paint("dim", shownNote)}`);
    const goes = attributeLine(line);
    if (goes === "") return;
    await this.#out.line(this.#out.paint("dim", `          ${cut(printable(goes), width - 10)}`));
  }

  override async end(
    plans: readonly MirrorPlan[],
    asked: ReadonlyMap<string, Destinations>,
    notes: PlanNotes,
  ): Promise<void> {
    if (this.#reasons.size > 0) await this.#out.line();
    for (const [code, documents] of this.#reasons) {
      const text = `${counted(documents, "document")}: ${code}; ${clause(failureOf(code).hint)}`;
      for (const line of wrapped(text, this.#out.width)) {
        await this.#out.line(this.#out.paint("yellow", line));
      }
    }
    await super.end(plans, asked, notes);
  }
}
