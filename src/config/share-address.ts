/** What to write instead of the address of a share. */
export const SHARE_FIX =
  "mount the share on this machine, and write the folder of the mount, e.g. /mnt/scans (docs/shares.md)";

/** `C:\scans`, `\\nas\scans`, `//nas/scans`, `smb://nas/scans`: on this machine it would be a folder of that odd name. */
export function isShareAddress(path: string): boolean {
  return /^(?:[a-z]:(?:[\\/]|$)|\\\\|\/\/|(?:smb|cifs|nfs|afp):)/i.test(path);
}
