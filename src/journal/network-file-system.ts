/**
 * File systems on which a journal would come to harm: the shared memory and the locks that SQLite's
 * write-ahead log rests on hold between processes of one host only. FUSE is among them because what
 * stands behind it cannot be known. The numbers are those of Linux (`statfs(2)`, `linux/magic.h`).
 */
const NETWORK: ReadonlyMap<number, string> = new Map([
  [0x6969, "NFS"],
  [0x517b, "SMB"],
  [0xff534d42, "CIFS"],
  [0xfe534d42, "SMB2"],
  [0x65735546, "FUSE"],
  [0x5346414f, "AFS"],
  [0x6b414653, "AFS"],
  [0x01021997, "9P"],
  [0x00c36400, "Ceph"],
  [0x73757245, "Coda"],
  [0x564c, "NCP"],
  [0x0bd00bd0, "Lustre"],
  [0x47504653, "GPFS"],
  [0x01161970, "GFS2"],
  [0x7461636f, "OCFS2"],
  [0x786f4256, "VirtualBox shared folder"],
  [0xbacbacbc, "VMware shared folder"],
  [0x7c7c6673, "Parallels shared folder"],
]);

/** The name of the network file system with this `statfs` type; undefined for a local one. */
export function networkFileSystem(type: number): string | undefined {
  // Some runtimes give 32-bit types with the sign of a C int.
  return NETWORK.get(type >>> 0);
}
