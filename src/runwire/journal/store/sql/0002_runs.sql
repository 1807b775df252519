-- Tasks, and the runs of theirs that are not over. What a run is, its log says; these rows say who works on it and what it may do.
CREATE TABLE sessions (
  session_id TEXT PRIMARY KEY, title TEXT NOT NULL DEFAULT '', created_ns INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE tasks (
  task_key   INTEGER PRIMARY KEY,
  task_id    TEXT NOT NULL UNIQUE,
  session_id TEXT,
  created_ns INTEGER NOT NULL,
  deleted_ns INTEGER,                         -- hidden; its runs go with `DELETE`
  budget_micros_usd INTEGER,                  -- only ever raised
  inherited_cost_micros_usd INTEGER NOT NULL DEFAULT 0,   -- of the runs a branch came from
  agent      TEXT NOT NULL,
  demo       INTEGER NOT NULL DEFAULT 0,
  body       BLOB NOT NULL                    -- Task as JSON, redacted; secret env values are references only
);
CREATE INDEX tasks_by_session ON tasks (session_id, task_key);

-- One row for each run that is not over. Deleted in the transaction of its terminal event.
CREATE TABLE queue (
  run_id        TEXT PRIMARY KEY,
  task_id       TEXT NOT NULL,
  parent_run_id TEXT,                         -- a child of a run; does not count as the task's active run
  state         TEXT NOT NULL CHECK (state IN ('ready', 'running', 'parked')),
  priority      INTEGER NOT NULL DEFAULT 0,
  queued_ns     INTEGER NOT NULL,
  not_before_ns INTEGER NOT NULL DEFAULT 0,
  worker_id     TEXT,                         -- while running
  generation    INTEGER NOT NULL DEFAULT 0,   -- equals runs.lease_generation of the holder
  claims        INTEGER NOT NULL DEFAULT 0,   -- how often a worker took it up; past 5 lost ones it fails
  cancel_by     TEXT, cancel_reason TEXT, cancel_ns INTEGER,
  workspace     TEXT NOT NULL, workspace_mode TEXT NOT NULL,
  concurrency   INTEGER NOT NULL DEFAULT 4    -- children of one task at a time
) WITHOUT ROWID;
CREATE UNIQUE INDEX queue_one_active ON queue (task_id) WHERE parent_run_id IS NULL;
CREATE INDEX queue_next ON queue (state, priority DESC, queued_ns);
CREATE INDEX queue_by_worker ON queue (worker_id) WHERE worker_id IS NOT NULL;

-- Where a run works, also when it is over: for patches, resume and revert.
CREATE TABLE workplaces (
  run_id TEXT PRIMARY KEY, task_id TEXT NOT NULL, path TEXT NOT NULL, mode TEXT NOT NULL, source TEXT, made_ns INTEGER NOT NULL, removed_ns INTEGER
) WITHOUT ROWID;

-- One lease per worker covers all its runs: a heartbeat is one row, whatever the number of runs. No row while idle.
CREATE TABLE workers (
  worker_id TEXT PRIMARY KEY, pid INTEGER NOT NULL, host TEXT NOT NULL, started_ns INTEGER NOT NULL, lease_until_ns INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE approvals (
  approval_key INTEGER PRIMARY KEY,
  approval_id  TEXT NOT NULL UNIQUE,
  run_id       TEXT NOT NULL, task_id TEXT NOT NULL, session_id TEXT, agent TEXT NOT NULL, workspace TEXT NOT NULL,
  digest       BLOB NOT NULL,                 -- sha256 of the exact call: see Approvals
  status       TEXT NOT NULL CHECK (status IN ('pending', 'approved', 'denied', 'timed_out')),
  requested_ns INTEGER NOT NULL, expires_ns INTEGER,
  body         BLOB NOT NULL,                 -- ApprovalBody: tool, input (redacted), effects, summary, reason, call ids, proposed rule
  answer       BLOB, resolved_ns INTEGER      -- Answer: decision, by, comment, scope, edited_input, stop
);
CREATE INDEX approvals_by_status ON approvals (status, approval_key);
CREATE INDEX approvals_by_run ON approvals (run_id, approval_key);
CREATE INDEX approvals_by_task ON approvals (task_id, approval_key);
CREATE UNIQUE INDEX approvals_one_pending ON approvals (run_id, digest) WHERE status = 'pending';

CREATE TABLE grants (
  grant_id   TEXT PRIMARY KEY,                -- perm_…
  agent      TEXT NOT NULL, workspace TEXT NOT NULL,      -- real path
  scope      TEXT NOT NULL CHECK (scope IN ('session', 'task', 'always')), scope_id TEXT,   -- chat_… or task_…
  rule       BLOB NOT NULL,                   -- GrantRule as JSON
  made_by    TEXT NOT NULL, approval_id TEXT, created_ns INTEGER NOT NULL, revoked_ns INTEGER, used INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE INDEX grants_by_place ON grants (agent, workspace) WHERE revoked_ns IS NULL;

-- What a person said to a run and the loop has not taken yet. Deleted in the transaction of its user.message.
CREATE TABLE messages (
  message_key INTEGER PRIMARY KEY, run_id TEXT NOT NULL, text TEXT NOT NULL, by TEXT NOT NULL, kind TEXT NOT NULL, created_ns INTEGER NOT NULL
);
CREATE INDEX messages_by_run ON messages (run_id, message_key);

-- Files that are being written for a patch: durable before the first rename, gone with the event that tells of it.
CREATE TABLE writes (
  write_key INTEGER PRIMARY KEY, batch_id TEXT NOT NULL, run_id TEXT NOT NULL, artifact_id TEXT NOT NULL UNIQUE, workspace TEXT NOT NULL,
  verb TEXT NOT NULL CHECK (verb IN ('apply', 'revert')), lease INTEGER,
  plan BLOB NOT NULL                          -- FileWrite: path, before/after sha256 and mode, temp name, undo name
);
CREATE INDEX writes_by_batch ON writes (batch_id);
