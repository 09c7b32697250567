import { once } from "node:events";
import { createServer as createHttpServer, get } from "node:http";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { guardConnections } from "../../../src/std/connection-guard.ts";
import { isLoopback, networkOf } from "../../../src/std/web-caller.ts";

/** A guarded listener; what connects comes, as it says, from the addresses in turn. */
async function aListener(addresses: () => string) {
  const server = createHttpServer((_request, reply) => reply.end("well"));
  guardConnections(server, { connections: 6, perNetwork: 3 });
  const front = createServer((socket) => {
    Object.defineProperty(socket, "remoteAddress", { value: addresses() });
    server.emit("connection", socket);
  });
  front.listen(0, "127.0.0.1");
  await once(front, "listening");
  const { port } = front.address() as AddressInfo;
  const sockets: Socket[] = [];
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    front.close();
  });
  const halfOpen = async () => {
    const socket = connect(port, "127.0.0.1").on("error", () => {});
    sockets.push(socket);
    await once(socket, "connect");
    socket.write("GET / HTTP/1.1\r\n");
    return socket;
  };
  const asks = () => {
    const { promise, resolve, reject } = Promise.withResolvers<number | undefined>();
    get({ port, host: "127.0.0.1", agent: false }, (reply) => {
      reply.resume().on("end", () => resolve(reply.statusCode));
    }).on("error", reject);
    return promise;
  };
  return { halfOpen, asks };
}

test("the oldest half-open connection of a network gives way, and those of others stay", async () => {
  let from = "192.0.2.7";
  const { halfOpen, asks } = await aListener(() => from);
  const other = await halfOpen();
  from = "198.51.100.9";
  const mine = [await halfOpen(), await halfOpen(), await halfOpen()];
  const [first, second] = mine;
  const gone = once(first as Socket, "close");
  expect(await asks()).toBe(200);
  await gone;
  expect([second?.destroyed, other.destroyed]).toEqual([false, false]);
});

test("networks together have a bound, too", async () => {
  let n = 0;
  const { halfOpen, asks } = await aListener(() => `2001:db8:0:${(n++).toString(16)}::1`);
  const sockets: Socket[] = [];
  for (let each = 0; each < 6; each++) sockets.push(await halfOpen());
  const gone = once(sockets[0] as Socket, "close");
  expect(await asks()).toBe(200);
  await gone;
});

test.for([
  ["192.0.2.7", "192.0.2.7", "an address of IPv4"],
  ["::ffff:192.0.2.7", "192.0.2.7", "the same, as a socket of both tells it"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2", "64 bits of IPv6"],
  ["2001:db8::6", "2001:db8:0:0", "what is left out counts"],
  ["fe80::1%eth0", "fe80:0:0:0", "a zone does not"],
] as const)("%s is of the network %s: %s", ([address, network]) => {
  expect(networkOf(address)).toBe(network);
});

test.for([
  ["127.8.9.1", true],
  ["::ffff:127.0.0.1", true],
  ["::1", true],
  ["127.0.0.1.example", false],
  ["192.0.2.7", false],
  ["", false],
  ["Localhost", true],
  ["localhost.example", false],
] as const)("%s is of this host: %s", ([address, expected]) => {
  expect(isLoopback(address)).toBe(expected);
});
