/** Simulated hooks: what a `before` hook says of a content is always the same, unless it fails. */
import { nameOf, type RawPath } from "../../src/std/raw-path.ts";
import { contentOf, digestOf } from "./simulated-tree.ts";

/** How long it may take, milliseconds. */
export const HOOK_MS = [0, 20, 1_000, 20_000] as const;

/** How it may fail. */
export const HUNG = "it took too long, and was killed";
export const HOOK_FAILURES = ["it ended with 1", HUNG] as const;

/** What the hook of one source has been asked, and how it is doing. */
export type SimulatedHook = {
  /** How often it fails. */
  failing: number;
  readonly asked: Set<string>;
  /** Digests of contents that it failed for. */
  readonly failed: Set<string>;
  /** What its `after` hook got, as `newsKey` writes it. */
  readonly got: Set<string>;
  /** What it failed for, and how often. */
  readonly missed: Map<string, number>;
};

export function aSimulatedHook(): SimulatedHook {
  return {
    failing: 0,
    asked: new Set(),
    failed: new Set(),
    got: new Set(),
    missed: new Map(),
  };
}

/** What an `after` hook is told: the outcome of a row. */
export type News = { readonly outcome: string; readonly id: number };

export function newsKey({ outcome, id }: News): string {
  return `${id} ${outcome}`;
}

/** The same of what a hook finds on its standard input; undefined: it is a `before` hook's. */
export function newsIn(input: string): News | undefined {
  const { hook, outcome, document } = JSON.parse(input) as {
    readonly hook: string;
    readonly outcome: string;
    readonly document: { readonly id: number };
  };
  return hook === "after" ? { outcome, id: document.id } : undefined;
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

/** What a `before` hook writes of a file; `input`: what it was asked. */
export function said(hook: SimulatedHook, input: string, failure: string | undefined): string {
  const { path, sha256 } = JSON.parse(input) as { path: string; sha256: string };
  hook.asked.add(sha256);
  if (failure !== undefined) hook.failed.add(sha256);
  const verdict = verdictOf(sha256);
  const name = named(nameOf(path as RawPath));
  const answer =
    verdict === "veto" ? { veto: "not to be sent" } : verdict === "name" ? { name } : {};
  return JSON.stringify(answer);
}

/** What an `after` hook makes of its news; it writes nothing. */
export function heard(hook: SimulatedHook, news: News, failure: string | undefined): string {
  const key = newsKey(news);
  if (failure === undefined) hook.got.add(key);
  else hook.missed.set(key, (hook.missed.get(key) ?? 0) + 1);
  return "";
}

function verdictOf(digest: string): "veto" | "name" | "send" {
  const number = Number(/\d+/.exec(contentOf(digest))?.[0] ?? 0);
  return number % 6 === 0 ? "veto" : number % 6 === 1 ? "name" : "send";
}

function named(name: string): string {
  return `named-${name}`;
}
