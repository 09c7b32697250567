/**
 * Patterns over the relative path. A pattern of a user may take longer than the age of
 * the universe on some name; it is cut off, and only the document with that name is held.
 */
import { createContext, Script } from "node:vm";

/** What a pattern found; `slow` when it was cut off. */
export type Matched =
  | { readonly kind: "groups"; readonly groups: Readonly<Record<string, string>> }
  | { readonly kind: "none" }
  | { readonly kind: "slow" };

/** Longer than any sane pattern takes on a path, however busy the machine is. */
const PATTERN_MS_MAX = 1_000;

/** What a pattern is given that has taken too long before: nothing else is done meanwhile, and many names may be alike. */
const SLOW_MS_MAX = 50;

/** Patterns that have taken too long. */
const slow = new Set<string>();

const compiled = new Map<string, RegExp>();

const arena = createContext({ run: () => null });
const script = new Script("run()");

/** The expression of a pattern; throws `SyntaxError` when it is none. Unicode-aware. */
export function compilePattern(source: string): RegExp {
  const known = compiled.get(source);
  if (known) return known;
  const expression = new RegExp(source, "u");
  compiled.set(source, expression);
  return expression;
}

/** The names of the groups of a pattern that compiles. */
export function groupNames(source: string): string[] {
  return [...source.matchAll(/\(\?<([A-Za-z_]\w*)>/g)].map(([, name]) => name ?? "");
}

/** Matches a path (parts joined by `/`). Never throws for a pattern that compiles. */
export function matchPattern(source: string, path: string): Matched {
  const expression = compilePattern(source);
  try {
    const ms = slow.has(source) ? SLOW_MS_MAX : PATTERN_MS_MAX;
    const found = timed(() => expression.exec(path), ms);
    if (found === null) return { kind: "none" };
    const groups = Object.entries(found.groups ?? {}).filter(
      (group): group is [string, string] => group[1] !== undefined,
    );
    return { kind: "groups", groups: Object.fromEntries(groups) };
  } catch {
    slow.add(source);
    return { kind: "slow" };
  }
}

/** Runs what cannot be interrupted on its own; V8 ends an expression that backtracks for too long. */
function timed(run: () => RegExpExecArray | null, timeout: number): RegExpExecArray | null {
  arena["run"] = run;
  return script.runInContext(arena, { timeout }) as RegExpExecArray | null;
}
