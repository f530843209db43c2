// Drill-down

function showDetail() {
  const names = location.hash.startsWith("#/") ? location.hash.slice(2).split("/").map(decoded) : [];
  const [environment, clusterType, target] = names;
  const detail = id("detail");
  detail.hidden = names.length !== 3;
  document.title = report.title;
  if (detail.hidden) return;
  id("detail-heading").textContent = `${target} on ${clusterType} in ${environment}`;
  document.title = `${id("detail-heading").textContent} - ${report.title}`;
  const pair = report.assignments.filter((each) => each.clusterType === clusterType && each.target === target);
  const item = pair.find((each) => each.environment === environment);
  id("detail-body").replaceChildren(...(item ? assignment(item, pair) : notAssigned(...names)));
  id("detail-heading").focus();
  detail.scrollIntoView();
}

function decoded(text) {
  try { return decodeURIComponent(text); } catch { return text; }
}

function notAssigned(environment, clusterType, target) {
  return [node("p", {}, "This target is not assigned to this cluster type. The command that says why:"),
    explain(environment, "--target", target, "--cluster-type", clusterType),
    node("h3", {}, "Where it is"), elsewhere(target)];
}

function explain(...words) {
  const plane = report.pipeline.controlPlane;
  const all = ["kalypso", "explain", ...words, ...(plane ? ["--control-plane", plane] : [])];
  return node("pre", { tabIndex: 0 }, all.map(quoted).join(" "));
}

const quoted = (text) => (/^[\w.:/-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

function assignment(item, pair) {
  const environment = report.environments.find((each) => each.environment === item.environment);
  const facts = [["workload", item.workload], ["workspace", item.workspace], ["namespace", item.namespace], ["policies", item.policies.join(", ")]];
  return [
    node("dl", {}, facts.flatMap(([name, value]) => [node("dt", {}, name), node("dd", {}, value || "-")])),
    item.failure ? node("p", { className: "bad" }, item.failure) : "",
    ...past(item),
    node("h3", {}, "Configuration"), ...configuration(item),
    ...pair.filter((each) => each !== item).flatMap((other) => differences(item, other)),
    node("h3", {}, "Files"), files(item, environment),
    node("h3", {}, "Last changes"), ...history(item, environment),
    node("h3", {}, `Why it is here (scheduler ${environment.scheduler})`), ...item.decisions.map((index) => decision(report.decisions[index])),
    node("h3", {}, "Where else"), elsewhere(item.target, item),
    node("p", {}, "The command that says why it is on no other cluster type:"),
    explain(item.environment, "--target", item.target),
  ];
}

function configuration(item) {
  if (!report.withConfigurations)
    return [node("p", {}, "The fleet has too many values for this page. The command that shows those of this assignment:"),
      explain(item.environment, "--target", item.target, "--cluster-type", item.clusterType)];
  const values = report.configurations[item.configuration];
  if (!values.length) return [node("p", {}, "None.")];
  return [table("Table of configuration values", ["key", "value", "set at, in order"], values.map((each) => [each.key,
    node("td", { className: "value" }, each.value),
    node("td", { className: "dim" }, each.origins.map((where, index) =>
      node("div", {}, place(where), index === each.origins.length - 1 && index ? " (wins)" : "")))]))];
}

function differences(item, other) {
  if (!report.withConfigurations) return [];
  const values = (each) => new Map(report.configurations[each.configuration].map((one) => [one.key, one.value]));
  const here = values(item), there = values(other);
  const keys = [...new Set([...here.keys(), ...there.keys()])].filter((key) => here.get(key) !== there.get(key)).sort();
  const title = `Different in ${other.environment}`;
  if (!keys.length) return [node("h3", {}, title), node("p", {}, "No configuration value.")];
  const rows = keys.map((key) => [key, ...[here, there].map((side) => node("td", { className: "value" }, side.get(key) ?? "-"))]);
  return [node("h3", {}, title), table(title, ["key", item.environment, other.environment], rows)];
}

function files(item, environment) {
  const names = Object.entries(item.files);
  if (!names.length) return node("p", {}, "None.");
  return node("div", {}, names.map(([name, index]) => {
    const path = [item.clusterType, item.target, name].map(encodeURIComponent).join("/");
    const merged = environment.gitops.filter((tree) => tree.page).map((tree) => external(`${tree.page}/${path}`,
      index === null ? name : `as merged on ${tree.branch} at ${tree.commit.slice(0, 7)}`));
    if (index === null) return node("div", {}, merged.length ? merged.flatMap((each) => [each, " "]) : name);
    return node("details", {}, node("summary", {}, name), merged.map((each) => node("p", {}, each)), node("pre", { tabIndex: 0 }, report.texts[index]));
  }));
}

function history(item, environment) {
  const faults = environment.gitops.filter((tree) => tree.fault).map((tree) =>
    node("p", { className: "dim" }, `Those of ${tree.repository}, branch ${tree.branch}, are not known: ${tree.fault}`));
  const changes = item.changes.map((index) => report.changes[index]);
  if (!changes.length) return faults.length ? faults : [node("p", {}, "None among the last commits of its GitOps branch.")];
  const rows = changes.map((each) => [external(each.url, node("code", {}, each.commit.slice(0, 7))), each.subject,
    node("td", { className: "dim" }, each.author, ", ", age(each.at))]);
  return [table("Table of the last changes", ["commit", "subject", "by"], rows), ...faults];
}

function decision(each) {
  const mark = (passed) => (passed === null ? "·" : passed ? "✓" : "✗");
  const term = (of, one) => node("li", {}, `${mark(one.matched)} ${of} ${one.requirement}`, one.matched ? "" : ` (it is ${one.value ?? "absent"})`);
  return node("div", { className: "finding" }, node("strong", {}, `policy ${each.policy}`), " ", place(each.where),
    node("ul", { className: "marks" }, each.targetTerms.map((one) => term("target", one)), each.clusterTypeTerms.map((one) => term("cluster type", one)),
      each.steps.map((one) => node("li", {}, `${mark(one.passed)} ${[one.name, one.detail].filter(Boolean).join(": ")}`))));
}

function elsewhere(target, item) {
  const others = report.assignments.filter((each) => each.target === target && each !== item);
  if (!others.length) return node("p", {}, "Nowhere.");
  return node("p", { className: "links" }, others.slice(0, 100).map((each) => node("a", { href: link(each) }, `${each.clusterType} in ${each.environment}`)),
    others.length > 100 ? `and ${others.length - 100} more` : null);
}
