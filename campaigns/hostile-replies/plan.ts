/** What a hostile server does with one request; data, so that a judge can read it. */
import type { Socket } from "node:net";
import type { Heard } from "../../test/unit/archive/raw-server.ts";

export type Plan = {
  readonly recipe: string;
  /** What is written, as it crosses; `heard` is for replies that repeat the request. */
  readonly bytes: (heard: Heard) => Buffer;
  /** What a reader of HTTP makes the body of that; undefined where there is none. */
  readonly body: Buffer | undefined;
  /**
   * What HTTP allows to make of it: a right body of a `whole` reply must be the result, that of a
   * `torn` one must not, and with `either` a reader may be strict or not.
   */
  readonly framing: "whole" | "torn" | "either";
  /** When it is written: the connection is there, the head of the request, or all of it. */
  readonly at: "connection" | "head" | "whole";
  /** Into how many pieces it is cut on its way. */
  readonly pieces: number;
  /** What comes after it. */
  readonly after: "keep" | "end" | "reset" | "drip" | "endless";
  /** What is on the connection after this reply may be taken for the next one. */
  readonly poisons: boolean;
};

/** How long a drip waits between two bytes. */
const DRIP_MS = 20;
const ENDLESS = Buffer.alloc(64 << 10, "x");

/** Does what the plan says; returns what was written of the plan's bytes. */
export function play(plan: Plan, socket: Socket, heard: Heard): Buffer {
  const bytes = plan.bytes(heard);
  void write(plan, bytes, socket);
  return bytes;
}

async function write({ pieces, after }: Plan, bytes: Buffer, socket: Socket): Promise<void> {
  const step = Math.ceil(bytes.length / pieces);
  for (let at = 0; at < bytes.length; at += step) {
    if (socket.destroyed) return;
    socket.write(bytes.subarray(at, at + step));
    if (pieces > 1) await new Promise((resolve) => setImmediate(resolve));
  }
  if (after === "end") socket.end();
  if (after === "reset") socket.resetAndDestroy();
  if (after === "drip") drip(socket);
  if (after === "endless") flood(socket);
}

function drip(socket: Socket): void {
  const timer = setInterval(() => {
    if (socket.destroyed) clearInterval(timer);
    else socket.write(" ");
  }, DRIP_MS);
}

/** As much as the other side takes, for as long as it takes it. */
function flood(socket: Socket): void {
  const more = () => {
    while (!socket.destroyed && socket.write(ENDLESS));
  };
  socket.on("drain", more);
  more();
}
