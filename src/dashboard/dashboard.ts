import type { AddressInfo } from "node:net";
import type { FastifyInstance } from "fastify";
import { activityOf } from "./activity.ts";
import { addActions, addSession } from "./action-routes.ts";
import { addressOf, listenFault, urlOf } from "./address.ts";
import { type Gatehouse, pathOf } from "./admission.ts";
import { Attempts, Pass } from "./pass.ts";
import { readAssets } from "./assets.ts";
import { DocumentSearch } from "./document-search.ts";
import { addInspection, INSPECTIONS } from "./inspection-routes.ts";
import { listenerOf } from "./listener.ts";
import { Live } from "./live.ts";
import type { DashboardOptions } from "./options.ts";
import { addReads } from "./read-routes.ts";
import { assertJournal, healthOf, snapshotOf } from "./snapshot.ts";
import type { Clock } from "../std/clock.ts";

export type { DashboardOptions, Health, AdministratorView } from "./options.ts";

/** Questions within this time share an answer. */
const SNAPSHOT_MS_MAX = 250;
const ACTIVITY_MS_MAX = 1_000;

/** Probes give up soon, and an answer may wait for another program's lock on the journal. */
const LATE_HEALTH = {
  afterMs: 500,
  ageMsMax: 5_000,
  instead: { healthy: true, ready: false, why: "the journal has not answered yet" },
};

/** A live page stays connected: it shows that the journal is away, and when it is back. */
const asksJournal = (path: string) =>
  path.startsWith("/api/") &&
  path !== "/api/events" &&
  !INSPECTIONS.some((route) => route.path === path);

/**
 * The daemon's web listener: the page, its data, health and measures.
 *
 * Looking never delays sending: every question to the journal is bounded and shared, connections,
 * headers and bodies have limits. Nothing is changed but by a deliberate POST of the page itself.
 */
export class Dashboard implements AsyncDisposable {
  /** Where the page is, without a slash at its end. */
  readonly url: string;
  readonly #app: FastifyInstance;
  readonly #live: Live;
  #closed: Promise<void> | undefined;

  private constructor(url: string, app: FastifyInstance, live: Live) {
    this.url = url;
    this.#app = app;
    this.#live = live;
  }

  /** Listens. Rejects with the Fault `WEB_LISTEN` when the address cannot be had. */
  static async open(options: DashboardOptions): Promise<Dashboard> {
    const { listen, names, journal, clock, log, token } = options;
    const address = await addressOf(listen, names);
    const assets = await readAssets();
    const gatehouse: Gatehouse = {
      address,
      pass: token ? new Pass(token, listen.port) : undefined,
      attempts: new Attempts(clock, log),
      signIn: assets.find(({ path }) => path === "/sign-in")?.body,
    };
    const latest = new Latest(() => snapshotOf(options), clock, SNAPSHOT_MS_MAX);
    const afresh = () => {
      latest.forget();
      return latest.read();
    };
    const health = new Latest(() => healthOf(options), clock, SNAPSHOT_MS_MAX, LATE_HEALTH);
    const live = new Live(afresh, options.uploads, clock, log);
    const app = listenerOf(gatehouse, log);
    app.addHook("preHandler", async (request) => {
      if (asksJournal(pathOf(request))) assertJournal(options);
    });
    const search = new DocumentSearch(journal, clock);
    const done = () => {
      latest.forget();
      live.notify();
    };
    const activity = new Latest(() => activityOf(journal, clock.now()), clock, ACTIVITY_MS_MAX);
    addReads(app, {
      options,
      gatehouse,
      assets,
      snapshot: () => latest.read(),
      health: () => health.read(),
      activity: () => activity.read(),
      search,
      live,
    });
    addSession(app, gatehouse);
    addInspection(app, options.inspection);
    addActions(app, { actions: options.actions, log, done });
    try {
      await app.listen({ host: address.ip, port: listen.port });
    } catch (error) {
      await live.close();
      await app.close();
      throw listenFault(listen, error);
    }
    const { port } = app.server.address() as AddressInfo;
    return new Dashboard(urlOf(address, port), app, live);
  }

  /** Something was journaled: pages that are open learn it soon. Cheap; call it as often as you like. */
  changed(): void {
    this.#live.notify();
  }

  /** Ends every connection and frees the port. */
  close(): Promise<void> {
    this.#closed ??= this.#live.close().then(() => this.#app.close());
    return this.#closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/**
 * Who asks gets the answer before after so long; `instead`, where there is none, or it is older than `ageMsMax`:
 * some ask once an hour.
 */
type Late<T> = { readonly afterMs: number; readonly ageMsMax: number; readonly instead: T };

/**
 * The answer to a costly question, shared by all who ask within `ageMaxMs`, so that the number of
 * people who look does not become load on the journal.
 */
class Latest<T> {
  readonly #late: Late<T> | undefined;
  #last: { readonly at: number; readonly value: T } | undefined;
  readonly #ask: () => Promise<T>;
  readonly #clock: Clock;
  readonly #ageMaxMs: number;
  #asked: { readonly at: number; readonly answer: Promise<T> } | undefined;

  constructor(ask: () => Promise<T>, clock: Clock, ageMaxMs: number, late?: Late<T>) {
    this.#late = late;
    this.#ask = ask;
    this.#clock = clock;
    this.#ageMaxMs = ageMaxMs;
  }

  /** An answer to a question asked at most `ageMaxMs` ago; rejects as the question did. */
  read(): Promise<T> {
    const now = this.#clock.monotonic();
    if (this.#asked === undefined || now - this.#asked.at >= this.#ageMaxMs) {
      this.#asked = { at: now, answer: this.#ask() };
    }
    return this.#late ? this.#inTime(this.#asked.answer, this.#late) : this.#asked.answer;
  }

  async #inTime(answer: Promise<T>, { afterMs, ageMsMax, instead }: Late<T>): Promise<T> {
    const now = () => this.#clock.monotonic();
    const noted = answer.then((value) => (this.#last = { at: now(), value }).value);
    const { promise, resolve } = Promise.withResolvers<T>();
    const cancel = this.#clock.alarm(afterMs, () => {
      const last = this.#last;
      resolve(last && now() - last.at < ageMsMax ? last.value : instead);
    });
    try {
      return await Promise.race([promise, noted]);
    } finally {
      cancel();
    }
  }

  /** Something changed: the next `read` asks again. */
  forget(): void {
    this.#asked = undefined;
  }
}
