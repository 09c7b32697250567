/**
 * Bounds on the connections of a listener. What is in the way of a new one is the oldest that has not even
 * asked for anything: anyone who opens connections and leaves them half-open stops nobody else.
 */
import type { IncomingMessage, Server } from "node:http";
import type { Socket } from "node:net";
import { isLoopback, networkOf } from "./web-caller.ts";

export type ConnectionBounds = {
  /** Of all together. */
  readonly connections: number;
  /** Of one remote network; those from this host, a proxy's say, are bounded together alone. */
  readonly perNetwork: number;
};

type Guarded = {
  readonly socket: Socket;
  readonly network: string | undefined;
  /** The request that it carries just now. */
  request: IncomingMessage | undefined;
};

/** Keeps `server` within the bounds. */
export function guardConnections(
  server: Server,
  { connections, perNetwork }: ConnectionBounds,
): void {
  // In the order in which they came.
  const guarded = new Map<Socket, Guarded>();
  server.on("connection", (socket: Socket) => {
    const address = socket.remoteAddress ?? "";
    const network = isLoopback(address) ? undefined : networkOf(address);
    guarded.set(socket, { socket, network, request: undefined });
    socket.once("close", () => guarded.delete(socket));
    const all = [...guarded.values()];
    const neighbours = all.filter((each) => network !== undefined && each.network === network);
    if (neighbours.length > perNetwork) giveWay(neighbours);
    else if (all.length > connections) giveWay(all);
  });
  server.on("request", (request, reply) => {
    const own = guarded.get(request.socket);
    if (!own) return;
    own.request = request;
    reply.once("close", () => {
      own.request = undefined;
    });
  });
}

/** Ends the oldest without a request, else the oldest whose body is still to come, else the newest. */
function giveWay(all: readonly Guarded[]): void {
  const oldest =
    all.slice(0, -1).find(({ request, socket }) => !request && !socket.destroyed) ??
    all.slice(0, -1).find(({ request, socket }) => !request?.complete && !socket.destroyed) ??
    all.at(-1);
  oldest?.socket.destroy();
}
