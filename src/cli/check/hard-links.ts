/** May any local user give another's file a name in a source? Then it is archived with the rights of the daemon. */
import { readFileSync } from "node:fs";
import { type CheckResult, warn } from "./check-result.ts";

const PROTECTED = "/proc/sys/fs/protected_hardlinks";

/** `setting`: the kernel's file (proc(5), since Linux 3.6); another for tests. */
export function* examineHardLinks(setting = PROTECTED): Generator<CheckResult> {
  let value: string;
  try {
    value = readFileSync(setting, "utf8").trim();
  } catch {
    // No such setting on this system.
    return;
  }
  if (value !== "0") return;
  yield warn(
    "fs.protected_hardlinks is 0: a local user can link another user's file into a source, and scanferry archives it",
    "Set it to 1, the usual value: sysctl -w fs.protected_hardlinks=1, and in /etc/sysctl.d.",
  );
}
