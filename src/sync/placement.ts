import type { Problem } from "../domain/document.ts";
import { FOLDER_CODES } from "../domain/code-sets.ts";
import type { LiveMirror } from "./context.ts";
import type { Folders } from "./folders.ts";

/** Where a document goes: its own folder, or what `missingFolder` says where that is not there. */
export class Placement {
  readonly #folders: Folders;

  constructor(folders: Folders) {
    this.#folders = folders;
  }

  /** Rejects with `ArchiveError` when the archive cannot be asked. */
  async of(
    targetPath: string,
    mirror: { readonly settings: Pick<LiveMirror["settings"], "missingFolder"> },
    signal: AbortSignal,
  ): Promise<{ folderId: number } | { problem: Problem }> {
    const policy = mirror.settings.missingFolder;
    const wanted = await this.#folders.resolve(targetPath, signal, policy.kind === "nearest");
    if (wanted.kind === "found") return wanted;
    // Twins and spellings are for a person to sort out; only what is missing has a substitute.
    if (wanted.problem.code !== "FOLDER_MISSING") return wanted;
    switch (policy.kind) {
      case "hold":
        return wanted;
      case "nearest":
        return wanted.nearestId === null ? wanted : { folderId: wanted.nearestId };
      case "fallback": {
        const fallback = await this.#folders.resolve(policy.path, signal);
        if (fallback.kind === "found") return fallback;
        const message = `${wanted.problem.message}, nor its fallback ${policy.path}`;
        return { problem: { code: fallback.problem.code, message } };
      }
    }
  }

  /** The archive refused a folder we knew: what is remembered of the tree is no longer true. */
  doubted(code: string): void {
    if (FOLDER_CODES.includes(code)) this.#folders.forget();
  }
}
