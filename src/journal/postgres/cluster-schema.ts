/** The cluster's tables in PostgreSQL: a step of the migrations, run in the journal's own schema. */
export const CLUSTER_SCHEMA = `
CREATE TABLE instances (
  id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name        text COLLATE "C" NOT NULL,
  pid         bigint NOT NULL,
  version     text COLLATE "C" NOT NULL,
  web         text COLLATE "C",
  started_at  timestamptz NOT NULL,
  renewed_at  timestamptz NOT NULL,
  lease_until timestamptz NOT NULL,
  -- Ownership of mirrors whose file system is its host's own.
  local        text[] COLLATE "C" NOT NULL DEFAULT '{}',
  lost        boolean NOT NULL DEFAULT false
);
CREATE INDEX instances_living ON instances (id) WHERE NOT lost;

-- Who may write. Every transaction of a session counts its commits up, which proves afterwards
-- whether it was committed, and keeps anyone who takes the writer_session away waiting until it is over.
CREATE TABLE writer_sessions (
  session text COLLATE "C" PRIMARY KEY,
  instance  bigint,
  commits bigint NOT NULL DEFAULT 0,
  since   timestamptz NOT NULL DEFAULT clock_timestamp(),
  taken   boolean NOT NULL DEFAULT false
);
CREATE INDEX writer_sessions_instance ON writer_sessions (instance);

CREATE TABLE assignments (
  assignment   text COLLATE "C" PRIMARY KEY,
  instance bigint NOT NULL REFERENCES instances (id) ON DELETE CASCADE,
  since  timestamptz NOT NULL
);
CREATE INDEX assignments_instance ON assignments (instance);
`;
