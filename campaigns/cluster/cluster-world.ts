/** One archive, one tree that is dropped into, one journal, and three daemons at work on them. */
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { POSTGRES_BIN, type Postgres } from "../../test/fixtures/postgres.ts";
import { ACCOUNT_KEY, aWorld, SECRET, type World } from "../../test/fixtures/world.ts";
import { Dice } from "../../test/simulation/dice.ts";
import type { LateStores } from "../late-stores.ts";
import { DATABASE_PASSWORD, type Ground } from "./ground.ts";
import { Post } from "./post.ts";

/** The least that the configuration takes. */
export const LEASE_MS = 5_000;
/** Longer than an archive on a loaded machine takes to store what it was sent, and see `ARCHIVE_LOSS_MS`. */
export const DOUBT_WINDOW_MS = 12_000;

const NAMES = ["a", "b", "c"] as const;
const MIRRORS = ["one", "two"] as const;

/** Folders of the tree, which the archive has below `/Scans`. */
export const FOLDERS = MIRRORS.flatMap((mirror) => [mirror, `${mirror}/inbox`]);

export type ClusterWorld = AsyncDisposable & {
  /** Its journal is in PostgreSQL. */
  readonly world: World;
  readonly postgres: Postgres;
  /** The schema that the journal's tables are in. */
  readonly schema: string;
  readonly posts: readonly Post[];
  readonly journalPort: number;
  readonly archivePort: number;
  /** Secrets in what daemons said, or in the journal. */
  leaks(): string[];
};

/** Nobody is at work yet. */
export async function aClusterWorld(
  ground: Ground,
  seed: number,
  late: LateStores,
  main: string,
): Promise<ClusterWorld> {
  const plain = await aWorld({
    convertDelayMs: 100,
    folders: FOLDERS.map((folder) => `/Scans/${folder}`),
    onStored: late.note,
    listen: { host: ground.address, port: 0 },
  });
  const { url, schema } = ground.journal();
  const world = { ...plain, journal: url };
  const slow = new Dice(seed);
  world.archive.setFaults(({ operation }) =>
    operation === "upload" && slow.chance(0.4) ? { do: "delay", ms: slow.int(10, 250) } : undefined,
  );
  for (const mirror of MIRRORS) mkdirSync(join(world.source, mirror), { recursive: true });
  writeFileSync(join(world.dir, "journal.password"), DATABASE_PASSWORD, { mode: 0o600 });
  // Of whom a pass is made afterwards, as any other daemon.
  writeFileSync(join(world.dir, "scanferry.yaml"), yamlOf(world, "after"), { mode: 0o600 });
  const posts = NAMES.map((name) => {
    const config = join(world.dir, `${name}.yaml`);
    writeFileSync(config, yamlOf(world, name), { mode: 0o600 });
    const env = { NODE_COMPILE_CACHE: join(world.dir, "compiled") };
    return new Post(name, config, main, ground.host(name), env);
  });
  const { postgres } = ground;
  return {
    world,
    postgres,
    schema,
    posts,
    journalPort: postgres.port,
    archivePort: Number(new URL(world.archive.url).port),
    leaks() {
      const places = [
        ...posts.map(({ name, said }) => [`what ${name} said`, said] as const),
        ["the journal", dumped(postgres, schema)] as const,
      ];
      return places
        .filter(([, text]) => [SECRET, DATABASE_PASSWORD].some((secret) => text.includes(secret)))
        .map(([place]) => `a secret stands in ${place}`);
    },
    async [Symbol.asyncDispose]() {
      for (const post of posts) {
        post.heal();
        await post.end("SIGKILL");
        post.thaw();
      }
      await postgres.ask(`DROP SCHEMA IF EXISTS ${schema} CASCADE`).catch(() => undefined);
      await plain[Symbol.asyncDispose]();
    },
  };
}

function dumped({ url }: Postgres, schema: string): string {
  const words = [`--dbname=${url}`, `--schema=${schema}`, "--data-only"];
  return execFileSync(join(POSTGRES_BIN ?? "", "pg_dump"), words, {
    encoding: "utf8",
    maxBuffer: 2 ** 30,
    // It warns of what would have to be minded when it is put back.
    stdio: ["ignore", "pipe", "ignore"],
  });
}

/** With so little bandwidth that large files are under way for seconds: blows fall amid requests. */
function yamlOf(world: World, instance: string): string {
  const mirrors = MIRRORS.map(
    (name) => `  - { name: ${name}, source: "${join(world.source, name)}", target: /Scans/${name},
      settle: 300ms, firstRun: upload }\n`,
  );
  const url = new URL(world.journal);
  url.password = "";
  return `archive:
  url: ${world.archive.url}
  accountKey: ${ACCOUNT_KEY}
  signing: { scheme: hmac, secret: ${SECRET} }
  timeout: 5s
mirrors:
${mirrors.join("")}journal:
  url: "${url.href}"
  passwordFile: ${world.dir}/journal.password
  lease: ${LEASE_MS}ms
  instance: ${instance}
upload:
  concurrency: 4
  bandwidth: 500KB
  retry: { initial: 100ms, max: 500ms }
  doubt: { window: ${DOUBT_WINDOW_MS}ms }
quota: { retry: { initial: 300ms, max: 1s } }
conversion: { poll: { initial: 100ms, max: 500ms } }
shutdown: 10s
web: off
`;
}
