import type { Case } from "./bench.ts";
import { drop } from "./drop.ts";
import { follow } from "./follow.ts";
import { job } from "./job.ts";
import { latency } from "./latency.ts";
import { rescan } from "./rescan.ts";
import { single } from "./single.ts";
import { start } from "./start.ts";
import { status } from "./status.ts";
import { syncthing } from "./syncthing.ts";
import { scanScheduler } from "./scan-scheduler.ts";
import { webdav } from "./webdav.ts";

/** In this order: `start`, `rescan` and `status` go on with the trees that `scanScheduler` has journaled. */
export const CASES: readonly Case[] = [
  job,
  webdav,
  syncthing,
  single,
  drop,
  latency,
  follow,
  scanScheduler,
  start,
  rescan,
  status,
];
