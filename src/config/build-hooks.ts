import { resolve } from "node:path";
import type { FileShape } from "./file-schema.ts";
import type { Hook, Hooks } from "./hooks.ts";

type HookShape = FileShape["mirrors"][number]["hooks"]["after"];

/** The hooks of a mirror in which nothing was found wrong, if any; `folder`: the configuration file's. */
export function hooksOf(
  { before, after }: FileShape["mirrors"][number]["hooks"],
  folder: string,
): Hooks | undefined {
  const asked = hookOf(before, folder);
  const told = hookOf(after, folder);
  if (!asked && !told) return undefined;
  const { onFailure, afterVeto } = before;
  const vetoed =
    afterVeto.kind === "move"
      ? ({ kind: "move", to: resolve(folder, afterVeto.to) } as const)
      : afterVeto;
  return {
    ...(asked ? { before: { ...asked, onFailure, afterVeto: vetoed } } : {}),
    ...(told ? { after: told } : {}),
  };
}

function hookOf({ command, timeout, concurrency }: HookShape, folder: string): Hook | undefined {
  const [program, ...rest] = command ?? [];
  if (program === undefined) return undefined;
  const path = program.includes("/") ? resolve(folder, program) : program;
  return { command: [path, ...rest], timeoutMs: timeout, concurrency };
}
