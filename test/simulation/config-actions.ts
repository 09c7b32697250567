/** People change the configuration: where to, what becomes of files, names and sources, mirrors out and back. */
import type { Mirror } from "../../src/config/config.ts";
import { someGrow } from "./clock-actions.ts";
import type { Place } from "./live-mirror.ts";
import { someHooks } from "./some-settings.ts";
import type { SimulatedWorld } from "./simulated-world.ts";

type Change = (world: SimulatedWorld, place: Place) => void | Promise<void>;

const TARGETS = ["/Scans", "/Other", "/New"];

const AFTERS: readonly Mirror["after"][] = [
  { kind: "keep" },
  { kind: "delete" },
  { kind: "move", to: "/srv/done" },
];

/** What waits goes to the new folder. */
export const correctTarget: Change = (world, place) => {
  // To another folder than the mirror did that it was, it sends once more by right.
  if (place.isMoved) return undefined;
  const path = world.dice.pick(TARGETS) ?? "/New";
  return set(world, place, { target: { path } });
};

export const changeAfter: Change = (world, place) =>
  set(world, place, { after: world.dice.pick(AFTERS) ?? { kind: "keep" } });

/** A hook is added, taken away, or does otherwise when it fails or vetoes; what is held as unfinished is to be sent. */
export const changeRules: Change = (world, place) => {
  const { dice } = world;
  const { hooks, stillIncomplete } = place.settings;
  // What somebody is writing to by the one may rest for too long by the other.
  if (dice.chance(0.5) && !someGrow(world))
    return set(world, place, { stillIncomplete: stillIncomplete === "hold" ? "upload" : "hold" });
  const drawn = someHooks(dice);
  if (dice.chance(0.5)) return set(world, place, { hooks: { ...hooks, after: drawn.after } });
  // Under a name that a hook gives, what a lost journal sent before is another document.
  if (world.isFirstRun) return undefined;
  return set(world, place, { hooks: { ...hooks, before: drawn.before } });
};

/** The same source under another name. */
export const renameMirror: Change = (world, place) => {
  const { source } = place.settings;
  return world.isShared
    ? remake(world, place, () => source)
    : set(world, place, { name: another(world, place.settings.name) });
};

/** Another name and another source: what it has sent is known by its content alone. */
export const moveMirror: Change = (world, place) => remake(world, place, (name) => `/mnt/${name}`);

function remake(
  world: SimulatedWorld,
  place: Place,
  sourceOf: (name: string) => string,
): Promise<void> | undefined {
  if (place.formerTargets.length > 0 || place.isCopied) return undefined;
  const name = another(world, place.settings.name);
  place.isMoved = true;
  return set(world, place, { name, source: sourceOf(name) });
}

export const takeOutMirror: Change = (world, place) => {
  if (place.isCopied && !place.isOut) return undefined;
  return world.reconfigure(() => {
    place.isOut = !place.isOut;
  });
};

function set(world: SimulatedWorld, place: Place, settings: Partial<Mirror>): Promise<void> {
  return world.reconfigure(() => {
    const { target } = place.settings;
    const until = world.clock.monotonic();
    if (settings.target && "path" in target) place.formerTargets.push({ ...target, until });
    const isOfBefore = settings.hooks && settings.hooks.before !== place.settings.hooks?.before;
    if (isOfBefore || settings.stillIncomplete) place.rulesChanged.push(until);
    place.settings = { ...place.settings, ...settings };
  });
}

/** A name that no mirror has had. */
function another({ dice }: SimulatedWorld, name: string): string {
  return `${name.split("~")[0]}~${dice.int(0, 1_000_000_000)}`;
}
