/** What the pages say of the code is true, as far as a test can tell. */
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { failureReference } from "../../scripts/failure-reference.ts";
import { metricsReference } from "../../scripts/metrics-reference.ts";
import { deadLinks } from "../fixtures/links.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const read = (path: string) => readFileSync(join(root, path), "utf8");

const pages = [
  "README.md",
  "CHANGELOG.md",
  "GOALS.md",
  "CONTRIBUTING.md",
  ...readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`),
];

test("docs/errors.md is what the tables say; node scripts/failure-reference.ts writes it", () => {
  expect(read("docs/errors.md")).toBe(failureReference());
});

test("docs/metrics.md is what the table says; node scripts/metrics-reference.ts writes it", () => {
  expect(read("docs/metrics.md")).toBe(metricsReference());
});

test("docs/errors.md knows every code that a Fault is made with", () => {
  const sources = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => read(`src/${name}`));
  const codes = sources.flatMap((text) =>
    [...text.matchAll(/\b(?:new Fault|super)\(\s*"([A-Z]+(?:_[A-Z]+)+)"/g)].map(([, code]) => code),
  );
  const known = read("docs/errors.md");
  expect(codes.length).toBeGreaterThan(5);
  expect(codes.filter((code) => !known.includes(`\`${code}\``))).toEqual([]);
});

test("docs/troubleshooting.md quotes what the program prints", () => {
  const sources = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    // Without comments; a message that is longer than a line of source is one message.
    .map((name) =>
      read(`src/${name}`)
        .replaceAll(/\/\*\*[^]*?\*\//g, "")
        .replaceAll(/["`]\s*\+\s*["`]/g, ""),
    );
  const symptoms = [...read("docs/troubleshooting.md").matchAll(/^\| (?<symptom>.+?) \| /gm)];
  const quoted = symptoms
    .flatMap(([, symptom = ""]) => [...symptom.matchAll(/`([^`]+)`/g)])
    .flatMap(([, message = ""]) => message.split("…"))
    .map((part) => part.trim())
    .filter((part) => part.length > 2);
  expect(quoted.length).toBeGreaterThan(50);
  const isPrinted = (part: string) => sources.some((text) => text.includes(part));
  expect(quoted.filter((part) => !isPrinted(part))).toEqual([]);
});

describe.for(pages)("%s", (page) => {
  const text = read(page);

  test("links to files and headings that are there", () => {
    expect(deadLinks(root, page)).toEqual([]);
  });

  test("names files that are there, and what they hold", () => {
    const named = text.matchAll(
      /`(?<file>(?:src|test|scripts|assets)\/[\w./-]+)`(?:\s+\(`(?<symbol>\w+)`\))?/g,
    );
    const wrong = [...named].flatMap(({ groups }) => {
      const { file = "", symbol } = groups as { file?: string; symbol?: string };
      if (!existsSync(join(root, file))) return [file];
      const holds = symbol === undefined || new RegExp(`\\b${symbol}\\b`).test(read(file));
      return holds ? [] : [`${file} (${symbol})`];
    });
    expect(wrong).toEqual([]);
  });
});

describe("packaging", () => {
  const { devDependencies } = JSON.parse(read("package.json")) as {
    devDependencies: Record<string, string>;
  };

  test("the image runs the Node that the project pins", () => {
    expect(/^ARG NODE_VERSION=(.+)$/m.exec(read("Dockerfile"))?.[1]).toBe(devDependencies["node"]);
  });

  test("what the Dockerfile copies is let through by .dockerignore", () => {
    const copied = [...read("Dockerfile").matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(
      ([, names = ""]) => names.split(" "),
    );
    const letThrough = read(".dockerignore")
      .split("\n")
      .filter((line) => line.startsWith("!"))
      .map((line) => line.slice(1));
    expect(copied.length).toBeGreaterThan(5);
    expect(copied.filter((name) => !letThrough.includes(name))).toEqual([]);
    expect(copied.filter((name) => !existsSync(join(root, name)))).toEqual([]);
  });

  test("scanferry@ is scanferry but for its name", () => {
    const settingsOf = (unit: string) => read(unit).replaceAll(/^#.*\n/gm, "");
    const named = settingsOf("systemd/scanferry@.service")
      .replace(" (%i)", "")
      .replace("/%i.yaml", "/scanferry.yaml")
      .replaceAll("secrets/%i/", "secrets/")
      .replace("scanferry-%i", "scanferry");
    expect(named).toBe(settingsOf("systemd/scanferry.service"));
  });

  test("the service leaves more time to stop than `shutdown` is by default", () => {
    const seconds = Number(/^TimeoutStopSec=(\d+)s$/m.exec(read("systemd/scanferry.service"))?.[1]);
    expect(seconds).toBeGreaterThan(20);
  });
});
