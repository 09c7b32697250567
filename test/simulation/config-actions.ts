/** People change the configuration: where to, what becomes of files, names and sources, mirrors out and back. */
import type { Mirror } from "../../src/config/config.ts";
import type { Place } from "./live-mirror.ts";
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
  if (isMoved(place)) return undefined;
  const path = world.dice.pick(TARGETS) ?? "/New";
  return set(world, place, { target: { path } });
};

export const changeAfter: Change = (world, place) =>
  set(world, place, { after: world.dice.pick(AFTERS) ?? { kind: "keep" } });

/** The same source under another name. */
export const renameMirror: Change = (world, place) =>
  set(world, place, { name: another(world, place.settings.name) });

/** Another name and another source: what it has sent is known by its content alone. */
export const moveMirror: Change = (world, place) => {
  if (place.formerTargets.length > 0 || place.isCopied) return undefined;
  const name = another(world, place.settings.name);
  return set(world, place, { name, source: `/mnt/${name}` });
};

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
    place.settings = { ...place.settings, ...settings };
  });
}

/** To another folder than the mirror did that it was, it sends once more by right. */
function isMoved({ settings }: Place): boolean {
  return settings.source.startsWith("/mnt/");
}

/** A name that no mirror has had. */
function another({ dice }: SimulatedWorld, name: string): string {
  return `${name.split("~")[0]}~${dice.int(0, 1_000_000_000)}`;
}
