/** The texts of the Debian package that say what it is: control, copyright, changelog. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Architecture } from "./node-runtime.ts";
import { licenceText, type Package, ROOT } from "./packages.ts";

/** Whom dpkg names; there is no mailbox that could be promised. */
const MAINTAINER = "scanferry maintainers <maintainers@scanferry.invalid>";

/** `installedKib` as `du` counts. */
export function control(version: string, architecture: Architecture, installedKib: number): string {
  return `Package: scanferry
Version: ${version}
Architecture: ${architecture}
Maintainer: ${MAINTAINER}
Installed-Size: ${installedKib}
Depends: libc6 (>= 2.36), libgcc-s1, libstdc++6 (>= 12), procps
Recommends: systemd (>= 252)
Section: net
Priority: optional
Description: carries scans into an online document archive
 Watches folders on this host and carries what settles there into the folders
 of an archive that speaks the interface v0_4: never what is not finished,
 never twice, never silently lost, with a journal that can explain every
 document.
 .
 Brings its own Node runtime, and nothing else is needed to run it.
`;
}

/** Of the version, what CHANGELOG.md says; `at` in epoch seconds. */
export function changelog(version: string, at: number): string {
  const text = readFileSync(join(ROOT, "CHANGELOG.md"), "utf8");
  const part = text.split(/^## /m)[1] ?? "";
  const points = part
    .replaceAll(/^### .*$/gm, "")
    .split(/^- /m)
    .slice(1);
  const lines = points.map((point) => {
    const words = point.trim().replaceAll("`", "").split(/\s+/);
    return wrapped(words, 74).map((line, index) => `${index === 0 ? "  * " : "    "}${line}`);
  });
  const date = new Date(at * 1000).toUTCString().replace("GMT", "+0000");
  return `scanferry (${version}) stable; urgency=medium

${lines.flat().join("\n")}

 -- ${MAINTAINER}  ${date}
`;
}

/** scanferry's own licence, then those of all that it carries. */
export function copyright(packages: readonly Package[]): string {
  const own = readFileSync(join(ROOT, "LICENSE"), "utf8").trim();
  return `scanferry, and the packages that it carries below /usr/lib/scanferry.

scanferry
---------

${own}

Node (node_modules/node)
------------------------

MIT, and the licences of what it is built from: /usr/lib/scanferry/node_modules/node/LICENSE.

${packages.map(paragraph).join("\n\n")}
`;
}

function paragraph(given: Package): string {
  const title = `${given.name} ${given.version} (${given.licence})`;
  const text = licenceText(given);
  const common = "The text is in /usr/share/common-licenses/Apache-2.0.";
  const said = given.licence === "Apache-2.0" ? common : (text ?? "The package carries no text.");
  return `${title}\n${"-".repeat(title.length)}\n\n${said}`;
}

function wrapped(words: readonly string[], width: number): string[] {
  const lines: string[] = [];
  for (const word of words) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width) {
      lines[lines.length - 1] = `${last} ${word}`;
    } else lines.push(word);
  }
  return lines;
}
