/**
 * Prints the runtime configuration (OCI) of a container of the image, as `docker run --read-only
 * --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges --network none --user UID` makes it.
 *
 *     node bundle.ts --image IMAGE.json --root DIR --user UID [--network PATH]
 *       [--write TO=FROM]... [--read TO=FROM]... [--env NAME=VALUE]... [--] [COMMAND...]
 */
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";

/** What `buildah inspect` tells of an image, as far as it is needed here. */
type Inspected = {
  readonly Docker: {
    readonly config: {
      readonly Entrypoint: string[];
      readonly Cmd: string[];
      readonly Env: string[];
      readonly WorkingDir: string;
    };
  };
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    image: { type: "string", default: "" },
    root: { type: "string", default: "" },
    user: { type: "string", default: "10001" },
    network: { type: "string" },
    write: { type: "string", multiple: true, default: [] },
    read: { type: "string", multiple: true, default: [] },
    env: { type: "string", multiple: true, default: [] },
  },
});
const { config } = (JSON.parse(readFileSync(values.image, "utf8")) as Inspected).Docker;
const uid = Number(values.user);

function mountOf(given: string, mode: "ro" | "rw") {
  const [destination, source] = given.split("=");
  return { destination, source, type: "bind", options: ["rbind", "nosuid", "nodev", mode] };
}

const none: string[] = [];
const spec = {
  ociVersion: "1.0.2",
  process: {
    user: { uid, gid: uid },
    args: [...config.Entrypoint, ...(positionals.length > 0 ? positionals : config.Cmd)],
    // The later one counts, as with `docker run --env`.
    env: [...config.Env, ...values.env],
    cwd: config.WorkingDir,
    capabilities: {
      bounding: none,
      effective: none,
      permitted: none,
      inheritable: none,
      ambient: none,
    },
    noNewPrivileges: true,
    terminal: false,
  },
  root: { path: values.root, readonly: true },
  hostname: "scanferry",
  mounts: [
    { destination: "/proc", type: "proc", source: "proc" },
    { destination: "/dev", type: "tmpfs", source: "tmpfs", options: ["nosuid", "mode=755"] },
    { destination: "/tmp", type: "tmpfs", source: "tmpfs", options: ["noexec", "nosuid", "nodev"] },
    ...values.write.map((given) => mountOf(given, "rw")),
    ...values.read.map((given) => mountOf(given, "ro")),
  ],
  linux: {
    namespaces: [
      { type: "network", ...(values.network === undefined ? {} : { path: values.network }) },
      ...["pid", "ipc", "uts", "mount"].map((type) => ({ type })),
    ],
    maskedPaths: ["/proc/kcore", "/proc/keys", "/proc/timer_list"],
    readonlyPaths: ["/proc/sys", "/proc/sysrq-trigger"],
  },
};
console.log(JSON.stringify(spec));
