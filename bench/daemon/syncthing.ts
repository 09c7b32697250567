/** The same job by syncthing, which also scans, hashes, journals and sends: two instances on this machine. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "../../test/fixtures/free-port.ts";
import { type Case, check, inTurns, median, rounded } from "./bench.ts";
import { endWithThis } from "./cost.ts";
import { Home } from "./home.ts";
import { carry, sentTo } from "./job.ts";
import { treeOf } from "./tree.ts";

const LOOK_MS = 50;
const WAIT_MS = 120_000;
const KEY = "bench";

/** An instance: where it keeps its state, its folder, and where it listens. */
type Instance = {
  readonly home: string;
  readonly folder: string;
  readonly id: string;
  readonly api: string;
  readonly port: number;
};

export const syncthing: Case = {
  name: "syncthing",
  async run(bench) {
    if (!bench.has("syncthing")) return;
    const tree = { files: bench.quick ? 100 : 10_000, bytes: 20_000, directories: 100 };
    const root = treeOf(bench, tree);
    const home = new Home(bench, "syncthing");
    const [theirs = [], ours = []] = await inTurns(bench.rounds, [
      (round) => synchronised(bench.place(`syncthing-${round}`), root, tree.files),
      async () => (await sentTo({}, tree, (url) => carry(home, url, root, 8))).seconds,
    ]);
    const [seconds, own] = [median(theirs), median(ours)];
    bench.find({
      what: `${tree.files.toLocaleString("en")} × 20 KB, 8 at once`,
      ours: `${rounded(own)} s`,
      beside: `two syncthing ${rounded(seconds)} s`,
      value: seconds / own,
      bound: { atLeast: 4, unit: "×" },
    });
  },
};

/** Seconds from the start of the sender, both without a journal, until the receiver has all of it. */
async function synchronised(dir: string, root: string, files: number): Promise<number> {
  const copy = join(dir, "copy");
  mkdirSync(copy);
  const sender = await instance(join(dir, "sender"), root);
  const receiver = await instance(join(dir, "receiver"), copy);
  configure(sender, receiver, "sendonly");
  configure(receiver, sender, "receiveonly");
  const children: ChildProcess[] = [];
  const ends: Promise<unknown>[] = [];
  const start = (one: Instance) => {
    const child = run(one);
    children.push(child);
    ends.push(once(child, "exit"));
  };
  try {
    start(receiver);
    await until("syncthing", async () => (await asked(receiver, "system/ping")) !== undefined);
    const begun = performance.now();
    start(sender);
    await until("all files", async () => {
      const status = await asked(receiver, "db/status?folder=scans");
      return status?.["inSyncFiles"] === files && status["needFiles"] === 0;
    });
    return (performance.now() - begun) / 1_000;
  } finally {
    for (const child of children) child.kill("SIGKILL");
    await Promise.all(ends);
    rmSync(dir, { recursive: true, force: true });
    rmSync(join(root, ".stfolder"), { recursive: true, force: true });
  }
}

async function instance(home: string, folder: string): Promise<Instance> {
  const words = ["generate", `--home=${home}`, "--no-default-folder", "--skip-port-probing"];
  execFileSync("syncthing", words, { stdio: "ignore" });
  const said = execFileSync("syncthing", [`--home=${home}`, "--device-id"], { encoding: "utf8" });
  // What marks a folder as present; without it syncthing refuses to touch it.
  mkdirSync(join(folder, ".stfolder"), { recursive: true });
  const api = `127.0.0.1:${await freePort()}`;
  return { home, folder, id: said.trim(), api, port: await freePort() };
}

/** Nothing but this one folder and this one other instance; no discovery, relays, reports or upgrades. */
function configure(own: Instance, other: Instance, type: string): void {
  const devices = [own, other].map(({ id }) => `<device id="${id}"/>`).join("");
  const addresses = [own, other].map(
    ({ id, port }) =>
      `<device id="${id}" name="${port}"><address>tcp://127.0.0.1:${port}</address></device>`,
  );
  const off = [
    "globalAnnounceEnabled",
    "localAnnounceEnabled",
    "relaysEnabled",
    "natEnabled",
    "startBrowser",
    "crashReportingEnabled",
    "setLowPriority",
  ];
  const text = `<configuration version="36">
<folder id="scans" path="${own.folder}" type="${type}" rescanIntervalS="3600" fsWatcherEnabled="false">${devices}</folder>
${addresses.join("\n")}
<gui enabled="true"><address>${own.api}</address><apikey>${KEY}</apikey></gui>
<options><listenAddress>tcp://127.0.0.1:${own.port}</listenAddress><urAccepted>-1</urAccepted>
<autoUpgradeIntervalH>0</autoUpgradeIntervalH><reconnectionIntervalS>1</reconnectionIntervalS>
${off.map((name) => `<${name}>false</${name}>`).join("")}</options>
</configuration>
`;
  writeFileSync(join(own.home, "config.xml"), text);
}

function run({ home }: Instance): ChildProcess {
  const words = ["serve", `--home=${home}`, "--no-browser", "--no-restart", "--no-upgrade"];
  const child = spawn("syncthing", words, {
    // Else it is a supervisor that starts another process, which a kill leaves behind.
    env: { ...process.env, STMONITORED: "yes" },
    stdio: "ignore",
  });
  endWithThis(child);
  return child;
}

/** What an instance answers; undefined while it does not. */
async function asked(
  { api }: Instance,
  what: string,
): Promise<Record<string, unknown> | undefined> {
  try {
    const reply = await fetch(`http://${api}/rest/${what}`, { headers: { "X-API-Key": KEY } });
    return reply.ok ? ((await reply.json()) as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

async function until(what: string, isThere: () => Promise<boolean>): Promise<void> {
  const begun = performance.now();
  while (!(await isThere())) {
    check(performance.now() - begun < WAIT_MS, `syncthing: no ${what} within ${WAIT_MS} ms`);
    await sleep(LOOK_MS);
  }
}
