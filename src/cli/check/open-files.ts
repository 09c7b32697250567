import {
  fewText,
  OPEN_FILES_HINT,
  OPEN_FILES_MIN,
  OPEN_FILES_USUAL,
} from "../../std/open-files.ts";
import { fail, type CheckResult, ok, warn } from "./check-result.ts";

/** May enough files be open at once? Of this process: a daemon started elsewhere may have another limit. */
export function* examineOpenFiles(max: number | undefined): Generator<CheckResult> {
  if (max === undefined) return;
  if (max < OPEN_FILES_MIN) yield fail(fewText(max), OPEN_FILES_HINT);
  else if (max < OPEN_FILES_USUAL) yield warn(fewText(max), OPEN_FILES_HINT);
  else yield ok(`the limit of open files is ${max}`);
}
