/**
 * Holds an archive at any address against the interface document, row by row:
 *
 *     npm run conformance -- --url URL --key K --secret S [--folder-id N]
 *
 * The rows are those of the contract tests in test/contract/conformance; requests are signed with
 * the scheme `hmac`. It uploads about seventy small documents into the folder (the root without
 * `--folder-id`), and never deletes one, since the interface cannot. Prints a table; ends with 1
 * when a row fails that the document requires. Rows marked "open" are where archives may differ.
 */
import { parseArgs } from "node:util";
import type { Operation } from "../src/wire/shapes.ts";
import { BEHAVIOUR_ROWS, type Ground } from "../test/contract/conformance/behaviour-rows.ts";
import { prepare } from "../test/contract/conformance/ground.ts";
import {
  PARAMETER_ROWS,
  type ParameterRow,
  referenceOf,
} from "../test/contract/conformance/parameter-rows.ts";
import { outcomeOf, RemoteArchive } from "../test/contract/conformance/remote-archive.ts";

/** What became of one row. */
export type Verdict = {
  readonly reference: string;
  readonly claim: string;
  readonly required: boolean;
  /** Undefined: it holds. */
  readonly otherwise: string | undefined;
};

/** Asks for every row, one after another; `path` is the folder's, for the rows that need one. */
export async function* verdicts(ground: Ground, path: string | undefined): AsyncGenerator<Verdict> {
  for (const { reference, claim, required, holds } of BEHAVIOUR_ROWS)
    yield { reference, claim, required, otherwise: await told(() => holds(ground)) };
  for (const operation of Object.keys(PARAMETER_ROWS) as Operation[])
    for (const row of PARAMETER_ROWS[operation]) {
      const [parameter, value, expected, because, open] = row;
      const asked = askedOf(operation, row, ground, path);
      if (!asked) continue;
      yield {
        reference: referenceOf(operation, parameter),
        claim: `${shown(value)} gives ${expected}: ${because}`,
        required: open === undefined,
        otherwise: await told(() => outcome(operation, asked, expected, ground)),
      };
    }
}

/** The fields of a row's request; undefined where the row cannot be asked here. */
function askedOf(
  operation: Operation,
  [parameter, value, expected]: ParameterRow,
  ground: Ground,
  path: string | undefined,
): Record<string, string> | undefined {
  const { folderId, digidoc } = ground;
  const fields: Record<string, string> = {};
  if (operation === "digidoc") fields["digidocId"] = digidoc.id;
  if (operation === "document") fields["id"] = digidoc.id;
  if (operation === "upload") Object.assign(fields, { filename: "conformance.txt", folderId });
  if (value?.includes("{folder}") && path === undefined) return undefined;
  // Those would be stored elsewhere than in the folder that was named.
  const strays = parameter === "folderId" || (parameter === "path" && value === "/");
  if (operation === "upload" && strays && expected === "OK") return undefined;
  if (parameter === "path") delete fields["folderId"];
  if (operation === "upload" && parameter === "path" && value === undefined)
    fields["folderId"] = folderId;
  delete fields[parameter];
  if (value !== undefined) fields[parameter] = value.replace("{folder}", path ?? "");
  return fields;
}

async function outcome(
  operation: Operation,
  fields: Record<string, string>,
  expected: string,
  { archive }: Ground,
): Promise<string | undefined> {
  const reply =
    operation === "upload" ? await archive.upload(fields) : await archive.ask(operation, fields);
  const met = outcomeOf(reply);
  const text = typeof met === "string" ? met : JSON.stringify(met);
  return text === expected || new RegExp(`"${expected}"`).test(text) ? undefined : text;
}

async function told(ask: () => Promise<string | undefined>): Promise<string | undefined> {
  try {
    return await ask();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const shown = (value: string | undefined): string =>
  value === undefined
    ? "absent"
    : JSON.stringify(value.length > 40 ? `${value.slice(0, 37)}...` : value);

/** `/A/B` of a folder, found by climbing to the root; undefined where a parent is not shown. */
async function pathOf(archive: RemoteArchive, id: string): Promise<string | undefined> {
  const names: string[] = [];
  let next: string | undefined = id;
  while (next !== undefined) {
    const { body } = await archive.ask("folder", { id: next });
    const folder = body["folder"] as
      | { name?: string; root?: boolean; parentId?: number }
      | undefined;
    if (folder?.root === true) break;
    if (folder?.name === undefined || folder.parentId === undefined) return undefined;
    names.unshift(folder.name);
    next = String(folder.parentId);
  }
  return names.length === 0 ? undefined : `/${names.join("/")}`;
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      url: { type: "string" },
      key: { type: "string" },
      secret: { type: "string" },
      "folder-id": { type: "string" },
    },
  });
  const { url, key, secret } = values;
  if (url === undefined || key === undefined || secret === undefined) {
    console.error("usage: npm run conformance -- --url URL --key K --secret S [--folder-id N]");
    return 2;
  }
  const archive = new RemoteArchive(url, { key, secret });
  const root = (await archive.ask("folder")).body["folder"] as { id: number } | undefined;
  const folderId = values["folder-id"] ?? String(root?.id ?? "");
  const ground = await prepare(archive, folderId);
  const path = await pathOf(archive, folderId);
  const counts = { holds: 0, open: 0, fails: 0 };
  for await (const { reference, claim, required, otherwise } of verdicts(ground, path)) {
    const word = otherwise === undefined ? "holds" : required ? "fails" : "open";
    counts[word] += 1;
    const met = otherwise === undefined ? "" : ` | instead: ${otherwise}`;
    console.log(`${word.padEnd(5)} | ${reference.padEnd(34)} | ${claim}${met}`);
  }
  console.log(
    `\n${counts.holds} hold, ${counts.fails} fail, ${counts.open} differ where the document is open`,
  );
  return counts.fails === 0 ? 0 : 1;
}

if (import.meta.main) process.exitCode = await main();
