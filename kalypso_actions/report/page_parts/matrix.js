// Matrix

const cellOf = new Map();

function grouped(name) {
  const byName = new Map();
  for (const item of report.assignments) {
    let row = byName.get(name(item));
    if (!row) byName.set(name(item), (row = { name: name(item), items: [], workspaces: new Set(), cells: new Map() }));
    row.items.push(item);
    row.workspaces.add(item.workspace);
    const cell = row.cells.get(item.clusterType) || [];
    row.cells.set(item.clusterType, cell);
    cell.push(item);
  }
  return [...byName.values()].sort((one, other) => ORDER.compare(one.name, other.name));
}

function prepare() {
  columns = [...new Set(report.assignments.map((item) => item.clusterType))].sort(ORDER.compare);
  targets = grouped((item) => item.target);
  if (!report.withTexts) workspaces = grouped(workspaceOf);
  keys = report.configurations.map((values) => values.map((one) => one.key).join(" ").toLowerCase());
  if (!report.withConfigurations) id("search").placeholder = "target, workload, cluster type, policy, commit (too many values to search for keys)";
  const number = report.environments.length;
  for (const row of targets) {
    for (const cell of row.cells.values()) {
      const has = new Set(cell.map((item) => item.environment));
      for (const item of cell) {
        item.text = [item.target, item.workload, item.workspace, item.clusterType, ...item.policies].join(" ").toLowerCase();
        item.elsewhere = has.size < number ? has : null;
        cellOf.set(item, cell);
      }
    }
  }
}

const byWorkspace = () => !report.withTexts && !id("workspace").value;

// A word is part of a name, of a configuration key or of `key=value`, or begins a commit.
function matcher(word) {
  const isOf = (values) => values.some((one) => `${one.key}=${one.value}`.toLowerCase().includes(word));
  const configured = word.includes("=") ? report.configurations.map(isOf) : keys.map((text) => text.includes(word));
  const isCommit = /^[0-9a-f]{7,64}$/.test(word);
  const changed = isCommit ? report.changes.map((each) => each.commit.startsWith(word)) : [];
  return (item) => item.text.includes(word) || configured[item.configuration] || item.changes.some((index) => changed[index]);
}

function filtered() {
  const matchers = id("search").value.toLowerCase().split(/\s+/).filter(Boolean).map(matcher);
  const [environment, workspace, kind] = ["environment", "workspace", "kind"].map((name) => id(name).value);
  const isIn = (item) => !environment || item.environment === environment;
  const isOf = {
    // An assignment is missing in an environment if others have it.
    missing: (item) => item.elsewhere && (!environment || !item.elsewhere.has(environment)),
    fails: (item) => item.failure && (!environment || item.environment === environment),
    behind: (item) => isIn(item) && (running(item)?.state ?? "well") !== "well",
    failing: (item) => isIn(item) && running(item)?.state === "failing",
    differs: (item) => isIn(item) && differs(item, cellOf.get(item)),
    "": isIn,
  }[kind];
  const keeps = (item) => isOf(item) && (!workspace || workspaceOf(item) === workspace) && matchers.every((matches) => matches(item));
  return (byWorkspace() ? workspaces : targets)
    .map((row) => ({ row, kept: new Set(row.items.filter(keeps)) }))
    .filter((item) => item.kept.size);
}

function showMatrix() {
  const found = filtered();
  const kept = new Set(found.flatMap((item) => [...item.kept].map((each) => each.clusterType)));
  const used = columns.filter((name) => kept.has(name));
  const wide = used.slice(0, WIDE);
  const total = found.reduce((sum, item) => sum + item.kept.size, 0);
  const what = byWorkspace() ? "workspace" : "target";
  const rows = pages * Math.max(10, Math.floor(CELLS / (wide.length * (byWorkspace() ? 1 : report.environments.length) || 1)));
  const hidden = used.length > wide.length ? `; the first ${wide.length} of ${used.length} cluster types are shown: search for others` : "";
  id("count").textContent = `${counted(total, "assignment")} of ${counted(found.length, what)}${hidden}`;
  id("matrix").className = byWorkspace() ? "" : "targets";
  id("matrix").replaceChildren(heading(byWorkspace() ? [what, ...wide] : [what, "workspace", ...wide]),
    node("tbody", {}, found.slice(0, rows).map((item) => line(item, wide))));
  id("more").hidden = found.length <= rows;
}

function line({ row, kept }, wide) {
  const cells = wide.map((name) => row.cells.get(name) || []);
  if (byWorkspace()) {
    const open = node("button", { type: "button" }, row.name);
    open.addEventListener("click", () => { id("workspace").value = row.name; pages = 1; showMatrix(); id("matrix-heading").focus(); });
    const numbers = cells.map((items) => items.filter((item) => kept.has(item)).length);
    return node("tr", {}, node("th", { scope: "row" }, open), numbers.map((number) => node("td", {}, number ? String(number) : "")));
  }
  return node("tr", {}, node("th", { scope: "row" }, row.name), node("td", { className: "dim" }, [...row.workspaces].join(", ")),
    cells.map((items) => node("td", {}, cell(items.filter((item) => kept.has(item)), items))));
}

function cell(kept, items) {
  if (!kept.length) return [];
  return environments().map((name) => {
    const item = items.find((each) => each.environment === name);
    if (!item) {
      const { target, clusterType } = items[0];
      return node("a", { href: address(name, clusterType, target), className: "missing", "aria-label": `${target} is not on ${clusterType} in ${name}` }, "no " + name);
    }
    if (!kept.includes(item)) return null;
    const label = `${item.target} on ${item.clusterType} in ${name}${item.failure ? ", fails" : ""}${versionText(item)}`;
    return node("a", { href: link(item), className: item.failure ? "bad" : "", "aria-label": label }, name + (item.failure ? " ✗" : "") + versionText(item));
  });
}
