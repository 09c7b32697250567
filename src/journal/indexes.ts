/** The indexes that a journal has in SQLite and in PostgreSQL alike. */

/** Documents larger than this have an index of their own; part of the schema. */
export const LARGE_INDEX_BYTES = 16 * 1024 * 1024;

export const INDEXES = `
  -- Together these two hold every row once: by directory and name.
  CREATE UNIQUE INDEX documents_current ON documents (dir_id, name) WHERE current = 1;
  CREATE INDEX documents_superseded ON documents (dir_id, name) WHERE current = 0;
  -- What is due.
  CREATE INDEX documents_due ON documents (mirror_id, state, due_at, id, size_bytes, estimate);
  CREATE INDEX documents_large ON documents (mirror_id, state, due_at, id, size_bytes)
    WHERE size_bytes > ${LARGE_INDEX_BYTES};
  CREATE INDEX documents_after ON documents (archive_id, (coalesce(due_at, 0)), id)
    WHERE state IN ('converted', 'held') AND after_state = 'due';
  -- What the archive holds or may hold. One original a document of the archive, and any number of duplicates.
  CREATE INDEX documents_conflicts ON documents (folder_id, sent_name, id)
    WHERE state IN ('uploading', 'inDoubt') OR doubt_at IS NOT NULL;
  CREATE INDEX documents_outstanding ON documents (archive_id, folder_id, due_at, id)
    WHERE state = 'uploaded';
  CREATE UNIQUE INDEX documents_archived ON documents
    (document_id, archive_id, (CASE WHEN duplicate_of IS NULL THEN 0 ELSE id END))
    WHERE document_id IS NOT NULL;
  CREATE INDEX documents_duplicates ON documents (duplicate_of, pages)
    WHERE duplicate_of IS NOT NULL;
  CREATE INDEX documents_ignored ON documents (mirror_id, ignored_digest)
    WHERE ignored_digest IS NOT NULL;
  -- What has a problem.
  CREATE INDEX documents_with_problem ON documents (problem_code, state, archive_id, id)
    WHERE problem_code IS NOT NULL;
  CREATE INDEX documents_held_by_size
    ON documents (archive_id, problem_code, size_bytes, id, mirror_id) WHERE state = 'held';
  -- The next two have the columns of their own condition, too: there may be as many as documents, and they
  -- are counted without a look at the rows.
  CREATE INDEX documents_after_failed ON documents (mirror_id, id, after_state, current, gone_at)
    WHERE after_state = 'refused' AND current = 1 AND gone_at IS NULL;
  CREATE INDEX documents_moved_last ON documents (moved_at, id, mirror_id, gone_at, current)
    WHERE moved_at IS NOT NULL AND gone_at IS NULL AND current = 1;
  CREATE INDEX documents_moved ON documents (id) WHERE moved_from IS NOT NULL;
  CREATE INDEX documents_supersedes ON documents (supersedes) WHERE supersedes IS NOT NULL;
  -- The latest documents, by what is written once in the life of each; its number tells when it was found.
  CREATE INDEX documents_uploaded ON documents (uploaded_at, id) WHERE uploaded_at IS NOT NULL;
  CREATE INDEX documents_batch ON documents (substr(batch, 1, 8)) WHERE batch IS NOT NULL;
  CREATE INDEX batches_mirror ON batches (mirror_id, number);
  CREATE INDEX batches_open ON batches (number) WHERE receipt_at IS NULL;
  CREATE INDEX tombstones_digest ON tombstones (mirror_id, digest) WHERE digest IS NOT NULL;
  CREATE INDEX outbox_due ON outbox (mirror_id, due_at, number);
`;
