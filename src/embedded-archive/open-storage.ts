import { Blobs } from "./blobs.ts";
import { makePrivate } from "./privacy.ts";
import { Store } from "./store.ts";

/** The store and the blobs that its commits wait for, closed with `opened`. Nothing is swept away or fixed yet. */
export async function openStorage(
  dataDir: string,
  opened: AsyncDisposableStack,
  durable = true,
): Promise<{ store: Store; blobs: Blobs }> {
  makePrivate(dataDir);
  const blobs = await Blobs.open(dataDir, durable);
  opened.defer(() => blobs.close());
  const store = Store.open(dataDir, { beforeCommit: () => blobs.settle(), durable });
  opened.defer(() => store.close());
  return { store, blobs };
}
