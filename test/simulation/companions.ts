/** What stands next to a simulated document: its marker, and its sidecar. */
import type { Mirror } from "../../src/config/config.ts";
import type { Problem } from "../../src/domain/document.ts";
import type { SidecarRead } from "../../src/domain/attributes.ts";
import type { CompanionUse } from "../../src/source/companions.ts";
import type { FoundNotes } from "../../src/source/source.ts";
import type { RawPath } from "../../src/std/raw-path.ts";
import { POISON } from "./simulated-archive.ts";
import { digestOf, isMarked, type SimulatedFile, type SimulatedTree } from "./simulated-tree.ts";

const ENDING = "yaml";

/** The settings that it takes to read them. */
export type CompanionSettings = Pick<Mirror, "settleMs"> & {
  readonly rules: Pick<Mirror["rules"], "ready" | "sidecar">;
};

export function companionUseOf({ rules }: Pick<CompanionSettings, "rules">): CompanionUse {
  return { sidecars: rules.sidecar !== "none", markers: rules.ready.by === "marker" };
}

export function sidecarOf(path: RawPath): RawPath {
  return `${path}.${ENDING}` as RawPath;
}

/** True for a sidecar that cannot be read as one. */
export function isBroken({ content }: SimulatedFile): boolean {
  return content.startsWith(POISON);
}

/** What a reader finds next to a document; as `NotesReader` does. */
export function notesOf(
  tree: SimulatedTree,
  path: RawPath,
  { settleMs, rules: { ready, sidecar } }: CompanionSettings,
  now: number,
): FoundNotes {
  const waits = (code: string, message: string) => ({
    kind: "waits" as const,
    problem: { code, message } satisfies Problem,
  });
  if (ready.by === "rename" && !tree.at(path)?.renamed)
    return waits("NOT_RENAMED", "written in place");
  if (ready.by === "marker" && !isMarked(tree, path)) return waits("MARKER_MISSING", "no marker");
  const file = sidecar === "none" ? undefined : tree.at(sidecarOf(path));
  if (!file) {
    if (sidecar === "required") return waits("SIDECAR_MISSING", "no sidecar");
    return { kind: "notes", sidecar: null };
  }
  if (file.unreadable) return waits("FILE_UNREADABLE", "its sidecar: permission denied");
  const age = Math.abs(now - file.seen.modifiedAt);
  if (age < settleMs) return waits("SIDECAR_MISSING", "written just now");
  if (isBroken(file)) return waits("NOTES_BROKEN", "no keys and values");
  const sidecarRead = readOf(file);
  return { kind: "notes", sidecar: { metadata: { title: file.content } }, sidecarRead };
}

/** True when a document's sidecar is the one that was read for it. */
export function isRead(file: SimulatedFile | undefined, read: SidecarRead | null): boolean {
  const now = file && readOf(file);
  return now !== undefined && now.digest === read?.digest && now.modifiedAt === read.modifiedAt;
}

/** The sidecar that stands next to a document now. */
export function sidecarNow(tree: Pick<SimulatedTree, "at">, path: RawPath): SidecarRead | null {
  const file = tree.at(sidecarOf(path));
  return file ? readOf(file) : null;
}

function readOf({ content, seen }: SimulatedFile): SidecarRead {
  return { ending: ENDING, digest: digestOf(content), modifiedAt: seen.modifiedAt };
}
