/** Can directories be watched at all, and are there watches enough for those that are known? */
import { readFileSync, watch } from "node:fs";
import { tmpdir } from "node:os";
import { codeOf } from "../std/fault.ts";
import { numberText } from "../std/wording.ts";
import { type CheckResult, ok, warn } from "./check-result.ts";

/** Others on the host watch directories too: beyond this share of the limit it gets tight. */
const WATCHES_SHARE = 0.8;

const LIMITS = "/proc/sys/fs/inotify";

/** `directories`: those of natively watched mirrors, as far as they were scanned. */
export function* examineWatching(directories: number): Generator<CheckResult> {
  const refusal = whyNoWatch();
  if (refusal !== undefined) {
    const instances = limitOf("max_user_instances");
    const said = instances === undefined ? "" : `; ${instances} instances are allowed`;
    const fix =
      "Raise fs.inotify.max_user_instances and max_user_watches; until then, scanferry only rescans.";
    yield warn(`cannot watch any folder (${refusal}${said})`, fix);
    return;
  }
  const max = limitOf("max_user_watches");
  if (max === undefined || directories === 0) return;
  const known = `${numberText(directories)} ${directories === 1 ? "directory" : "directories"}`;
  const what = `${known} to watch, ${numberText(max)} watches allowed`;
  if (directories < max * WATCHES_SHARE) yield ok(what);
  else yield warn(what, `Raise fs.inotify.max_user_watches, e.g. to ${directories * 4}.`);
}

/** Tried on a directory that is certainly there; undefined when it can be watched. */
function whyNoWatch(): string | undefined {
  try {
    watch(tmpdir()).close();
    return undefined;
  } catch (error) {
    const code = codeOf(error);
    return code === "EMFILE" || code === "ENOSPC" ? code : undefined;
  }
}

function limitOf(name: string): number | undefined {
  try {
    const limit = Number(readFileSync(`${LIMITS}/${name}`, "utf8"));
    return Number.isSafeInteger(limit) ? limit : undefined;
  } catch {
    // Not Linux, or not mounted: there is no such limit to report.
    return undefined;
  }
}
