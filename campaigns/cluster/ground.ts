/** What all worlds of the campaign stand on: one PostgreSQL, and a network with a host for each daemon. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { aPostgres, type Postgres } from "../../test/fixtures/postgres.ts";
import { type PrivateHost, PrivateNetwork } from "../../test/fixtures/private-network.ts";

/** Who the daemons are to the database: no superuser. */
const ROLE = "carrier";
/** Must stand in no output and no file but the configuration. */
export const DATABASE_PASSWORD = "canary-database-0815";

/** Few enough that all can be taken away; each daemon needs a handful. */
const CONNECTIONS = 40;

export class Ground implements AsyncDisposable {
  readonly postgres: Postgres;
  /** Where daemons find PostgreSQL and the archive. */
  readonly address: string;
  /** Why no daemon can be cut off here; undefined: they can be. */
  readonly noNetwork: string | undefined;
  readonly #network: PrivateNetwork | undefined;
  readonly #hosts = new Map<string, PrivateHost>();
  readonly #dir: string;

  private constructor(
    postgres: Postgres,
    network: PrivateNetwork | undefined,
    noNetwork: string | undefined,
    dir: string,
  ) {
    this.postgres = postgres;
    this.address = network?.address ?? "127.0.0.1";
    this.#network = network;
    this.noNetwork = noNetwork;
    this.#dir = dir;
  }

  static async open(): Promise<Ground> {
    const noNetwork = PrivateNetwork.missing();
    const network = noNetwork === undefined ? new PrivateNetwork() : undefined;
    const dir = mkdtempSync(join(tmpdir(), "scanferry-ground-"));
    // PostgreSQL is someone without rights, and has to read it.
    chmodSync(dir, 0o755);
    const access = join(dir, "pg_hba.conf");
    writeFileSync(access, `host all ${ROLE} all scram-sha-256\nhost all all 127.0.0.1/32 trust\n`);
    const addresses = ["127.0.0.1", ...(network ? [network.address] : [])].join(",");
    const postgres = await aPostgres(
      `hba_file = '${access}'\nlisten_addresses = '${addresses}'\nmax_connections = ${CONNECTIONS}\n`,
    );
    await postgres.ask(
      `CREATE ROLE ${ROLE} LOGIN PASSWORD '${DATABASE_PASSWORD}';
       GRANT CREATE ON DATABASE postgres TO ${ROLE}`,
    );
    return new Ground(postgres, network, noNetwork, dir);
  }

  /** A daemon's host, the same one for the same name; undefined where there is no network. */
  host(name: string): PrivateHost | undefined {
    const known = this.#hosts.get(name);
    if (known || !this.#network) return known;
    const host = this.#network.host();
    this.#hosts.set(name, host);
    return host;
  }

  /** A journal that no other world has, as the daemons' configuration names it. */
  journal(): { readonly url: string; readonly schema: string } {
    const { schema } = this.postgres.place();
    const { port } = this.postgres;
    const url = `postgres://${ROLE}:${DATABASE_PASSWORD}@${this.address}:${port}/postgres?schema=${schema}`;
    return { url, schema };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#network?.[Symbol.dispose]();
    await this.postgres[Symbol.asyncDispose]();
    rmSync(this.#dir, { recursive: true, force: true });
  }
}
