import { describe, expect, test } from "vitest";
import * as gates from "../../../src/domain/gate.ts";

const policy: gates.ProbePolicy = {
  retry: { initialMs: 300_000, maxMs: 21_600_000 },
  random: () => 1,
  scheduledAfter: () => null,
};
const quota = { code: "QUOTA_LIMIT", message: "used up" };

describe("the gate", () => {
  test("closes at once and wants its first probe after the first wait", () => {
    const gate = gates.close(gates.OPEN_GATE, quota, 1_000, policy);
    expect(gate).toEqual({ closedAt: 1_000, problem: quota, probes: 0, nextProbeAt: 301_000 });
    expect(gates.isClosed(gate)).toBe(true);
  });

  test("replies of requests already under way do not lengthen the wait", () => {
    const gate = gates.close(gates.OPEN_GATE, quota, 1_000, policy);
    expect(gates.close(gate, quota, 200_000, policy)).toBe(gate);
  });

  test("refused probes wait ever longer, up to the maximum", () => {
    let gate = gates.close(gates.OPEN_GATE, quota, 0, policy);
    const waits = [];
    for (let probe = 0; probe < 9; probe++) {
      gate = gates.probeRefused(gate, quota, 0, policy);
      waits.push((gate.nextProbeAt ?? 0) / 60_000);
    }
    expect(waits).toEqual([10, 20, 40, 80, 160, 320, 360, 360, 360]);
    expect(gate.closedAt).toBe(0);
  });

  test("a moment of the schedule comes before a longer wait, never after a shorter one", () => {
    const at = (moment: number) => ({ ...policy, scheduledAfter: () => moment });
    expect(gates.close(gates.OPEN_GATE, quota, 0, at(5_000)).nextProbeAt).toBe(5_000);
    expect(gates.close(gates.OPEN_GATE, quota, 0, at(9e9)).nextProbeAt).toBe(300_000);
  });

  test("an unanswered probe does not grow the wait", () => {
    let gate = gates.close(gates.OPEN_GATE, quota, 0, policy);
    gate = gates.probeRefused(gate, quota, 0, policy);
    expect(gates.probeUnanswered(gate, 0, policy).nextProbeAt).toBe(300_000);
    expect(gates.probeUnanswered(gate, 0, policy).probes).toBe(1);
  });

  test("a probe is due at its time and not before; an open gate wants none", () => {
    const gate = gates.close(gates.OPEN_GATE, quota, 0, policy);
    expect(gates.mayProbe(gate, 299_999)).toBe(false);
    expect(gates.mayProbe(gate, 300_000)).toBe(true);
    expect(gates.mayProbe(gates.OPEN_GATE, 1e12)).toBe(false);
  });

  test("once open it remembers what it was closed for", () => {
    const gate = gates.open(gates.close(gates.OPEN_GATE, quota, 0, policy));
    expect(gate).toEqual({ ...gates.OPEN_GATE, problem: quota });
  });
});
