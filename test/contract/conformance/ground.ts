import { asiceOf, pdfOf } from "../../fixtures/documents.ts";
import { until } from "../../fixtures/until.ts";
import type { Ground } from "./behaviour-rows.ts";
import { outcomeOf, type RemoteArchive } from "./remote-archive.ts";

/** Uploads what the rows ask about into the folder and waits until it is converted. */
export async function prepare(archive: RemoteArchive, folderId: string): Promise<Ground> {
  const store = async (fields: Record<string, string>, file: Uint8Array) => {
    const reply = await archive.upload({ folderId, ...fields }, file);
    if (outcomeOf(reply) !== "OK") throw new Error(`not stored: ${JSON.stringify(reply.body)}`);
    return reply.body["document"] as Ground["pdf"]["uploaded"];
  };
  const bytes = pdfOf(3, {
    title: "From the file",
    author: "Its author",
    text: "kumquatconformance",
  });
  const sent = { filename: "conformance.pdf", metadataTitle: "Sent with it" };
  const uploaded = await store(sent, bytes);
  const container = asiceOf({ "a.txt": "a", "b.txt": "bb" });
  const digidoc = await store({ filename: "conformance.asice" }, container);
  for (const { id } of [uploaded, digidoc])
    await until(
      "CONVERTED",
      async () => {
        const { body } = await archive.ask("document", { id: String(id) });
        return (body["document"] as { status?: string } | undefined)?.status === "CONVERTED";
      },
      120_000,
    );
  return {
    archive,
    folderId,
    pdf: { id: String(uploaded.id), bytes: bytes.length, uploaded },
    digidoc: { id: String(digidoc.id) },
  };
}
