-- The tables of the projection, for SQLite and PostgreSQL. They are dropped and loaded anew when this
-- text changes. Times are in seconds since 1970 in UTC. `nth` counts from 0 the periods that began in
-- the same second; `until` is null for a period that lasts.

create table loaded (
    version text not null,
    head text not null
);

-- `position` is null for an environment that only descriptors name.
create table environment (
    id integer primary key,
    name text not null unique,
    position integer,
    repository text,
    branch text
);

create table workspace (
    id integer primary key,
    name text not null unique
);

create table application (
    id integer primary key,
    workspace integer not null,
    name text not null,
    unique (workspace, name)
);

create table workload (
    id integer primary key,
    application integer not null,
    name text not null,
    unique (application, name)
);

-- `follows` is what lines of clusters name: the target's key, or the cluster type of a folder of the
-- platform, which has no workload. `shown` is the environment of the descriptor, else the platform's.
create table target (
    id integer primary key,
    environment integer not null,
    repository_key text not null,
    branch text not null,
    path text not null,
    follows text not null,
    shown integer not null,
    workload integer,
    name text not null,
    repository text not null,
    removed_at bigint,
    unique (environment, repository_key, branch, path)
);
create index target_follows on target (environment, follows);

create table target_name (
    id integer primary key,
    target integer not null,
    name text not null,
    unique (target, name)
);

create table version (
    id integer primary key,
    workload integer,
    version text not null,
    source_commit text not null,
    unique (workload, version, source_commit)
);

-- `content` is '' and `version` is null where nothing is wanted.
create table desired (
    id integer primary key,
    target integer not null,
    number integer not null,
    version integer,
    content text not null,
    commit_id text not null,
    configuration text not null,
    edited integer not null,
    from_ bigint not null,
    nth integer not null,
    until bigint,
    unique (target, number)
);
create index desired_content on desired (target, content);
create index desired_open on desired (target) where until is null;

-- `key` is the id in lower case, and `spelled` is the id as reported.
create table cluster (
    id integer primary key,
    key text not null unique,
    spelled text not null,
    name text not null,
    gone_at bigint
);

create table reconciler (
    id integer primary key,
    cluster integer not null,
    environment integer not null,
    cluster_type text not null,
    name text not null,
    follows text not null,
    target integer,
    unique (cluster, environment, cluster_type, name, follows)
);
create index reconciler_follows on reconciler (environment, follows);
create index reconciler_target on reconciler (target);

create table period (
    id integer primary key,
    reconciler integer not null,
    number integer not null,
    content text not null,
    commit_id text not null,
    status text not null,
    reason text not null,
    relation text not null,
    from_ bigint not null,
    nth integer not null,
    until bigint,
    unique (reconciler, number)
);
create index period_open on period (reconciler) where until is null;

-- The desired periods that a period belongs to.
create table delivery (
    desired integer not null,
    period integer not null,
    primary key (period, desired)
);
create index delivery_desired on delivery (desired);

-- The newest period with which a reconciler had a commit that began a desired period, or that it
-- reported without one; `began` is in microseconds, and differs within a reconciler. Only PostgreSQL's
-- views read it.
create table deployment (
    id integer primary key,
    reconciler integer not null,
    commit_id text not null,
    period integer not null,
    began bigint not null,
    unique (period, commit_id)
);
create index deployment_commit on deployment (reconciler, commit_id);

-- What became of each desired period that a cluster reached: clusters by the last status that belongs
-- to it, the first failure, when the last one was well, and when the last of its periods began.
create table outcome (
    desired integer primary key,
    success integer not null,
    failure integer not null,
    in_progress integer not null,
    failed_at bigint,
    well_at bigint,
    ended_well integer not null,
    last_from bigint not null
);

create table promotion (
    id integer primary key,
    environment integer not null,
    commit_id text not null,
    state text not null,
    at bigint,
    description text not null,
    author text not null,
    subject text not null,
    pull_request text not null,
    proposed_at bigint,
    merged_at bigint,
    merged_by text not null,
    committed_at bigint,
    started_at bigint,
    deployed_at bigint,
    failed_at bigint,
    position integer not null,
    unique (environment, commit_id, state, at)
);

create table observation (
    id integer primary key,
    environment integer not null,
    at bigint not null,
    complete integer not null,
    unique (environment, at)
);
