import type { Journal } from "../journal/journal.ts";

/**
 * The ids of the mirrors that are configured. The journal keeps the documents of others, too, for when
 * they come back; until then nobody works on them, and nobody has to be told about them.
 */
export async function configuredIds(
  journal: Pick<Journal, "mirrors">,
  { mirrors }: { readonly mirrors: readonly { readonly name: string }[] },
): Promise<ReadonlySet<number>> {
  const names = new Set(mirrors.map(({ name }) => name));
  const rows = await journal.mirrors();
  return new Set(rows.flatMap(({ id, name }) => (names.has(name) ? [id] : [])));
}
