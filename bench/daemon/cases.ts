import type { Case } from "./bench.ts";
import { job } from "./job.ts";
import { status } from "./status.ts";
import { survey } from "./survey.ts";

/** In this order: `status` goes on with the trees that `survey` has journaled. */
export const CASES: readonly Case[] = [job, survey, status];
