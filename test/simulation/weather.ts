import type { Dice } from "./dice.ts";

/** How the archive behaves; numbers without a unit are probabilities. */
export type Weather = {
  readonly outage: boolean;
  readonly quota: boolean;
  readonly refusesCredentials: boolean;
  readonly unreachable: number;
  readonly unanswered: number;
  readonly busy: number;
  /** Uploads, stored or not, that are answered with what proves nothing: a code that nobody knows, 408, 409. */
  readonly strange: number;
  /** Uploads that are refused by what stands before the archive: 403, 413. */
  readonly forbidden: number;
  /** Lists that are an OK without a list. */
  readonly hollow: number;
  /** Uploads that are stored without their last byte. */
  readonly shortened: number;
  readonly lostStored: number;
  readonly lostUnstored: number;
  /** How long after its reply was lost a document may appear. */
  readonly lateMs: number;
  /** Uploads that are answered with another document's reply. */
  readonly swapped: number;
  /** Uploads that are answered with an id that was given before. */
  readonly idTwice: number;
  readonly stale: number;
  readonly staleMs: number;
  /** Pages of a list that begin with the last item of the page before. */
  readonly doubled: number;
  /** How long each of the two steps of conversion may take. */
  readonly conversionMs: number;
};

/** No faults at all. */
export const CALM: Weather = {
  outage: false,
  quota: false,
  refusesCredentials: false,
  unreachable: 0,
  unanswered: 0,
  busy: 0,
  strange: 0,
  forbidden: 0,
  hollow: 0,
  shortened: 0,
  lostStored: 0,
  lostUnstored: 0,
  lateMs: 0,
  swapped: 0,
  idTwice: 0,
  stale: 0,
  staleMs: 0,
  doubled: 0,
  conversionMs: 5_000,
};

/** Late and stale together stay within the doubt window, as the design asks of an archive. */
const WORST = { lateMs: 60_000, staleMs: 20_000, conversionMs: 40_000 };

/** Some weather; most of it is mild, so that documents get somewhere. */
export function someWeather(dice: Dice): Weather {
  const often = () => (dice.chance(0.5) ? 0 : dice.random() * 0.3);
  return {
    ...WORST,
    outage: dice.chance(0.08),
    quota: dice.chance(0.08),
    refusesCredentials: dice.chance(0.06),
    unreachable: often() / 2,
    unanswered: often() / 2,
    busy: often() / 3,
    strange: often() / 2,
    forbidden: often() / 3,
    // A whole spell of it: a doubt takes several looks.
    hollow: dice.chance(0.15) ? 0.95 : often(),
    shortened: often() / 3,
    lostStored: often(),
    lostUnstored: often(),
    swapped: often() / 3,
    idTwice: often() / 3,
    stale: often(),
    doubled: often(),
  };
}
