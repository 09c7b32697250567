/** The words of a printed receipt, in each language that it can be had in. */
import type { State } from "../domain/document.ts";

const ENGLISH = {
  title: (batch: string) => `Receipt of batch ${batch}`,
  done: "Receipt: in the archive",
  open: "Receipt: not all is in the archive yet",
  openNote: (documents: number) => `Not closed yet: ${documents} not CONVERTED.`,
  batch: "Batch",
  mirror: "Mirror",
  documents: "Documents",
  converted: (converted: number, all: number) => `${converted} of ${all} CONVERTED`,
  pages: "Pages",
  firstSeen: "First file seen",
  closed: "Closed",
  times: "Times",
  zone: (name: string) => `local time, ${name}`,
  file: "File",
  document: "Document",
  folder: "Folder",
  sent: "Sent",
  convertedAt: "CONVERTED",
  sentAs: "as",
  id: "id",
  duplicate: "was there already",
  unfinished: "unfinished by its format",
  bytes: (bytes: number) => `${bytes} bytes`,
  states: {} as Partial<Record<State, string>>,
};

export type ReceiptWords = typeof ENGLISH;

const GERMAN: ReceiptWords = {
  title: (batch) => `Beleg des Stapels ${batch}`,
  done: "Beleg: im Archiv",
  open: "Beleg: noch nicht alles im Archiv",
  openNote: (documents) => `Noch nicht abgeschlossen: ${documents} nicht CONVERTED.`,
  batch: "Stapel",
  mirror: "Mirror",
  documents: "Dokumente",
  converted: (converted, all) => `${converted} von ${all} CONVERTED`,
  pages: "Seiten",
  firstSeen: "Erste Datei gesehen",
  closed: "Abgeschlossen",
  times: "Zeiten",
  zone: (name) => `Ortszeit, ${name}`,
  file: "Datei",
  document: "Dokument",
  folder: "Ordner",
  sent: "Gesendet",
  convertedAt: "CONVERTED",
  sentAs: "als",
  id: "ID",
  duplicate: "war schon vorhanden",
  unfinished: "nach ihrem Format unfertig",
  bytes: (bytes) => `${bytes} Bytes`,
  states: {
    settling: "in Prüfung",
    pending: "bereit",
    uploading: "wird gesendet",
    inDoubt: "ungeklärt",
    uploaded: "gesendet",
    held: "zurückgehalten",
    failed: "fehlgeschlagen",
  },
};

export const RECEIPT_WORDS = { en: ENGLISH, de: GERMAN } as const;

/** A language that a receipt can be had in. */
export type ReceiptLanguage = keyof typeof RECEIPT_WORDS;
