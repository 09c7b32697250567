/** The systemd unit that runs this configuration, as its files on this host have it: systemd.unit(5). */
import { readdirSync, readFileSync } from "node:fs";
import { basename, extname, join } from "node:path";

/** One that came before counts more than what follows. */
const FOLDERS = [
  "etc/systemd/system.control",
  "run/systemd/system.control",
  "etc/systemd/system",
  "run/systemd/system",
  "usr/local/lib/systemd/system",
  "usr/lib/systemd/system",
  "lib/systemd/system",
];

/** A unit, and what its section `[Service]` says. */
export type InstalledUnit = {
  readonly name: string;
  /** The values of a setting, in their order; an empty one takes back what came before it. */
  values(setting: string): string[];
};

/** `root` is that of the host; undefined where no unit is installed that runs `configFile`. */
export function installedUnit(configFile: string, root = "/"): InstalledUnit | undefined {
  const instance = basename(configFile, extname(configFile));
  const named = `scanferry@${instance}.service`;
  const candidates = [
    { name: "scanferry.service", files: ["scanferry.service"] },
    { name: named, files: [named, "scanferry@.service"] },
  ];
  const asked = `--config ${unquoted(configFile)} `;
  return candidates
    .map(({ name, files }) => ({ name, values: valuesIn(textsOf(files, root)) }))
    .find(({ values }) =>
      values("ExecStart").some((line) => {
        const specified = line.replaceAll("%i", instance).replaceAll("%%", "%");
        return unquoted(specified).includes(asked);
      }),
    );
}

function unquoted(words: string): string {
  return words.replaceAll(/["\\]/g, "");
}

/** The unit's own file, the first that is found, and its drop-ins in the order of their names; none without the former. */
function textsOf(files: readonly string[], root: string): string[] {
  const places = (names: readonly string[]) =>
    names.flatMap((name) => FOLDERS.map((folder) => join(root, folder, name)));
  const [unit] = places(files).flatMap((path) => textAt(path) ?? []);
  if (unit === undefined) return [];
  const dropIns = new Map<string, string>();
  for (const folder of places([...files, "service"].map((name) => `${name}.d`))) {
    for (const name of namesIn(folder)) {
      if (!name.endsWith(".conf") || dropIns.has(name)) continue;
      dropIns.set(name, textAt(join(folder, name)) ?? "");
    }
  }
  const inOrder = [...dropIns].sort(([one], [other]) => (one < other ? -1 : 1));
  return [unit, ...inOrder.map(([, text]) => text)];
}

function valuesIn(texts: readonly string[]): InstalledUnit["values"] {
  const settings = texts.flatMap(settingsIn);
  return (setting) => {
    const values = settings.flatMap(([name, value]) => (name === setting ? [value] : []));
    return values.slice(values.lastIndexOf("") + 1);
  };
}

/** The assignments of `[Service]`. */
function settingsIn(text: string): [name: string, value: string][] {
  let section = "";
  const lines = text.replaceAll(/^[ \t]*[#;].*\n/gm, "").replaceAll(/\\\n/g, " ");
  return lines.split("\n").flatMap((line): [string, string][] => {
    section = /^\s*\[(.*)\]\s*$/.exec(line)?.[1] ?? section;
    const [, name, value] = /^\s*(\w+)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    return name === undefined || value === undefined || section !== "Service"
      ? []
      : [[name, value]];
  });
}

function textAt(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
