-- The first layout. Applied once, inside one transaction; never edited afterwards.

CREATE TABLE runs (
  run_key          INTEGER PRIMARY KEY,
  run_id           TEXT NOT NULL UNIQUE,
  task_id          TEXT,
  session_id       TEXT,
  agent            TEXT NOT NULL,
  status           TEXT NOT NULL,
  created_ns       INTEGER NOT NULL,
  updated_ns       INTEGER NOT NULL,
  first_sequence   INTEGER NOT NULL,          -- the lowest sequence that is still stored
  head_sequence    INTEGER NOT NULL,          -- as of the last state change or seal; commits hold what came since
  head_hash        BLOB NOT NULL,             -- the chain's value at head_sequence
  lease_generation INTEGER NOT NULL DEFAULT 0,
  state_sequence   INTEGER NOT NULL,          -- what `state` is the fold of
  state            BLOB NOT NULL
);
CREATE INDEX runs_by_task ON runs (task_id, run_key);
CREATE INDEX runs_by_session ON runs (session_id, run_key);
CREATE INDEX runs_by_status ON runs (status, run_key);

-- One row for each group commit: every event that became durable together.
CREATE TABLE commits (
  position INTEGER PRIMARY KEY,               -- feed position of its first event
  count    INTEGER NOT NULL,
  entries  BLOB NOT NULL,                     -- whose events these are, packed
  checksum INTEGER NOT NULL,                  -- crc32 of body
  body     BLOB NOT NULL                      -- frames, grouped by run
);

-- Where the feed ends. It changes with every commit, so that commits which went missing are missed.
CREATE TABLE feed_end (
  only          INTEGER PRIMARY KEY CHECK (only = 1),
  next_position INTEGER NOT NULL
);
INSERT INTO feed_end VALUES (1, 0);

-- Settled events of one run: framed, compressed, checksummed.
CREATE TABLE chunks (
  chunk_key      INTEGER PRIMARY KEY,
  run_key        INTEGER NOT NULL,
  first_sequence INTEGER NOT NULL,
  last_sequence  INTEGER NOT NULL,
  count          INTEGER NOT NULL,
  size           INTEGER NOT NULL,            -- bytes before compression
  newest         TEXT NOT NULL,               -- occurred_at of its last event
  body           BLOB NOT NULL              -- crc32 of what follows, then the frames as an LZ4 block
);
CREATE UNIQUE INDEX chunks_by_run ON chunks (run_key, last_sequence);

-- Which run and sequence stands at which feed position, once its commit has been sealed away.
CREATE TABLE feed (
  last_position  INTEGER PRIMARY KEY,
  first_position INTEGER NOT NULL,
  entries        BLOB NOT NULL
);

CREATE TABLE bodies (
  digest BLOB PRIMARY KEY,                    -- sha256 of the body
  size   INTEGER NOT NULL,
  inline BLOB                                 -- NULL: the body is a file named by its digest
) WITHOUT ROWID;

CREATE TABLE artifacts (
  artifact_key INTEGER PRIMARY KEY,
  artifact_id  TEXT NOT NULL UNIQUE,
  task_id      TEXT,
  run_id       TEXT,
  kind         TEXT NOT NULL,
  status       TEXT,
  pinned       INTEGER NOT NULL DEFAULT 0,
  created_ns   INTEGER NOT NULL,
  size         INTEGER NOT NULL,
  digest       BLOB NOT NULL REFERENCES bodies (digest),
  meta         BLOB NOT NULL
);
CREATE INDEX artifacts_by_run ON artifacts (run_id, artifact_key);
CREATE INDEX artifacts_by_task ON artifacts (task_id, artifact_key);
CREATE INDEX artifacts_by_digest ON artifacts (digest);

CREATE TABLE tokens (
  token_id   TEXT PRIMARY KEY,
  digest     BLOB NOT NULL UNIQUE,            -- sha256 of the secret; the secret itself is never stored
  name       TEXT NOT NULL,
  scopes     TEXT NOT NULL,
  created_ns INTEGER NOT NULL,
  expires_ns INTEGER,
  revoked_ns INTEGER
) WITHOUT ROWID;

CREATE TABLE replies (
  idempotency_key TEXT NOT NULL,
  request         TEXT NOT NULL,              -- method and path
  digest          BLOB NOT NULL,              -- sha256 of the body that was sent with the key
  status          INTEGER NOT NULL,
  body            BLOB NOT NULL,
  created_ns      INTEGER NOT NULL,
  PRIMARY KEY (idempotency_key, request)
) WITHOUT ROWID;
CREATE INDEX replies_by_age ON replies (created_ns);
