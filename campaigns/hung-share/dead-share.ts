/** A share whose server dies, that is unmounted, replaced by an empty one, and comes back. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { rowsOf } from "../../test/fixtures/auditor.ts";
import { until } from "../../test/fixtures/until.ts";
import type { CampaignRun, Figures } from "../campaign.ts";
import type { Twin } from "./twin.ts";

/** Longer than both the look at the source and the polling scan are apart. */
const LOOKED_MS = 11_000;

/** Takes the share away in every way there is; nothing of it may be taken for removed. */
export async function killShare(twin: Twin, run: CampaignRun): Promise<Figures> {
  const { share } = twin;
  await until("the twin to be done", async () => (await openRows(twin)) === 0, 180_000);
  const before = (await rowsOf(twin.world.journal)).length;
  const stages: [string, () => Promise<void> | void][] = [
    ["ENOTCONN", () => share.die()],
    ["the bare mount point", () => share.unmount()],
    ["an empty share in its place", () => share.mount(emptyFolder(twin))],
    ["that one's death", () => share.die()],
  ];
  for (const [what, step] of stages) {
    await step();
    await delay(LOOKED_MS);
    run.say(`share: ${what}`);
    const rows = await rowsOf(twin.world.journal);
    const gone = rows.filter(({ goneAt, current }) => goneAt !== null || !current);
    if (rows.length !== before || gone.length > 0)
      run.broken(`${what}: ${before - rows.length} rows forgotten, ${gone.length} taken for gone`);
  }
  const said = twin.daemon.output.stdout.match(/source offline/g)?.length ?? 0;
  if (said === 0) run.broken("nobody was told that the source is offline");
  share.unmount();
  await share.mount();
  twin.burst();
  await until("what came after", () => twin.carried >= twin.shared, 60_000);
  return { "ways a share went away": stages.length, "lines `source offline`": said };
}

function emptyFolder(twin: Twin): string {
  const folder = join(twin.world.dir, "empty");
  mkdirSync(folder, { recursive: true });
  return folder;
}

async function openRows(twin: Twin): Promise<number> {
  const rows = await rowsOf(twin.world.journal);
  return rows.filter(({ state }) => state !== "converted").length + twin.written - rows.length;
}
