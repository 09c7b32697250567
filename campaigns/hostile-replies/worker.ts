/** One client and one server of its own; they meet one request at a time. */
import { createServer, type Server, type Socket } from "node:net";
import { ArchiveError } from "../../src/archive/archive-error.ts";
import type { HttpArchive } from "../../src/archive/http-archive.ts";
import { Dice } from "../../test/simulation/dice.ts";
import { CANARIES, openOn } from "../../test/unit/archive/fixture.ts";
import { type Heard, RawServer } from "../../test/unit/archive/raw-server.ts";
import { ask, type Asked, someRequest } from "./asked.ts";
import { type Plan, play } from "./plan.ts";
import { somePlan } from "./recipes.ts";
import { mayBeProof, mayRefuse, shownBy, successOf } from "./reference.ts";

/** Long next to what a reply takes on a busy machine: only those that never end wait for it. */
export const TIMEOUT_MS = 1_500;
/** Beyond the timeouts of a request's two phases, also where the machine stands still; milliseconds. */
const LATE_MS = 30_000;

/** The client need not read more than this. */
const REPLY_BYTES = 1 << 20;

/** Recipes of replies that are plain HTTP, so that status and body say all. */
const PLAIN: readonly string[] = ["ordinary", "statuses"];

/** What one reply came to: `result`, or the kind of the error; and every law that it broke. */
export type Verdict = { recipe: string; ended: string; code: string; broken: string[] };

export class Worker implements AsyncDisposable {
  readonly #server: RawServer;
  readonly #archive: HttpArchive;
  readonly #elsewhere: string;
  #plan: Plan | undefined;
  #written = Buffer.alloc(0);
  /** What the last plan left on its connection may be taken for an answer to the next request. */
  #poisoned = false;

  private constructor(server: RawServer, archive: HttpArchive, elsewhere: string) {
    this.#server = server;
    this.#archive = archive;
    this.#elsewhere = elsewhere;
  }

  static async open(elsewhere: string): Promise<Worker> {
    let worker: Worker | undefined;
    const server = await RawServer.open({
      onHead: (socket, heard) => worker?.meetHead(socket, heard),
      onWhole: (socket, heard) => worker?.meetWhole(socket, heard),
    });
    const archive = await openOn(server, { timeoutMs: TIMEOUT_MS, connections: 2 });
    worker = new Worker(server, archive, elsewhere);
    return worker;
  }

  /** One request and its reply, both made from the seed alone. */
  async meet(seed: number): Promise<Verdict> {
    const dice = new Dice(seed);
    const asked = someRequest(dice);
    const plan = somePlan(asked, dice, this.#elsewhere);
    const wasPoisoned = this.#poisoned;
    this.#plan = plan;
    this.#written = Buffer.alloc(0);
    this.#server.heard.splice(0);
    const startedAt = performance.now();
    const answer = await ask(this.#archive, asked, new AbortController().signal).then(
      (result) => ({ result }),
      (error: unknown) => ({ error }),
    );
    const tookMs = performance.now() - startedAt;
    this.#plan = undefined;
    this.#poisoned = plan.poisons;
    const broken = this.#laws(asked, plan, answer, wasPoisoned);
    if (tookMs > 2 * TIMEOUT_MS + LATE_MS) broken.push(`it took ${tookMs.toFixed(0)} ms`);
    this.#tidy(plan);
    const error = "error" in answer && answer.error instanceof ArchiveError ? answer.error : null;
    const ended = error?.kind ?? ("result" in answer ? "result" : "crash");
    return { recipe: plan.recipe, ended, code: error?.code ?? "", broken };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#archive.close();
    await this.#server[Symbol.asyncDispose]();
  }

  /** Forgets connections that are over. One that is not read from would not notice that it is. */
  #tidy(plan: Plan): void {
    const { sockets } = this.#server;
    for (const socket of sockets.splice(0)) {
      if (plan.at === "head") socket.destroy();
      if (!socket.destroyed) sockets.push(socket);
    }
  }

  /** The server has the head of a request. */
  private meetHead(socket: Socket, heard: Heard): void {
    if (this.#plan?.at === "head") socket.pause();
    this.#play("head", socket, heard);
  }

  private meetWhole(socket: Socket, heard: Heard): void {
    this.#play("whole", socket, heard);
  }

  #play(at: Plan["at"], socket: Socket, heard: Heard): void {
    const plan = this.#plan;
    if (!plan || this.#written.length > 0) return;
    // Reset before anything is read: as near to the connection as a server can.
    if (plan.at === at || (plan.at === "connection" && at === "head"))
      this.#written = play(plan, socket, heard) as Buffer<ArrayBuffer>;
  }

  #laws(
    asked: Asked,
    plan: Plan,
    answer: { result: unknown } | { error: unknown },
    wasPoisoned: boolean,
  ): string[] {
    const success = plan.body && successOf(asked, plan.body);
    const heard = this.#server.heard.splice(0);
    const broken: string[] = [];
    if (heard.length > 1) broken.push(`the request was sent ${heard.length} times`);
    if ("result" in answer) {
      if (success === undefined || plan.framing === "torn")
        broken.push(`a false success from ${shown(this.#written)}`);
      else if (shownBy(answer.result) !== success) broken.push("a success of something else");
      return broken;
    }
    const { error } = answer;
    if (!(error instanceof ArchiveError)) return [...broken, `it threw ${String(error)}`];
    const mayBeTooBig = (plan.body?.length ?? 0) > REPLY_BYTES;
    const mustSucceed =
      success !== undefined && plan.framing === "whole" && !wasPoisoned && !mayBeTooBig;
    // On a machine that stands still even a right reply comes too late; and a connection that the
    // reply before had reset may be found so only now, before anything is sent on it.
    const isExcused =
      error.code === "ARCHIVE_TIMEOUT" || (error.kind === "notSent" && heard.length === 0);
    if (mustSucceed && !isExcused)
      broken.push(`a right reply was refused: ${error.kind} ${error.code} ${error.message}`);
    if (error.kind === "notSent" && heard.some(({ whole }) => whole))
      broken.push(`called not sent, but it was received whole: ${error.code}`);
    if (error.kind === "invalid") broken.push(`called invalid: ${error.message}`);
    if (error.kind === "refused" && !wasPoisoned && !mayRefuse(this.#written))
      broken.push(`called refused, which nobody did: ${error.code}`);
    const isAnswered = asked.operation === "upload" && PLAIN.includes(plan.recipe) && plan.body;
    const isSure = !wasPoisoned && !plan.poisons && heard.some(({ whole }) => whole);
    if (error.kind === "refused" && isAnswered && isSure && !mayBeProof(this.#written, isAnswered))
      broken.push(`called refused, which nothing proves: ${error.code}`);
    return [...broken, ...leaks(error)];
  }
}

function shown(bytes: Buffer): string {
  return JSON.stringify(bytes.toString("latin1").slice(0, 160));
}

/** Secrets in anything that a log could make of an error. */
function leaks(error: ArchiveError): string[] {
  const { cause } = error;
  const all = [error.stack, error.hint, cause instanceof Error ? cause.stack : "", error.code];
  const text = `${all.join()}${JSON.stringify(error)}${JSON.stringify(cause)}`;
  return Object.values(CANARIES)
    .filter((secret) => text.includes(secret))
    .map((secret) => `${secret} came out in ${error.code}`);
}

/** Another origin: counts who comes. */
export async function openElsewhere(): Promise<{ url: string; visits(): number; server: Server }> {
  let visits = 0;
  const server = createServer((socket) => {
    visits += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = address !== null && typeof address === "object" ? address.port : 0;
  return { url: `http://127.0.0.1:${port}`, visits: () => visits, server };
}
