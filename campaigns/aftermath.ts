/** What every campaign looks for when the dust has settled, next to what the auditor finds. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { aProcess } from "../test/fixtures/a-process.ts";
import { audit, type AuditOptions, doubledIn, rowsOf } from "../test/fixtures/auditor.ts";
import { isInPostgres, readJournal } from "../test/fixtures/read-journal.ts";
import { SECRET, type World } from "../test/fixtures/world.ts";
import type { LateStores } from "./late-stores.ts";
import type { ScanDropper } from "./scan-dropper.ts";

/** How a pass ends that left something held. */
const HELD = 3;

/**
 * Lets the daemon come to rest, undisturbed, and tells every promise that was broken; what is only
 * the fault of an archive that stored too late is left out, and `late` knows of it.
 */
export async function restAndAudit(
  world: World,
  dropper: ScanDropper,
  late: LateStores,
  options: AuditOptions = {},
): Promise<string[]> {
  dropper.finish();
  const said = await rest(world);
  const { code, stdout, stderr } = said;
  const problems =
    code === 0
      ? []
      : [`the pass that followed ended with ${code}: ${stderr}${stdout.slice(-1_000)}`];
  await world.archive.idle();
  await late.measure(world);
  return [
    ...problems,
    ...(await audited(world, dropper, late, options)),
    ...dropper.touched(),
    ...secretsSaid(said),
    ...secretsWritten(world),
  ];
}

type Pass = {
  readonly code: number | NodeJS.Signals;
  readonly stdout: string;
  readonly stderr: string;
};

/**
 * A pass to the end. What is held because an archive with too much to do had not told its size in
 * time is looked for once more when all is converted; so is a file at which two readers in a row were killed.
 */
async function rest(world: World): Promise<Pass> {
  const first = await pass(world, "sync");
  if (first.code !== HELD) return first;
  await world.archive.idle();
  let asked = "";
  for (const code of ["DOUBT_AMBIGUOUS", "FILE_UNREADABLE"])
    asked += (await pass(world, "retry", "--error", code)).stdout;
  const second = await pass(world, "sync");
  const [stdout, stderr] = [asked + second.stdout, first.stderr + second.stderr];
  return { code: second.code, stdout: first.stdout + stdout, stderr };
}

async function pass(world: World, ...words: string[]): Promise<Pass> {
  const config = join(world.dir, "scanferry.yaml");
  await using running = aProcess(["--config", config, ...words]);
  const code = await running.ended;
  return { code, ...running.output };
}

async function audited(
  world: World,
  dropper: ScanDropper,
  late: LateStores,
  more: AuditOptions,
): Promise<string[]> {
  const { formerly } = dropper;
  const options = { ...more, formerly, overwritten: formerly };
  const doubled = new Map(doubledIn(world, options).map((one) => [one.line, one]));
  return (await audit(world, options)).flatMap((problem) => {
    const twice = doubled.get(problem);
    if (twice ? late.explains(twice) : late.isAbout(problem)) return [];
    if (!twice) return [problem];
    const tale = dropper.told(twice.documents[0]?.sha256 ?? "").map((line) => `\n    ${line}`);
    return [problem + tale.join("") + late.tell(twice.documents)];
  });
}

/** The secret, in what processes said. */
export function secretsSaid(...said: readonly { stdout: string; stderr: string }[]): string[] {
  const spoken = said.some(({ stdout, stderr }) => (stdout + stderr).includes(SECRET));
  return spoken ? ["the secret was printed"] : [];
}

/** The secret, in a journal's file or whatever lies next to it. */
export function secretsWritten({ journal }: World): string[] {
  if (isInPostgres(journal)) return [];
  const state = dirname(journal);
  return readdirSync(state, { withFileTypes: true })
    .flatMap((entry) => (entry.isFile() ? [entry.name] : []))
    .filter((name) => readFileSync(join(state, name)).includes(SECRET))
    .map((name) => `the secret stands in ${name}`);
}

/** How often a lost reply's document was found in the archive, and how often it was not there. */
export async function doubtsOf(journal: string): Promise<{ found: number; absent: number }> {
  const rows = await rowsOf(journal);
  await using reader = await readJournal(journal);
  const doubts = { found: 0, absent: 0 };
  for (const { id } of rows) {
    for (const { event } of await reader.history(id)) {
      if (event === "found") doubts.found += 1;
      if (event === "absent") doubts.absent += 1;
    }
  }
  return doubts;
}
