/** A pattern over a single name, and why what it matches is never a document. */
export type Ignored = {
  readonly pattern: string;
  readonly because: string;
  /** What the pattern is asked for; default: both. */
  readonly of?: "file" | "directory";
};

const PARTIAL = "a download or copy that is not finished";
const LOCK = "an office program's lock or temporary file";
const SAVING = "a document that macOS is saving";
const KERNEL = "a deleted file that some program still holds open";
const NAS = "a network drive's own data";
const SNAPSHOT = "old states of the file system";
const TRASH = "a recycle bin";
const SYSTEM = "an operating system's own data";
const STREAM = "a named stream of another file, written as a file";
const SYNC = "a synchroniser's own data";
const PLACEHOLDER = "a placeholder of a document that is elsewhere";

const HEX_4 = "[0-9a-f]".repeat(4);
const HEX_8 = HEX_4.repeat(2);
const ALNUM_6 = "[0-9a-z]".repeat(6);
/** As names have it where a colon is not allowed: Cygwin, WSL and Samba write U+F03A, macOS U+F022. */
const COLON = "[:\uf03a\uf022]";

/**
 * Names that are never mirrored, compared without regard to case, with the source of each group. What a
 * person might call a document is not here. What programs write under a name before it is whole is, even
 * where a hidden file of that form is conceivable. Hidden names are here for those whose `include` names
 * the dot; of others they stay out anyway.
 */
export const IGNORED: readonly Ignored[] = [
  // This program.
  ...files("a file that is being moved or deleted after archiving", ".scanferry-*"),
  ...files("a copy that is being made after archiving", ".scanferry~*"),
  ...files("notes for its directory, which are read no more: use `rules`", ".scanferry.yaml"),

  // Nextcloud's, ownCloud's and Mountain Duck's lists; `.partial`: rclone.
  ...files("a temporary file", "*.tmp", "*.temp"),
  ...files(PARTIAL, "*.part", "*.partial", "*.filepart", "*.crdownload"),
  // Opera; Safari (a directory); aria2; Chrome's writing to a file that a page may write; Resilio's manual.
  ...files(PARTIAL, "*.opdownload", "*.aria2", "*.crswap", "*.!sync", "*.SyncPart", "*.SyncTemp"),
  ...directories(PARTIAL, "*.download"),
  // µTorrent, qBittorrent, BitComet: settings for unfinished files.
  ...files(PARTIAL, "*.!ut", "*.!qB", "*.bc!"),
  // rsync(1), `--partial-dir` and its temporary files `.scan.pdf.Ab12Cd`: with the inner dot at least
  // what is hidden without an ending is left alone.
  ...both(PARTIAL, ".rsync-partial", ".rsync-tmp"),
  ...files("a copy by rsync under way", `.*.*.${ALNUM_6}`),
  // GIO (`g_file_replace`); ProFTPD, `HiddenStores`; Pure-FTPd, `-0`; Nextcloud's client (`createDownloadTmpFileName`).
  ...files(PARTIAL, ".goutputstream-*"),
  ...files("an upload to ProFTPD under way", ".in.*."),
  ...files("an upload to Pure-FTPd under way", ".pureftpd-upload.*"),
  ...files("a download by Nextcloud under way", ".*.~+([0-9a-f])"),

  // Microsoft Office; LibreOffice; Access (`.laccdb`); AutoCAD (`.dwl`); the others: Mountain Duck's list.
  ...files(LOCK, "~$*", ".~lock.*#", "*.laccdb", "*.dwl", "*.dwl2", "*.idlk", "*.lck", "*.onetmp"),
  // ownCloud's list: GnuCash, Kate; Emacs, vim and what both lists have of them.
  ...files(LOCK, "*.gnucash.tmp-*"),
  ...files("an editor's backup or swap file", "*~", ".*.sw[a-z]", ".#*", "*.kate-swp"),
  // Foundation's safe save, by name (Mountain Duck's list) and by directory on shares without replacing.
  ...both(SAVING, `*.sb-${HEX_8}-${ALNUM_6}`, "\\(A Document Being Saved By *\\)"),
  // Xerox's guide for administrators, network scanning: job log, next name, names, description.
  ...files("a scanner's job data", "*.XST", "NETSCAN.DAT", "NEXTNAME.DAT", "XSMDESC.DAT"),

  // Linux: NFS client, FUSE; Samba (`smbd`).
  ...files(KERNEL, `.nfs${HEX_4}*`, ".fuse_hidden*", ".smbdelete*"),

  // Synology; QNAP; Samba's `vfs_streams_depot`; Windows Server (DFS Replication).
  ...both(NAS, "@eaDir", "@tmp", "*@SynoEAStream", "*@SynoResource"),
  ...both(NAS, "@__thumb", ".@__thumb", ".@upload_cache", ".streams", "DfsrPrivate"),
  // QNAP; Synology; NetApp; snapper; ZFS.
  ...both(
    SNAPSHOT,
    "@Recently-Snapshot",
    "#snapshot",
    "~snapshot",
    ".snapshot",
    ".snapshots",
    ".zfs",
  ),
  // Synology; QNAP; Samba's `vfs_recycle`; Windows; freedesktop.org's trash; macOS, on shares too.
  ...both(TRASH, "#recycle", "@Recycle", ".recycle", "$RECYCLE.BIN", ".Trash", ".Trash-*"),
  ...both(TRASH, ".Trashes", "Network Trash Folder"),
  ...directories(TRASH, "RECYCLER"),

  // Windows; ext4; KDE.
  ...both(SYSTEM, "System Volume Information", "Thumbs.db", "ehthumbs.db", "desktop.ini"),
  ...directories(SYSTEM, "lost+found"),
  ...both(SYSTEM, ".directory"),
  // macOS; Netatalk (`.AppleD*`). U+F00D: the carriage return of `Icon\r` on a share.
  ...both(SYSTEM, ".DS_Store", "._*", ".AppleDouble", ".AppleDB", ".AppleDesktop", ".apdisk"),
  ...both(SYSTEM, ".TemporaryItems", ".Spotlight-V100", ".fseventsd", ".DocumentRevisions-V100"),
  ...files(SYSTEM, "Icon[\r\uf00d]", ".localized", ".metadata_never_index", ".VolumeIcon.icns"),
  ...directories(SYSTEM, "Temporary Items"),
  // Android: MediaStore (`FileUtils.PATTERN_EXPIRES_FILE`), gallery.
  ...files("a phone's trash, or what it has not finished", ".trashed-*", ".pending-*"),
  ...both("a phone's own data", ".nomedia", ".thumbnails"),

  // Streams of NTFS and SMB that a copy wrote as files, with the colon or without: Windows' attachment
  // manager, Samba's `vfs_fruit` (AFP), Dropbox.
  ...files(STREAM, "*Zone.Identifier", "*AFP_AfpInfo", "*AFP_Resource", `*${COLON}$DATA`),
  ...files(STREAM, "*com.dropbox.attributes", "*com.dropbox.attrs", "*com.dropbox.ignored"),
  ...files(STREAM, `*${COLON}@(SmartScreen|encryptable|favicon|OECustomProperty|com.apple.*)`),

  // Nextcloud and ownCloud, `csync_exclude.cpp`; their virtual files without a file system of their own.
  ...files(SYNC, ".sync_*.db*", "._sync_*.db*", ".csync_journal.db*", "csync_journal.db*"),
  ...files(SYNC, ".owncloudsync.log*", ".nextcloudsync.log*"),
  ...files(PLACEHOLDER, "*.owncloud", "*.nextcloud"),
  // Resilio Sync's manual.
  ...both(SYNC, ".sync", ".SyncID", ".SyncIgnore", ".SyncArchive", ".SyncTrash", "*.SyncOld"),
  ...files(PLACEHOLDER, "*.rsls"),
  // Synology Drive; Dropbox; Google Drive for desktop, and its links to what Google's editors keep.
  ...both(SYNC, ".SynologyWorkingDirectory", ".dropbox", ".dropbox.*"),
  ...both(SYNC, ".tmp.driveupload", ".tmp.drivedownload"),
  ...files(PLACEHOLDER, "*.g@(doc|sheet|slides|draw|form|site|map|jam|script)"),
  // iCloud Drive; OneDrive; Syncthing (its temporary files end in `.tmp`); FreeFileSync; GoodSync; Unison.
  ...files(PLACEHOLDER, ".*.icloud"),
  ...both(SYNC, ".849C9593-D756-4E56-8D6E-42412F2A707B", ".stfolder", ".stversions", ".stignore"),
  ...both(SYNC, "*.ffs_db", "*.ffs_lock", "*.ffs_tmp", "_gsdata_", ".unison.*"),
];

function both(because: string, ...patterns: readonly string[]): Ignored[] {
  return patterns.map((pattern) => ({ pattern, because }));
}

function files(because: string, ...patterns: readonly string[]): Ignored[] {
  return patterns.map((pattern) => ({ pattern, because, of: "file" }));
}

function directories(because: string, ...patterns: readonly string[]): Ignored[] {
  return patterns.map((pattern) => ({ pattern, because, of: "directory" }));
}
