/** The crew's tables in PostgreSQL: a step of the migrations, run in the journal's own schema. */
export const CREW_SCHEMA = `
CREATE TABLE members (
  id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name        text COLLATE "C" NOT NULL,
  pid         bigint NOT NULL,
  version     text COLLATE "C" NOT NULL,
  web         text COLLATE "C",
  started_at  timestamptz NOT NULL,
  renewed_at  timestamptz NOT NULL,
  lease_until timestamptz NOT NULL,
  -- Duties of mirrors whose file system is its host's own.
  near        text[] COLLATE "C" NOT NULL DEFAULT '{}',
  lost        boolean NOT NULL DEFAULT false
);
CREATE INDEX members_living ON members (id) WHERE NOT lost;

-- Who may write. Every transaction of a session counts its commits up, which proves afterwards
-- whether it was committed, and keeps whoever takes the pen away waiting until it is over.
CREATE TABLE pens (
  session text COLLATE "C" PRIMARY KEY,
  member  bigint,
  commits bigint NOT NULL DEFAULT 0,
  since   timestamptz NOT NULL DEFAULT clock_timestamp(),
  taken   boolean NOT NULL DEFAULT false
);
CREATE INDEX pens_member ON pens (member);

CREATE TABLE duties (
  duty   text COLLATE "C" PRIMARY KEY,
  member bigint NOT NULL REFERENCES members (id) ON DELETE CASCADE,
  since  timestamptz NOT NULL
);
CREATE INDEX duties_member ON duties (member);
`;
