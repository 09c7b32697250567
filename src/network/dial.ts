/** A TCP connection to a host that may have several addresses. */
import { type LookupAddress, lookup as nodeLookup } from "node:dns";
import { connect, isIP, type Socket, type TcpNetConnectOpts } from "node:net";
import type { Clock } from "../std/clock.ts";
import { codeOf, messageOf } from "../std/fault.ts";
import { shownPlace, ConnectError } from "./network.ts";

/** Where to. */
export type HostPort = { readonly host: string; readonly port: number };

/** What a connection is made with. */
export type DialOptions = {
  /** For all addresses together. */
  readonly timeoutMs: number;
  readonly clock: Clock;
  /** No write is taken for done before the kernel has it. */
  readonly stepwise: boolean;
  /** The host's own resolver unless a test brings another. */
  readonly lookup?: ((host: string) => Promise<LookupAddress[]>) | undefined;
};

/** The next address is tried next to the first when that has not answered for so long (RFC 8305, 8). */
const NEXT_MS = 250;

/** Bytes that a socket takes before it asks to wait; as undici's own. */
const HIGH_WATER_BYTES = 64 * 1024;

/** One address, and what became of it. */
type Attempt = { readonly address: string; readonly begunAt: number; said?: string; code?: string };

/**
 * Connects to the first of a host's addresses that answers, each begun shortly after the other and none given
 * up before the time is over: a slow way is no closed one. Rejects with a `ConnectError` that names each
 * address, what it came to, and how long that took.
 */
export async function dial(place: HostPort, options: DialOptions): Promise<Socket> {
  const { clock, timeoutMs, lookup = addressesOf } = options;
  const begunAt = clock.monotonic();
  let addresses: LookupAddress[];
  try {
    addresses = await lookup(place.host);
  } catch (error) {
    const took = seconds(clock.monotonic() - begunAt);
    const message = `no connection to ${shownPlace(place)}: its name is not found (${messageOf(error)}, ${took})`;
    throw new ConnectError("unreachable", message, codeOf(error) ?? "");
  }
  return race(place, inTurn(addresses), { ...options, timeoutMs });
}

function race(
  place: HostPort,
  addresses: readonly LookupAddress[],
  { clock, timeoutMs, stepwise }: DialOptions,
): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const attempts: Attempt[] = [];
  const open = new Map<Socket, Attempt>();
  let cancelNext = () => {};
  const over = (winner?: Socket) => {
    cancelNext();
    cancelEnd();
    for (const socket of open.keys()) if (socket !== winner) socket.destroy();
    open.clear();
  };
  const lose = () => {
    for (const attempt of open.values()) {
      attempt.said = `no answer within ${seconds(clock.monotonic() - attempt.begunAt)}`;
      attempt.code = "ETIMEDOUT";
    }
    over();
    reject(inVain(place, attempts));
  };
  const cancelEnd = clock.alarm(timeoutMs, lose);
  const begin = () => {
    cancelNext();
    const next = addresses[attempts.length];
    if (!next) {
      if (open.size === 0) lose();
      return;
    }
    const attempt: Attempt = { address: next.address, begunAt: clock.monotonic() };
    attempts.push(attempt);
    const settings: TcpNetConnectOpts & { highWaterMark: number } = {
      host: next.address,
      port: place.port,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: 60_000,
      highWaterMark: stepwise ? 1 : HIGH_WATER_BYTES,
    };
    const socket = connect(settings);
    open.set(socket, attempt);
    socket.once("connect", () => {
      socket.removeListener("error", onError);
      over(socket);
      resolve(socket);
    });
    const onError = (error: Error) => {
      if (!open.delete(socket)) return;
      attempt.code = codeOf(error) ?? "";
      attempt.said = `${attempt.code || error.message} after ${seconds(clock.monotonic() - attempt.begunAt)}`;
      begin();
    };
    socket.once("error", onError);
    cancelNext = clock.alarm(NEXT_MS, begin);
  };
  begin();
  return promise;
}

/** Every address was tried. */
function inVain(place: HostPort, attempts: readonly Attempt[]): ConnectError {
  const each = attempts.map(({ address, said }) => `${address}: ${said}`).join("; ");
  // A peer that may yet answer says more than a way that this host does not have.
  const code = attempts.find((one) => one.code === "ETIMEDOUT")?.code ?? attempts[0]?.code ?? "";
  return new ConnectError("unreachable", `no connection to ${shownPlace(place)}: ${each}`, code);
}

/** As the resolver orders them, but of both families by turns (RFC 8305, 4). */
function inTurn(addresses: readonly LookupAddress[]): LookupAddress[] {
  const [first] = addresses;
  const same = addresses.filter(({ family }) => family === first?.family);
  const others = addresses.filter(({ family }) => family !== first?.family);
  return same
    .flatMap((one, at) => [one, ...others.slice(at, at + 1)])
    .concat(others.slice(same.length));
}

async function addressesOf(host: string): Promise<LookupAddress[]> {
  const family = isIP(host);
  if (family !== 0) return [{ address: host, family }];
  const { promise, resolve, reject } = Promise.withResolvers<LookupAddress[]>();
  nodeLookup(host, { all: true }, (error, found) => (error ? reject(error) : resolve(found)));
  return promise;
}

function seconds(ms: number): string {
  return ms < 100 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`;
}
