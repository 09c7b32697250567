import type { Crew, Member } from "../crew.ts";

/** The crew as one sees it who is no member: without a lease, and without duties. */
export function guestCrew(members: () => Promise<Member[]>): Crew {
  return {
    memberId: 0,
    leaseMs: Number.POSITIVE_INFINITY,
    sendLeftMs: 0,
    clockOffsetMs: 0,
    leads: () => false,
    seek: async () => undefined,
    members,
    listen: () => () => undefined,
  };
}
