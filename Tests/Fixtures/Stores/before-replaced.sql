-- A store as bgtaskd wrote it before replaced requests had a reason, from 'sqlite3 store.sqlite .dump'.
PRAGMA application_id = 1650947179;
PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
INSERT INTO grdb_migrations VALUES('1 requests, launches, settings');
INSERT INTO grdb_migrations VALUES('2 reports of launches');
INSERT INTO grdb_migrations VALUES('2 why launches were stopped, how urgent pushes are');
INSERT INTO grdb_migrations VALUES('3 failures of requests');
INSERT INTO grdb_migrations VALUES('4 titles of launches');
CREATE TABLE requests (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    identifier TEXT NOT NULL,
    bundle TEXT NOT NULL,
    kind TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('pending', 'launched', 'done')),
    origin TEXT NOT NULL,
    earliest_ms INTEGER,
    requires_external_power INTEGER NOT NULL,
    requires_network INTEGER NOT NULL,
    requires_gpu INTEGER NOT NULL,
    strategy TEXT NOT NULL,
    payload ANY,
    title ANY NOT NULL,
    subtitle ANY NOT NULL,
    idempotency_key ANY,
    submitted_ms INTEGER NOT NULL,
    deadline_ms INTEGER NOT NULL,
    attempt INTEGER NOT NULL CHECK (attempt >= 1),
    not_before_ms INTEGER,
    checkpoint BLOB,
    outcome TEXT,
    reason TEXT,
    ended_ms INTEGER,
    replaced_by INTEGER, push_priority INTEGER NOT NULL DEFAULT 5, failures INTEGER NOT NULL DEFAULT 0,
    CHECK ((state = 'done') = (outcome IS NOT NULL) AND (state = 'done') = (ended_ms IS NOT NULL))
) STRICT;
INSERT INTO requests VALUES(1,'org.example.old','org.example.old','appLaunch','done','installation',NULL,0,0,0,'queue',NULL,'','',NULL,1795319308501,1795924108501,1,NULL,NULL,'failed','exitedWithoutCompleting',1795319308521,NULL,5,0);
INSERT INTO requests VALUES(2,'org.example.old.work','org.example.old','processing','done','client',NULL,0,0,0,'queue',NULL,'','',NULL,1795319312428,1795924112428,1,NULL,NULL,'failed','exitedWithoutCompleting',1795319312450,NULL,5,0);
INSERT INTO requests VALUES(3,'org.bgtask.cachewarmer.tree','org.bgtask.cachewarmer','processing','done','client',1795322912487,0,0,0,'queue','{"directory": "/usr/share/doc"}','','',NULL,1795319312501,1795927712487,1,NULL,NULL,'cancelled',NULL,1795319312538,4,5,0);
INSERT INTO requests VALUES(4,'org.bgtask.cachewarmer.tree','org.bgtask.cachewarmer','processing','pending','client',1795326512533,0,0,0,'queue','{"directory": "/usr/share/doc"}','','',NULL,1795319312538,1795931312533,1,NULL,NULL,NULL,NULL,NULL,NULL,5,0);
INSERT INTO requests VALUES(5,'org.example.old.refresh','org.example.old','appRefresh','done','client',1795330112580,0,0,0,'queue',NULL,'','',NULL,1795319312588,1795934912580,1,NULL,NULL,'cancelled','cancelledByUser',1795319312626,NULL,5,0);
CREATE TABLE launches (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    request INTEGER NOT NULL REFERENCES requests (id),
    identifier TEXT NOT NULL,
    bundle TEXT NOT NULL,
    kind TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    token INTEGER NOT NULL UNIQUE,
    state TEXT NOT NULL CHECK (state IN ('starting', 'running', 'expiring', 'ended')),
    started_ms INTEGER NOT NULL,
    ready_ms INTEGER,
    ended_ms INTEGER,
    outcome TEXT,
    reason TEXT,
    message ANY,
    signal INTEGER,
    exit_status INTEGER,
    phase TEXT,
    code INTEGER,
    leftovers INTEGER NOT NULL DEFAULT 0,
    expiration TEXT,
    progress_completed INTEGER,
    progress_total INTEGER,
    progress_message ANY,
    cpu_ns INTEGER NOT NULL DEFAULT 0,
    cpu_is_lower_bound INTEGER NOT NULL DEFAULT 0,
    peak_memory INTEGER,
    isolation ANY NOT NULL,
    library_hash TEXT,
    is_simulated INTEGER NOT NULL,
    explanation ANY, report ANY, stop_explanation ANY, title ANY NOT NULL DEFAULT '', subtitle ANY NOT NULL DEFAULT '',
    CHECK ((state = 'ended') = (outcome IS NOT NULL) AND (state = 'ended') = (ended_ms IS NOT NULL))
) STRICT;
INSERT INTO launches VALUES(1,1,'org.example.old','org.example.old','appLaunch',1,1795319308418,'ended',1795319308503,1795319308520,1795319308521,'failed','exitedWithoutCompleting','it ended with status 0 and never completed',NULL,0,NULL,NULL,0,NULL,1,4,NULL,548000,0,1388544,'cgroup','32d9ee45c8200db5e128c6e85730e1e04e148fba90a31ac25acf2326c2269614',0,'{"at":"2026-11-22T03:48:28.502Z","mayStart":true,"question":"start","score":null,"scoreSuffices":null,"threshold":null,"verdicts":[{"decision":"proceed","policy":"Permission","rationale":[],"score":1,"since":null,"weight":0},{"decision":"proceed","policy":"EarliestBeginDate","rationale":[],"score":1,"since":null,"weight":0},{"decision":"proceed","policy":"ExternalPower","rationale":[],"score":1,"since":null,"weight":0},{"decision":"proceed","policy":"Network","rationale":[],"score":1,"since":null,"weight":0},{"decision":"proceed","policy":"Resources","rationale":[],"score":1,"since":null,"weight":0},{"decision":"proceed","policy":"RequiredConditions","rationale":[],"score":1,"since":null,"weight":0},{"decision":"proceed","policy":"BatteryLevel","rationale":[],"score":1,"since":null,"weight":0},{"decision":"proceed","policy":"LowPowerMode","rationale":[],"score":1,"since":null,"weight":0},{"decision":"proceed","policy":"Pressure","rationale":[],"score":1,"since":null,"weight":0},{"decision":"proceed","policy":"Thermal","rationale":[],"score":1,"since":null,"weight":0},{"decision":"proceed","policy":"DeviceActivity","rationale":[],"score":1,"since":null,"weight":0},{"decision":"proceed","policy":"RefreshAllowed","rationale":[],"score":1,"since":null,"weight":0},{"decision":"proceed","policy":"Dismissed","rationale":[],"score":1,"since":null,"weight":0},{"decision":"proceed","policy":"Usage","rationale":[],"score":1,"since":null,"weight":0},{"decision":"proceed","policy":"Conduct","rationale":[],"score":1,"since":null,"weight":0},{"decision":"proceed","policy":"Budget","rationale":[],"score":1,"since":null,"weight":0},{"decision":"proceed","policy":"RateLimit","rationale":[],"score":1,"since":null,"weight":0},{"decision":"proceed","policy":"OneLaunchPerIdentifier","rationale":[],"score":1,"since":null,"weight":0},{"decision":"proceed","policy":"Concurrency","rationale":[{"earliestChange":null,"observed":"0","quantity":"appLaunches","remedy":null,"required":"fewer than 2"}],"score":1,"since":null,"weight":0},{"decision":"proceed","policy":"Coalescing","rationale":[{"earliestChange":null,"observed":"0","quantity":"launchesUnderWay","remedy":null,"required":"1 or more, by preference"}],"score":1,"since":null,"weight":0}]}',NULL,NULL,'','');
INSERT INTO launches VALUES(2,2,'org.example.old.work','org.example.old','processing',1,1795319308419,'ended',1795319312433,1795319312448,1795319312450,'failed','exitedWithoutCompleting','it ended with status 0 and never completed',NULL,0,NULL,NULL,0,NULL,1,4,NULL,533000,0,1622016,'cgroup','32d9ee45c8200db5e128c6e85730e1e04e148fba90a31ac25acf2326c2269614',0,'{"at":"2026-11-22T03:48:32.432Z","mayStart":true,"question":"start","score":0.9078947368421053,"scoreSuffices":null,"threshold":0.5999999950697826,"verdicts":[{"decision":"proceed","policy":"Permission","rationale":[],"score":1,"since":null,"weight":0},{"decision":"proceed","policy":"EarliestBeginDate","rationale":[],"score":1,"since":null,"weight":0},{"decision":"proceed","policy":"ExternalPower","rationale":[{"earliestChange":null,"observed":"connected","quantity":"externalPower","remedy":null,"required":"connected, by preference"}],"score":1,"since":"2026-11-22T03:48:28.496Z","weight":4},{"decision":"proceed","policy":"Network","rationale":[],"score":1,"since":null,"weight":0},{"decision":"proceed","policy":"Resources","rationale":[],"score":1,"since":null,"weight":0},{"decision":"proceed","policy":"RequiredConditions","rationale":[],"score":1,"since":null,"weight":0},{"decision":"proceed","policy":"BatteryLevel","rationale":[],"score":1,"since":null,"weight":0},{"decision":"proceed","policy":"LowPowerMode","rationale":[{"earliestChange":null,"observed":"off","quantity":"lowPowerMode","remedy":null,"required":"off"}],"score":1,"since":"2026-11-22T03:48:28.496Z","weight":1},{"decision":"proceed","policy":"Pressure","rationale":[{"earliestChange":null,"observed":"none","quantity":"pressure","remedy":null,"required":"none"}],"score":1,"since":"2026-11-22T03:48:28.496Z","weight":1},{"decision":"proceed","policy":"Thermal","rationale":[{"earliestChange":null,"observed":"nominal","quantity":"thermal","remedy":null,"required":"nominal"}],"score":1,"since":"2026-11-22T03:48:28.496Z","weight":3},{"decision":"proceed","policy":"DeviceActivity","rationale":[{"earliestChange":null,"observed":"idle","quantity":"deviceActivity","remedy":null,"required":"idle, by preference"}],"score":1,"since":"2026-11-22T03:48:28.496Z","weight":5},{"decision":"proceed","policy":"RefreshAllowed","rationale":[],"score":1,"since":null,"weight":0},{"decision":"proceed","policy":"Dismissed","rationale":[],"score":1,"since":null,"weight":0},{"decision":"proceed","policy":"Usage","rationale":[],"score":1,"since":null,"weight":0},{"decision":"proceed","policy":"Conduct","rationale":[{"earliestChange":null,"observed":"nothing of note","quantity":"conduct","remedy":null,"required":"no kills, crashes or leaks for 7 days"}],"score":0.75,"since":null,"weight":3},{"decision":"proceed","policy":"Budget","rationale":[{"earliestChange":null,"observed":"0 s spent","quantity":"cpuTime","remedy":null,"required":"less than 30 min spent today"}],"score":1,"since":null,"weight":0},{"decision":"proceed","policy":"RateLimit","rationale":[],"score":1,"since":null,"weight":0},{"decision":"proceed","policy":"OneLaunchPerIdentifier","rationale":[],"score":1,"since":null,"weight":0},{"decision":"proceed","policy":"Concurrency","rationale":[{"earliestChange":null,"observed":"0","quantity":"discretionaryLaunches","remedy":null,"required":"fewer than 2"}],"score":1,"since":null,"weight":0},{"decision":"proceed","policy":"Coalescing","rationale":[{"earliestChange":null,"observed":"0","quantity":"launchesUnderWay","remedy":null,"required":"1 or more, by preference"}],"score":0.5,"since":"2026-11-22T03:48:28.532Z","weight":2},{"decision":"proceed","policy":"Score","rationale":[{"earliestChange":null,"observed":"0.91","quantity":"score","remedy":null,"required":"0.60 or more, falling to 0 at 2026-11-29T03:48:32Z"}],"score":0.9078947368421053,"since":null,"weight":0}]}',NULL,NULL,'','');
CREATE TABLE successes (
    identifier TEXT PRIMARY KEY,
    at_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE settings (
    key ANY PRIMARY KEY NOT NULL,
    value ANY NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO settings VALUES('advice/org.example.old','{"advice":[{"at":{"sinceEpoch":[97324454,17401614471387982336]},"code":"neverCompleted","launch":"L2","message":"org.example.old.work returned or exited without completing, which counts as failed. Complete on every path: host->complete, or task.setTaskCompleted(success:)"}],"libraryHash":"32d9ee45c8200db5e128c6e85730e1e04e148fba90a31ac25acf2326c2269614"}');
INSERT INTO settings VALUES('app launch/org.example.old','32d9ee45c8200db5e128c6e85730e1e04e148fba90a31ac25acf2326c2269614');
INSERT INTO settings VALUES('bundle/org.example.old','{"budget":{"cpu":[0,533000000000000],"cpuLimit":[32,9704189641294348288],"day":20779,"launchLimit":12,"launches":0},"conduct":{"days":[]},"lastUsed":{"sinceEpoch":[97324454,17624939073387982336]},"refresh":"denied","refreshChangedAt":{"sinceEpoch":[97324454,17667413393387982336]},"usage":{"firstDay":20779,"hours":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0],"lastHour":498699},"wakeUpsSaved":0}');
INSERT INTO settings VALUES('directory of org.example.old','1');
INSERT INTO settings VALUES('host.boot','8c4b0a52-6d0e-4b3a-9f7e-2f1d5c6b7a80');
INSERT INTO settings VALUES('next bundle directory','2');
CREATE TABLE meta (
    key TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO meta VALUES('clean_stop_ms',1795319312853);
INSERT INTO meta VALUES('token',1795319308419);
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('requests',5);
INSERT INTO sqlite_sequence VALUES('launches',2);
CREATE UNIQUE INDEX requests_pending ON requests (identifier) WHERE state = 'pending';
CREATE INDEX requests_pending_of_bundle ON requests (bundle, kind) WHERE state = 'pending';
CREATE UNIQUE INDEX requests_key ON requests (identifier, idempotency_key)
    WHERE idempotency_key IS NOT NULL;
CREATE INDEX requests_ended ON requests (ended_ms) WHERE state = 'done';
CREATE UNIQUE INDEX launches_open ON launches (request) WHERE state <> 'ended';
CREATE INDEX launches_of_request ON launches (request);
CREATE INDEX launches_of_identifier ON launches (identifier, id);
COMMIT;
