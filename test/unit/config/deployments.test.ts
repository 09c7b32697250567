/** What is shipped for containers fits together: the configuration in it, its mounts, secrets and probes. */
import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import type { Config } from "../../../src/config/config.ts";
import { loadConfig } from "../../../src/config/load-config.ts";
import { ConfigFolder } from "./config-folder.ts";

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8");

/** Where secrets lie in a container. */
const SECRET_FILE = /\/run\/secrets\/(?:scanferry\/)?([\w.]+)/g;

type Compose = {
  readonly services: {
    readonly scanferry: {
      readonly volumes: readonly string[];
      readonly secrets: readonly string[];
      readonly ports?: readonly string[];
      readonly deploy?: { readonly replicas: number };
      readonly environment: Readonly<Record<string, string>>;
      readonly user: string;
      readonly restart: string;
      readonly depends_on?: Readonly<Record<string, unknown>>;
      readonly stop_grace_period: string;
    };
    readonly postgres?: { readonly environment: Readonly<Record<string, string>> };
  };
  readonly configs?: unknown;
  readonly secrets: Readonly<Record<string, unknown>>;
};

/** Loads a configuration that names secrets in a container, with files of that name; and these names. */
async function loaded(text: string): Promise<{ config: Config; secrets: string[] }> {
  const secrets = [...text.matchAll(SECRET_FILE)].map(([, name = ""]) => name);
  using folder = new ConfigFolder(text.replaceAll(SECRET_FILE, "$1"));
  for (const name of secrets) folder.write(name, "canary-0123456789abcdef");
  return { config: await folder.load({}), secrets };
}

/** The same of a container that is set up by its environment alone, with Compose's own defaults. */
async function loadedFrom(environment: Readonly<Record<string, string>>) {
  using folder = new ConfigFolder();
  const secrets: string[] = [];
  const file = (_: string, name: string) => {
    secrets.push(name);
    return folder.write(name, "canary-0123456789abcdef");
  };
  const env = Object.fromEntries(
    Object.entries(environment).map(([name, value]) => [
      name,
      value.replace(/^\$\{\w+:-(.*)\}$/, "$1").replace(SECRET_FILE, file),
    ]),
  );
  const { SCANFERRY_WEB_LISTEN = "" } = imageVariables();
  const all = { SCANFERRY_WEB_LISTEN, ...env };
  return { config: await loadConfig({ file: undefined, env: all, cwd: folder.path }), secrets };
}

/** What the image itself sets. */
function imageVariables(): Readonly<Record<string, string>> {
  const set = read("Dockerfile").matchAll(/\b(SCANFERRY_\w+)=(\S+)/g);
  return Object.fromEntries([...set].map(([, name = "", value = ""]) => [name, value]));
}

function shutdownOf(config: Config): number {
  return config.shutdownMs / 1_000;
}

describe.for(["compose.yaml", "compose.several.yaml"])("%s", (name) => {
  const { services, configs, secrets } = parse(read(name), { merge: true }) as Compose;
  const { scanferry } = services;

  test("gives the daemon what its environment names", async () => {
    const { config, secrets: named } = await loadedFrom(scanferry.environment);
    expect(scanferry.secrets.toSorted()).toEqual(named.toSorted());
    expect(Object.keys(secrets)).toEqual(expect.arrayContaining(named));
    for (const { source } of config.mirrors) {
      expect(scanferry.volumes.map((volume) => volume.split(":")[1])).toContain(source);
    }
    expect(Number.parseInt(scanferry.stop_grace_period, 10)).toBeGreaterThan(shutdownOf(config));
    expect(config.web?.host).toBe("0.0.0.0");
    expect(scanferry.ports?.[0]?.split(":").at(-1)).toBe(`${config.web?.port}`);
    if (typeof config.journal !== "string") return;
    const volumes = scanferry.volumes.map((volume) => volume.split(":")[1]);
    expect(volumes).toContain(dirname(config.journal));
  });

  test("runs on older versions of Compose, after a restart, and as a user of the host's", () => {
    expect(configs, "inline configurations are of Compose 2.23").toBeUndefined();
    expect(scanferry.restart).toBe("unless-stopped");
    expect(scanferry.user).toBe("${PUID:-10001}:${PGID:-10001}");
  });
});

test("compose.several.yaml runs several daemons on the PostgreSQL next to them", async () => {
  const { services } = parse(read("compose.several.yaml"), { merge: true }) as Compose;
  const { scanferry, postgres } = services;
  const { config } = await loadedFrom(scanferry.environment);
  if (typeof config.journal === "string") throw new Error("the journal is a file");
  const { hostname, username, pathname } = new URL(config.journal.server);
  expect(Object.keys(scanferry.depends_on ?? {})).toContain(hostname);
  expect(postgres?.environment["POSTGRES_USER"]).toBe(username);
  // The image names the database like the user.
  expect(pathname).toBe(`/${username}`);
  expect(scanferry.deploy?.replicas).toBe(2);
  expect(scanferry.ports).toEqual([`127.0.0.1:8470-8471:${config.web?.port}`]);
});

type Resource = {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly data?: Readonly<Record<string, string>>;
  readonly spec: Deployment;
};

type Deployment = {
  readonly replicas: number;
  readonly strategy: { readonly type: string };
  readonly selector: { readonly matchLabels: unknown };
  readonly template: { readonly metadata: { readonly labels: unknown }; readonly spec: Pod };
};

type Pod = {
  readonly terminationGracePeriodSeconds: number;
  readonly affinity: {
    readonly podAntiAffinity: {
      readonly requiredDuringSchedulingIgnoredDuringExecution: readonly {
        readonly topologyKey: string;
        readonly labelSelector: { readonly matchLabels: unknown };
      }[];
    };
  };
  readonly securityContext: { readonly fsGroup: number };
  readonly containers: readonly {
    readonly args: readonly string[];
    readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
    readonly livenessProbe: Probe;
    readonly readinessProbe: Probe;
    readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
  }[];
  readonly volumes: readonly ({ readonly name: string } & Readonly<Record<string, unknown>>)[];
};

type Probe = { readonly httpGet: { readonly path: string; readonly port: string } };

describe("config/kubernetes.yaml", () => {
  const resources = parseAllDocuments(read("config/kubernetes.yaml")).map((document) => {
    expect(document.errors).toEqual([]);
    return document.toJS() as Resource;
  });
  const of = (kind: string) => {
    const resource = resources.find((each) => each.kind === kind);
    if (!resource) throw new Error(`no ${kind}`);
    return resource;
  };
  const { spec } = of("Deployment");
  const pod = spec.template.spec;
  const [container] = pod.containers;
  const mounts = container?.volumeMounts ?? [];
  const text = of("ConfigMap").data?.["scanferry.yaml"] ?? "";

  test("holds a configuration that loads, with a journal that can be shared", async () => {
    const { config } = await loaded(text);
    expect(typeof config.journal).toBe("object");
    expect(container?.ports).toEqual([{ name: "page", containerPort: config.web?.port }]);
    expect(mounts.map(({ mountPath }) => mountPath)).toEqual(
      expect.arrayContaining(config.mirrors.map(({ source }) => source)),
    );
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(shutdownOf(config));
  });

  test("mounts what the configuration and the arguments name", async () => {
    const { secrets } = await loaded(text);
    expect(secrets.length).toBe(4);
    const places = mounts.map(({ mountPath }) => mountPath);
    expect(places).toContain("/run/secrets/scanferry");
    expect(places).toContain("/etc/scanferry");
    expect(container?.args).toContain("/etc/scanferry/scanferry.yaml");
    expect(pod.volumes.map(({ name }) => name).toSorted()).toEqual(
      mounts.map(({ name }) => name).toSorted(),
    );
    const secret = pod.volumes.find(({ name }) => name === "secrets")?.["secret"];
    expect(secret).toEqual({ secretName: "scanferry", defaultMode: 0o440 });
    // Every file is named in how the secret is made.
    const made = [...read("config/kubernetes.yaml").matchAll(/--from-file=([\w.]+)/g)];
    expect(made.map(([, name = ""]) => name).toSorted()).toEqual(secrets.toSorted());
  });

  test("keeps two daemons apart, and never runs two versions at once", () => {
    expect(spec.replicas).toBe(2);
    expect(spec.strategy).toEqual({ type: "Recreate" });
    const { labels } = spec.template.metadata;
    expect(spec.selector.matchLabels).toEqual(labels);
    const [apart] = pod.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution;
    expect(apart?.labelSelector.matchLabels).toEqual(labels);
    expect(apart?.topologyKey).toBe("kubernetes.io/hostname");
  });

  test("is asked whether it works, and whether it is ready", () => {
    expect(container?.livenessProbe.httpGet).toEqual({ path: "/healthz", port: "page" });
    expect(container?.readinessProbe.httpGet).toEqual({ path: "/readyz", port: "page" });
  });

  test("claims the volume that it brings", () => {
    const volume = of("PersistentVolume").metadata.name;
    const claim = of("PersistentVolumeClaim");
    expect(claim.spec).toMatchObject({ volumeName: volume });
    const used = pod.volumes.find(({ name }) => name === "scans")?.["persistentVolumeClaim"];
    expect(used).toMatchObject({ claimName: claim.metadata.name });
  });
});
