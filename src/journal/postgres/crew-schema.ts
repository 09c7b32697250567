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
  lost        boolean NOT NULL DEFAULT false
);
CREATE INDEX members_living ON members (id) WHERE NOT lost;

CREATE TABLE duties (
  duty   text COLLATE "C" PRIMARY KEY,
  member bigint NOT NULL REFERENCES members (id),
  since  timestamptz NOT NULL
);
`;
