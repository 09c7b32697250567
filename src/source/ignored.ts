/** A pattern over a single name, and why what it matches is never a document. */
export type Ignored = {
  readonly pattern: string;
  readonly because: string;
  /** What the pattern is asked for; default: both. */
  readonly of?: "file" | "directory";
};

const PARTIAL = "a download or copy that is not finished";
const LOCK = "an office program's lock or temporary file";
const EDITOR = "an editor's backup or swap file";
const NAS = "a network drive's own data";
const SYSTEM = "an operating system's own data";
const TRASH = "a recycle bin";
const SNAPSHOT = "old states of the file system";
const KERNEL = "a deleted file that some program still holds open";
const SYNC = "a synchroniser's own data";

/**
 * Names that are never mirrored, compared without regard to case. What a person might call a
 * document is not here: a leading dot alone, for one, is no reason. What programs write under a name
 * before it is whole is, even where a hidden file of that form is conceivable.
 */
export const IGNORED: readonly Ignored[] = [
  { pattern: ".scanferry-*", because: "a file that is being moved or deleted after archiving" },
  { pattern: ".scanferry.yaml", because: "what goes with the documents of its directory" },
  { pattern: ".scanferry~*", because: "a copy that is being made after archiving" },

  { pattern: "*.tmp", because: "a temporary file", of: "file" },
  { pattern: "*.temp", because: "a temporary file", of: "file" },
  { pattern: "*.part", because: PARTIAL, of: "file" },
  { pattern: "*.partial", because: PARTIAL, of: "file" },
  { pattern: "*.filepart", because: PARTIAL, of: "file" },
  { pattern: "*.crdownload", because: PARTIAL, of: "file" },
  { pattern: "*.opdownload", because: PARTIAL, of: "file" },
  { pattern: "*.download", because: PARTIAL, of: "directory" },
  { pattern: "*.aria2", because: PARTIAL, of: "file" },
  { pattern: ".rsync-partial", because: PARTIAL },
  { pattern: ".rsync-tmp", because: PARTIAL },
  { pattern: ".goutputstream-*", because: PARTIAL, of: "file" },
  { pattern: ".in.*.", because: "an upload to ProFTPD under way", of: "file" },
  { pattern: ".pureftpd-upload.*", because: "an upload to Pure-FTPd under way", of: "file" },
  { pattern: ".*.~+([0-9a-f])", because: "a download by Nextcloud under way", of: "file" },
  // `.scan.pdf.Ab12Cd`. With the inner dot at least what is hidden without an ending is left alone.
  { pattern: `.*.*.${"[0-9a-z]".repeat(6)}`, because: "a copy by rsync under way", of: "file" },

  { pattern: "~$*", because: LOCK, of: "file" },
  { pattern: ".~lock.*#", because: LOCK, of: "file" },
  { pattern: "*~", because: EDITOR, of: "file" },
  { pattern: ".*.sw[a-z]", because: EDITOR, of: "file" },
  { pattern: ".#*", because: EDITOR, of: "file" },

  { pattern: ".nfs[0-9a-f][0-9a-f][0-9a-f][0-9a-f]*", because: KERNEL, of: "file" },
  { pattern: ".fuse_hidden*", because: KERNEL, of: "file" },
  { pattern: ".smbdelete*", because: KERNEL, of: "file" },

  { pattern: "@eaDir", because: NAS },
  { pattern: "@tmp", because: NAS },
  { pattern: "*@SynoEAStream", because: NAS, of: "file" },
  { pattern: "*@SynoResource", because: NAS, of: "file" },
  { pattern: ".@__thumb", because: NAS },
  { pattern: "@__thumb", because: NAS },
  { pattern: ".@upload_cache", because: NAS },
  { pattern: "@Recently-Snapshot", because: SNAPSHOT },
  { pattern: "#snapshot", because: SNAPSHOT },
  { pattern: "~snapshot", because: SNAPSHOT },
  { pattern: ".snapshot", because: SNAPSHOT },
  { pattern: ".snapshots", because: SNAPSHOT },
  { pattern: ".zfs", because: SNAPSHOT },

  { pattern: "#recycle", because: TRASH },
  { pattern: "@Recycle", because: TRASH },
  { pattern: ".recycle", because: TRASH },
  { pattern: "$RECYCLE.BIN", because: TRASH },
  { pattern: "RECYCLER", because: TRASH, of: "directory" },
  { pattern: ".Trash", because: TRASH },
  { pattern: ".Trashes", because: TRASH },
  { pattern: ".Trash-*", because: TRASH },
  { pattern: "Network Trash Folder", because: TRASH },

  { pattern: "System Volume Information", because: SYSTEM },
  { pattern: "lost+found", because: SYSTEM, of: "directory" },
  { pattern: "Thumbs.db", because: SYSTEM },
  { pattern: "ehthumbs.db", because: SYSTEM },
  { pattern: "desktop.ini", because: SYSTEM },
  { pattern: ".directory", because: SYSTEM },
  { pattern: ".DS_Store", because: SYSTEM },
  { pattern: "._*", because: SYSTEM },
  { pattern: ".AppleDouble", because: SYSTEM },
  { pattern: ".AppleDB", because: SYSTEM },
  { pattern: ".AppleDesktop", because: SYSTEM },
  { pattern: ".TemporaryItems", because: SYSTEM },
  { pattern: "Temporary Items", because: SYSTEM, of: "directory" },
  { pattern: ".Spotlight-V100", because: SYSTEM },
  { pattern: ".fseventsd", because: SYSTEM },
  { pattern: ".DocumentRevisions-V100", because: SYSTEM },
  { pattern: ".apdisk", because: SYSTEM },

  { pattern: ".stfolder", because: SYNC },
  { pattern: ".stversions", because: SYNC },
  { pattern: ".stignore", because: SYNC },
];
