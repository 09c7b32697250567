/** Replies of the archive as lines for people. */
import type { ContainedDocument } from "../../archive/archive.ts";
import type { FolderDetail, PageTotals } from "../../wire/shapes.ts";
import { padded, table } from "../text-table.ts";
import { printable } from "../../std/printable.ts";
import { counted, sizeText, timeText } from "../../std/wording.ts";

/** A page of documents. */
export function documentsLines(
  reply: PageTotals & { documents: readonly ContainedDocument[] },
): string[] {
  const rows = reply.documents.map((document) => [
    String(document.id),
    printable(document.status ?? ""),
    String(document.pages),
    sizeText(document.filesize),
    document.uploadedDate === undefined ? "" : timeText(document.uploadedDate),
    String(document.folderId ?? ""),
    printable(document.filename),
  ]);
  if (rows.length === 0) return ["no documents"];
  const heading = ["ID", "STATUS", "PAGES", "SIZE", "UPLOADED", "FOLDER", "NAME"];
  return [...table([heading, ...rows], [0, 2, 3, 5]), pageLine(reply, rows.length, "document")];
}

/** A page of folders. */
export function foldersLines(reply: PageTotals & { folders: readonly FolderDetail[] }): string[] {
  const rows = reply.folders.map((folder) => [
    String(folder.id),
    folder.parentId === undefined ? "" : String(folder.parentId),
    timeText(folder.createdDate),
    printable(folder.name),
  ]);
  if (rows.length === 0) return ["no folders"];
  const heading = ["ID", "PARENT", "CREATED", "NAME"];
  return [...table([heading, ...rows], [0, 1]), pageLine(reply, rows.length, "folder")];
}

function pageLine({ paginationPages }: PageTotals, items: number, noun: string): string {
  return paginationPages > 1
    ? `${counted(items, noun)} on this page of ${paginationPages}; see --pagination-index`
    : counted(items, noun);
}

/** A document or a folder, a field a line. */
export function fieldLines(fields: object): string[] {
  return Object.entries(fields).map(([name, value]) => {
    const isTime = name.endsWith("Date") && typeof value === "number";
    return `${padded(name, 16)}  ${isTime ? timeText(value) : printable(String(value))}`;
  });
}
