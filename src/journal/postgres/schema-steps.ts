/**
 * What the migrations after the first add to the tables, in their order. Those of a release are
 * never edited.
 */
import { isLong, isShort, PATH_KEY } from "./directories.ts";

/** Paths that are longer than an index takes; see directories.ts. */
export const LONG_PATHS = `
  DROP INDEX directories_path;
  CREATE UNIQUE INDEX directories_path ON directories (${PATH_KEY});
  DROP INDEX documents_waiting;
  CREATE INDEX documents_waiting ON documents (trouble_code, mirror_id, target_path, id)
    WHERE state = 'held' AND ${isShort("target_path")};
  CREATE INDEX documents_waiting_long ON documents (trouble_code, mirror_id, id)
    WHERE state = 'held' AND ${isLong("target_path")};
  DROP INDEX forgotten_path;
  CREATE INDEX forgotten_path ON forgotten (mirror_id, sha256(path));
`;

/** The first characters tell contents apart well enough, in an index of a third of the size. */
export const SHORT_DIGESTS = `
  DROP INDEX documents_sent;
  CREATE INDEX documents_sent ON documents (mirror_id, substr(digest, 1, 12), id)
    WHERE state IN ('uploading', 'inDoubt', 'uploaded', 'converted');
`;
