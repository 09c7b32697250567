/** The bill of materials (CycloneDX): npm's own, made the same for every build, and Node with it. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { NODE_VERSION, RUNTIMES } from "../package/node-runtime.ts";
import { manifest, productionPackages, ROOT } from "../package/packages.ts";

type Bill = {
  serialNumber: string;
  metadata: { timestamp: string; component: { name: string; type: string } };
  components: { "bom-ref": string }[];
  dependencies: { ref: string; dependsOn: string[] }[];
};

/** Its text; `at` in epoch seconds. */
export function billOfMaterials(at: number): string {
  // All of it, and only then what runs: `--omit dev` leaves out whatever a tool needs as well.
  const printed = execFileSync(
    "npm",
    ["sbom", "--sbom-format", "cyclonedx", "--package-lock-only"],
    {
      cwd: ROOT,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
      maxBuffer: 1 << 26,
    },
  );
  const bill = JSON.parse(printed) as Bill;
  const { name, version } = { name: "scanferry", version: manifest().version };
  const running = new Set(productionPackages().map((each) => `${each.name}@${each.version}`));
  bill.components = bill.components.filter((component) => running.has(component["bom-ref"]));
  running.add(`${name}@${version}`);
  bill.dependencies = bill.dependencies
    .filter(({ ref }) => running.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((on) => running.has(on)) }));
  bill.metadata.timestamp = new Date(at * 1000).toISOString();
  // npm names it by the directory that it lies in.
  Object.assign(bill.metadata.component, { name, type: "application" });
  bill.components.push(...Object.values(RUNTIMES).map(runtime));
  bill.serialNumber = "";
  const hash = createHash("sha256").update(JSON.stringify(bill)).digest("hex");
  bill.serialNumber = `urn:uuid:${uuidOf(hash)}`;
  return `${JSON.stringify(bill, null, 2)}\n`;
}

function runtime({ package: name, integrity }: (typeof RUNTIMES)["amd64"]) {
  const content = Buffer.from(integrity.replace("sha512-", ""), "base64").toString("hex");
  return {
    "bom-ref": `${name}@${NODE_VERSION}`,
    type: "platform",
    name,
    version: NODE_VERSION,
    scope: "required",
    purl: `pkg:npm/${name}@${NODE_VERSION}`,
    hashes: [{ alg: "SHA-512", content }],
    licenses: [{ license: { id: "MIT" } }],
  };
}

/** As a name-based UUID (version 8: of one's own making). */
function uuidOf(hex: string): string {
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
  ];
  return [...parts, hex.slice(20, 32)].join("-");
}
