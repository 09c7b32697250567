import type { Seen } from "../domain/document.ts";
import type { Problem } from "../domain/document.ts";
import type { Completeness } from "../formats/completeness.ts";
import type { SidecarRead } from "../domain/attributes.ts";
import type { Notes } from "../rules/notes.ts";
import type { ReadyBy, SidecarUse } from "../rules/rules.ts";
import type { RawPath } from "../std/raw-path.ts";

/** What the source room needs to know of a mirror. Plain data: it crosses into the reader process. */
export type SourceSettings = {
  /** Absolute path of the directory. */
  readonly source: string;
  /** Globs over the relative path; a file is mirrored when one of `include` and none of `exclude` matches. */
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  /** Directories below the source that are left out whole (relative), e.g. where finished files are moved. */
  readonly without: readonly string[];
  /** Device the source had when it last had entries; a different one, or none, means offline. */
  readonly device: string | null;
  /** True when inode and ctime are not to be trusted (network file systems). */
  readonly network: boolean;
  /** Whether documents have sidecars, which are then no documents themselves; absent: `none`. */
  readonly sidecar?: SidecarUse;
  /** What makes a file ready next to its quiet time; absent: nothing. */
  readonly ready?: ReadyBy;
  /** What stands next to a document is read once it has been quiet for this long. */
  readonly settleMs?: number;
};

/** A file of a listing. */
export type FileSeen = { readonly name: RawPath; readonly seen: Seen };

/** One directory as it is now: every eligible file in it, unless it `isPartial`. */
export type Listing = {
  readonly dir: RawPath;
  /** Changes whenever a file of the listing does; compared, never parsed. */
  readonly fingerprint: string;
  readonly files: readonly FileSeen[];
  /** An entry did not tell what it is: what is missing may be there. */
  readonly isPartial?: true;
};

/** Something that could not be read; the rest goes on. */
export type UnreadableEntry = { readonly path: RawPath; readonly problem: Problem };

/** What a whole scan found. */
export type ScanReport = {
  readonly directories: number;
  readonly files: number;
  /** Directories that were known and are not there any more. */
  readonly vanished: readonly RawPath[];
  readonly unreadable: readonly UnreadableEntry[];
  /** Names that are left out for good reasons worth outbox entry: links, sockets, pipes, devices. */
  readonly leftOut: number;
  readonly links: FoundLinks;
};

/** Links whose names would do for a file or a directory; of the latter the first thousand by their paths. */
export type FoundLinks = { readonly paths: readonly RawPath[]; readonly number: number };

/** Whether a source can be trusted to show what it holds. */
export type SourceStatus =
  | { readonly kind: "online"; readonly device: string }
  | { readonly kind: "offline"; readonly why: string };

/** What the files next to a document say of it; or why it has to wait for them. */
export type FoundNotes =
  | {
      readonly kind: "notes";
      readonly sidecar: Notes | null;
      /** The file that holds them; absent where there is none. */
      readonly sidecarRead?: SidecarRead;
    }
  | { readonly kind: "waits"; readonly problem: Problem };

/** What a file begins with: its SHA-256, hex, and its pages, where they can be counted. */
export type Beginning = { readonly digest: string; readonly pages: number | undefined };

/** What a close look at one file found. */
export type Inspection =
  /** Unchanged since `stamp`, complete (or `unfinished`), hashed. */
  | {
      kind: "whole";
      digest: string;
      seen: Seen;
      /** When the file was made, epoch ms; absent where its file system does not know. */
      bornAt?: number;
      completeness: Completeness;
      /** Of an unfinished one: what is missing, for people. */
      why?: string;
      pages?: number;
      /** No time was left to count them; looked at again, they may be known. */
      isUncounted?: boolean;
      /** Of its first bytes, as they were before more was appended; absent where nobody asked. */
      beginning?: Beginning;
      /** What the files next to it say; absent where nobody asked. */
      notes?: Extract<FoundNotes, { kind: "notes" }>;
    }
  /** Something next to it is missing or broken; the file itself was not read. */
  | { kind: "waits"; seen: Seen; problem: Problem }
  /** Not as it was: its stamp differs, or it changed while it was read. */
  | { kind: "changed"; seen: Seen }
  | { kind: "gone" }
  | { kind: "unreadable"; problem: Problem };

/** What is to be there where an after-action acts. */
export type ArchivedFile = {
  /** SHA-256 of the content, hex. */
  readonly digest: string;
  /** When it was sent, epoch milliseconds; null: it was not. */
  readonly sentAt: number | null;
  /** The sidecar that was read for it; null: none was. */
  readonly sidecar: SidecarRead | null;
};

/** What became of an after-action. */
export type Acted =
  /** `stayed`: what stands next to it could not follow, and why. */
  | { kind: "done"; to?: string; stayed?: string }
  | { kind: "gone" }
  | { kind: "refused"; problem: Problem };
