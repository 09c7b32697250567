/** A simulated `before` hook: what it says of a content is always the same, unless it fails. */
import { nameOf, type RawPath } from "../../src/std/raw-path.ts";
import { digestOf } from "./simulated-tree.ts";

/** How long it may take, milliseconds. */
export const HOOK_MS = [0, 20, 1_000, 20_000] as const;

/** What the hook of one source has been asked, and how it is doing. */
export type SimulatedHook = {
  /** How often it fails. */
  failing: number;
  readonly asked: Set<string>;
  /** Digests of contents that it failed for. */
  readonly failed: Set<string>;
};

export function aSimulatedHook(): SimulatedHook {
  return { failing: 0, asked: new Set(), failed: new Set() };
}

/** True for contents that the hook does not have sent. */
export function isVetoed(content: string): boolean {
  return verdictOf(digestOf(content)) === "veto";
}

/** Under which names a file may be sent where there is a hook. */
export function namesBy(path: RawPath, content: string): string[] {
  const name = nameOf(path);
  return verdictOf(digestOf(content)) === "name" ? [name, named(name)] : [name];
}

/** What a file is called here that was sent under this name. */
export function nameHere(filename: string): string {
  return filename.replace(/^named-/, "");
}

/** What the hook writes of a file; `input`: what it was asked. */
export function answerTo(input: string): { readonly digest: string; readonly answer: string } {
  const { path, sha256 } = JSON.parse(input) as { path: string; sha256: string };
  const verdict = verdictOf(sha256);
  const name = named(nameOf(path as RawPath));
  const answer =
    verdict === "veto" ? { veto: "not to be sent" } : verdict === "name" ? { name } : {};
  return { digest: sha256, answer: JSON.stringify(answer) };
}

function verdictOf(digest: string): "veto" | "name" | "send" {
  const number = Number(/(\d+)/.exec(digest)?.[1] ?? 0);
  return number % 6 === 0 ? "veto" : number % 6 === 1 ? "name" : "send";
}

function named(name: string): string {
  return `named-${name}`;
}
