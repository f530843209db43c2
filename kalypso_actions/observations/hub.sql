-- The views of PostgreSQL. The first ten are the tables of Kalypso's observability hub, for its
-- dashboards; SQL joins a deployment with an assignment by the text of the commit, and "current" is the
-- newest one. Clusters that are gone, and targets that are removed, are not in these ten.

create or replace function kalypso_hub.at(seconds bigint, nth bigint default 0) returns timestamp
    language sql immutable
    return timestamp 'epoch' + seconds * interval '1 second' + nth * interval '1 microsecond';

create view kalypso_hub.workspace as
select id, name, null::text as description,
    null::timestamp as created_on, null::text as created_by,
    null::timestamp as updated_on, null::text as updated_by
from workspace;

create view kalypso_hub.application as
select id, name, null::text as description, workspace as workspace_id,
    null::timestamp as created_on, null::text as created_by,
    null::timestamp as updated_on, null::text as updated_by
from application;

create view kalypso_hub.workload as
select id, name, null::text as description, 'git'::text as source_storage_type,
    null::text as source_endpoint, application as application_id,
    null::timestamp as created_on, null::text as created_by,
    null::timestamp as updated_on, null::text as updated_by
from workload;

create view kalypso_hub.environment as
select id, name, null::text as description,
    null::timestamp as created_on, null::text as created_by,
    null::timestamp as updated_on, null::text as updated_by
from environment;

create view kalypso_hub.deployment_target as
select id, name, null::text as description, workload as workload_id, shown as environment_id,
    null::text as labels, 'git'::text as manifests_storage_type,
    rtrim(repository || '/' || branch || '/' || path, '/') as manifests_endpoint,
    null::timestamp as created_on, null::text as created_by,
    null::timestamp as updated_on, null::text as updated_by
from target
where workload is not null and removed_at is null;

create view kalypso_hub.workload_version as
select id, version, null::text as build_id, source_commit as build_commit_id,
    workload as workload_id, null::timestamp as created_on, null::text as created_by
from version
where workload is not null;

create view kalypso_hub.deployment_assignment as
select max(d.id) as id, d.target as deployment_target_id, d.version as workload_version_id,
    d.commit_id as gitops_commit_id, max(kalypso_hub.at(d.from_, d.nth)) as created_on,
    null::text as created_by
from desired d
join target t on t.id = d.target
where d.version is not null and t.workload is not null and t.removed_at is null
group by d.target, d.version, d.commit_id;

create view kalypso_hub.host as
select id, name, null::text as description, 'K8s-cluster'::text as host_type, null::text as labels,
    null::timestamp as created_on, null::text as created_by,
    null::timestamp as updated_on, null::text as updated_by
from cluster
where gone_at is null;

create view kalypso_hub.reconciler as
select r.id, r.name, r.cluster as host_id, null::text as description,
    'flux'::text as reconciler_type, null::text as labels, 'git'::text as manifests_storage_type,
    coalesce(rtrim(t.repository || '/' || t.branch || '/' || t.path, '/'), r.follows)
        as manifests_endpoint,
    null::timestamp as created_on, null::text as created_by,
    null::timestamp as updated_on, null::text as updated_by
from reconciler r
left join target t on t.id = r.target
where exists (select 1 from period p where p.reconciler = r.id and p.until is null);

create view kalypso_hub.deployment as
select d.id, d.commit_id as gitops_commit_id, d.reconciler as reconciler_id,
    case when p.status in ('success', 'failure') then p.status else 'in_progress' end as status,
    p.reason as status_message, kalypso_hub.at(0, d.began) as created_on, null::text as created_by,
    kalypso_hub.at(0, d.began) as updated_on, null::text as updated_by
from deployment d
join period p on p.id = d.period
where exists (select 1 from period o where o.reconciler = d.reconciler and o.until is null)
    and not exists (
        select 1 from deployment n
        where n.reconciler = d.reconciler and n.commit_id = d.commit_id and n.began > d.began
    );

-- What each cluster runs of what it should. `gitops_commit` and `deployed_version` are those of the
-- newest desired period that the content belongs to; else null, and the commit that is reported.
create view kalypso_hub.every_state as
select s.name as environment, coalesce(t.name, r.follows) as target, c.name as cluster,
    c.key as cluster_key, r.cluster_type, v.version as desired_version,
    ov.version as deployed_version,
    case when p.content <> '' and p.content = d.content then 'current'
        when p.relation = 'current' and d.id is not null and p.content <> '' then 'behind'
        else p.relation end as relation,
    p.status, p.reason, kalypso_hub.at(p.from_) at time zone 'utc' as since,
    coalesce(o.commit_id, p.commit_id) as gitops_commit, e.name as platform_environment,
    e.position as environment_position, w.name as workload, a.name as application,
    x.name as workspace, r.name as configuration, ov.source_commit,
    kalypso_hub.at(d.from_) at time zone 'utc' as desired_since, d.commit_id as desired_commit,
    greatest(d.number - o.number, 0) as changes_behind,
    rtrim(t.repository || '/' || t.branch || '/' || t.path, '/') as manifests_endpoint,
    r.follows <> r.cluster_type as is_application,
    kalypso_hub.at(coalesce(m.from_, d.from_)) at time zone 'utc' as behind_since
from period p
join reconciler r on r.id = p.reconciler
join cluster c on c.id = r.cluster
join environment e on e.id = r.environment
left join target t on t.id = r.target
left join environment s on s.id = coalesce(t.shown, r.environment)
left join workload w on w.id = t.workload
left join application a on a.id = w.application
left join workspace x on x.id = a.workspace
left join desired d on d.target = r.target and d.until is null
left join version v on v.id = d.version
left join lateral (
    select o.* from delivery y join desired o on o.id = y.desired
    where y.period = p.id order by o.from_ desc, o.number desc limit 1
) o on true
left join version ov on ov.id = o.version
left join desired m on m.target = o.target and m.number = o.number + 1
where p.until is null;

create view kalypso_hub.state as select * from kalypso_hub.every_state where is_application;

create view kalypso_hub.platform_state as select * from kalypso_hub.every_state where not is_application;

-- Each desired period, with the numbers of clusters by the last status that belongs to it.
create view kalypso_hub.every_history as
select s.name as environment, t.name as target, v.version, d.commit_id as gitops_commit,
    coalesce(o.success, 0) as success, coalesce(o.failure, 0) as failure,
    coalesce(o.in_progress, 0) as in_progress,
    kalypso_hub.at(d.from_, d.nth) at time zone 'utc' as from_,
    case when d.until is not null then (
        select kalypso_hub.at(n.from_, n.nth) at time zone 'utc' from desired n
        where n.target = d.target and n.number > d.number order by n.number limit 1
    ) end as until,
    e.name as platform_environment, w.name as workload, a.name as application, v.source_commit,
    d.configuration as configuration_commit, d.id as desired_id, d.content,
    w.id is not null as is_application
from desired d
join target t on t.id = d.target
join environment e on e.id = t.environment
join environment s on s.id = t.shown
left join workload w on w.id = t.workload
left join application a on a.id = w.application
left join version v on v.id = d.version
left join outcome o on o.desired = d.id;

create view kalypso_hub.target_history as
select * from kalypso_hub.every_history where is_application and content <> '';

create view kalypso_hub.platform_history as
select * from kalypso_hub.every_history
where not is_application and content <> '' and target <> '';

-- What is not as it should be, also targets that no cluster reports.
create view kalypso_hub.drift as
select kind, environment, target, cluster, cluster_key, cluster_type, desired_version,
    deployed_version, changes_behind,
    case kind when 'behind' then behind_since else since end as since, reason, gitops_commit, desired_commit,
    platform_environment, application, is_application
from kalypso_hub.every_state
cross join lateral (
    select 'failing' as kind where status = 'failure'
    union all select status where status in ('suspended', 'unreachable')
    union all select relation where relation in ('behind', 'off', 'unknown')
) as kinds
union all
select 'no-cluster', s.name, t.name, null, null, null, v.version, null, null,
    kalypso_hub.at(d.from_) at time zone 'utc', '', null, d.commit_id, e.name, a.name,
    t.workload is not null
from desired d
join target t on t.id = d.target
join environment e on e.id = t.environment
join environment s on s.id = t.shown
left join workload w on w.id = t.workload
left join application a on a.id = w.application
left join version v on v.id = d.version
where d.until is null and d.content <> '' and (t.workload is not null or t.follows <> '')
    and not exists (
        select 1 from reconciler r join period p on p.reconciler = r.id and p.until is null
        where r.target = t.id
    );

-- How each desired period reached the clusters of a type: when the first, half of them and all had
-- it, and how many failed with it. `clusters` are those that reported while it was wanted.
create view kalypso_hub.rollout as
select h.environment, h.target, h.version, h.gitops_commit, h.from_, h.until, n.cluster_type,
    n.clusters, n.arrived, n.failed, kalypso_hub.at(n.first) at time zone 'utc' as first,
    case when 2 * n.arrived >= n.clusters
        then kalypso_hub.at(n.half) at time zone 'utc' end as half,
    case when n.arrived = n.clusters then kalypso_hub.at(n.last) at time zone 'utc' end as "all",
    h.application, h.is_application, h.desired_id
from kalypso_hub.every_history h
join desired d on d.id = h.desired_id
join target t on t.id = d.target
cross join lateral (
    select r.cluster_type, count(*) as clusters, count(y.arrived) as arrived,
        count(*) filter (where y.failed) as failed, min(y.arrived) as first,
        (array_agg(y.arrived order by y.arrived))[(count(*) + 1) / 2] as half,
        max(y.arrived) as last
    from reconciler r
    left join (
        select p.reconciler, bool_or(p.status = 'failure') as failed,
            min(case when p.status = 'success' then greatest(p.from_, d.from_) end) as arrived,
            bool_or((d.until is null or p.from_ < d.until) and (p.until is null or p.until > d.from_))
                as reported
        from delivery y join period p on p.id = y.period
        where y.desired = d.id
        group by p.reconciler
    ) y on y.reconciler = r.id
    where r.environment = t.environment and r.follows = t.follows and (y.reported or exists (
        select 1 from period p where p.reconciler = r.id
            and (d.until is null or p.from_ < d.until) and (p.until is null or p.until > d.from_)
    ))
    group by r.cluster_type
) n
where d.content <> '';

-- Marks of deployments over other graphs of Grafana.
create view kalypso_hub.annotation as
select h.from_ as time,
    (select max(r."all") from kalypso_hub.rollout r where r.desired_id = h.desired_id) as timeend,
    h.environment || ': ' || h.target || ' ' || coalesce(h.version, left(h.gitops_commit, 7))
        as text,
    concat_ws(',', 'deployment', h.environment, h.target, h.application) as tags
from kalypso_hub.every_history h
where h.content <> '';

-- What each cluster ran, from when until when; versions as in `state`.
create view kalypso_hub.cluster_history as
select s.name as environment, coalesce(t.name, r.follows) as target, c.name as cluster,
    c.key as cluster_key, r.cluster_type, v.version, coalesce(o.commit_id, p.commit_id)
        as gitops_commit,
    p.status, p.reason, kalypso_hub.at(p.from_, p.nth) at time zone 'utc' as from_,
    kalypso_hub.at(p.until) at time zone 'utc' as until, r.follows <> r.cluster_type as is_application
from period p
join reconciler r on r.id = p.reconciler
join cluster c on c.id = r.cluster
left join target t on t.id = r.target
join environment s on s.id = coalesce(t.shown, r.environment)
left join lateral (
    select o.* from delivery y join desired o on o.id = y.desired
    where y.period = p.id order by o.from_ desc, o.number desc limit 1
) o on true
left join version v on v.id = o.version;

-- Commits of GitOps branches that a cluster reached since the first look, with their end.
create view kalypso_hub.delivered as
select e.name as environment, d.commit_id as gitops_commit, w.application is not null as is_application,
    a.name as application, kalypso_hub.at(min(d.from_)) at time zone 'utc' as from_,
    kalypso_hub.at(min(o.failed_at)) at time zone 'utc' as failed_at,
    kalypso_hub.at(max(o.well_at)) at time zone 'utc' as well_at,
    min(o.ended_well) = 1 and count(o.well_at) > 0 as ended_well
from outcome o
join desired d on d.id = o.desired
join target t on t.id = d.target
join environment e on e.id = t.environment
left join workload w on w.id = t.workload
left join application a on a.id = w.application
group by e.name, d.commit_id, w.application is not null, a.name;

-- The newest state of each commit of main in an environment; `arrived_at` is when it, or a later one
-- that carried it, was deployed, and null before the first recorded deployment.
create view kalypso_hub.promotion as
select e.name as environment, p.commit_id as commit, p.state, p.description, p.author, p.subject,
    p.pull_request, p.merged_by, kalypso_hub.at(p.at) at time zone 'utc' as at,
    kalypso_hub.at(p.committed_at) at time zone 'utc' as committed_at,
    kalypso_hub.at(p.proposed_at) at time zone 'utc' as proposed_at,
    kalypso_hub.at(p.merged_at) at time zone 'utc' as merged_at,
    kalypso_hub.at(p.started_at) at time zone 'utc' as started_at,
    kalypso_hub.at(p.deployed_at) at time zone 'utc' as deployed_at,
    kalypso_hub.at(p.failed_at) at time zone 'utc' as failed_at,
    case when p.position >= p.first
        then kalypso_hub.at(p.carried_at) at time zone 'utc' end as arrived_at
from (
    select p.*,
        first_value(position) over (
            partition by environment order by deployed_at, position
        ) as first,
        min(deployed_at) over (partition by environment order by position desc) as carried_at
    from (
        select p.*, row_number() over (
            partition by environment, commit_id order by coalesce(at, 0) desc, id desc
        ) as newest
        from promotion p
    ) p
    where newest = 1
) p join environment e on e.id = p.environment;

-- What `kalypso delivery` finds of each environment at the newest look, in seconds; each load writes it.
create table delivery_figure (
    environment text primary key, since bigint not null,
    deployments integer, ended_well integer, failed_deployments integer, per_week numeric,
    changes integer, failed_changes integer, change_failure_rate numeric,
    lead_time_n integer, lead_time_median integer, lead_time_p90 integer,
    recovery_n integer, recovery_median integer, recovered_by_clusters boolean
);

create view kalypso_hub.delivery_figures as
select environment, position as environment_position,
    kalypso_hub.at(since) at time zone 'utc' as since, deployments, ended_well,
    failed_deployments, per_week, changes, failed_changes, change_failure_rate, lead_time_n,
    lead_time_median, lead_time_p90, recovery_n, recovery_median, recovered_by_clusters
from delivery_figure join environment on environment.name = delivery_figure.environment;
