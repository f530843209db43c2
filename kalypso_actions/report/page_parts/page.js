"use strict";
// Texts of repositories reach the page as text nodes only: nothing is parsed as HTML.
const PAGE = 60, WIDE = 40;
const id = (name) => document.getElementById(name);
let report, rows = [], columns = [], shown = PAGE;

function node(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key in made) made[key] = value; else made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

async function read() {
  const bytes = Uint8Array.from(atob(id("data").textContent), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

function prepare() {
  const wide = new Set(report.assignments.map((item) => item.clusterType));
  const environments = report.environments.map((item) => item.environment);
  const byRow = new Map();
  columns = [...wide].sort();
  for (const item of report.assignments) {
    const name = report.withFiles ? item.target : item.workspace || "(no workspace)";
    let row = byRow.get(name);
    if (!row) byRow.set(name, (row = { name, items: [], workspaces: new Set(), cells: new Map(), text: "" }));
    row.items.push(item);
    row.workspaces.add(item.workspace);
    const cell = row.cells.get(item.clusterType) || [];
    row.cells.set(item.clusterType, cell);
    cell.push(item);
  }
  rows = [...byRow.values()].sort((one, other) => (one.name < other.name ? -1 : 1));
  for (const row of rows) {
    for (const item of row.items) {
      item.text = [item.target, item.workload, item.workspace, item.clusterType, ...item.policies].join(" ").toLowerCase();
      row.fails ||= Boolean(item.failure);
    }
    row.differs = [...row.cells.values()].some((cell) =>
      environments.some((name) => !cell.some((item) => item.environment === name)));
  }
}

const link = (item) => "#/" + [item.environment, item.clusterType, item.target].map(encodeURIComponent).join("/");

function heading(names) {
  return node("thead", {}, node("tr", {}, ...names.map((name) => node("th", { scope: "col" }, name))));
}

function showEnvironments() {
  const body = node("tbody");
  for (const item of report.environments) {
    const count = report.assignments.filter((each) => each.environment === item.environment);
    const fails = count.filter((each) => each.failure).length;
    const main = item.main;
    const ahead = !main ? "unknown" : main.ahead === null ? "unknown" : main.ahead === 0 ? "-" : String(main.ahead);
    body.append(node("tr", {}, node("th", { scope: "row" }, item.environment),
      node("td", {}, main ? main.commit.slice(0, 7) + " " + main.subject : "none"), node("td", {}, ahead),
      node("td", {}, String(count.length)), node("td", { className: fails ? "bad" : "" }, String(fails)),
      node("td", { className: item.problems.length ? "bad" : "good" }, String(item.problems.length)),
      node("td", { className: item.warnings.length ? "warn" : "" }, String(item.warnings.length))));
  }
  id("environments").replaceChildren(
    heading(["environment", "commit of main", "main ahead", "assignments", "failing", "problems", "warnings"]), body);
}

function showFindings() {
  const place = (where) => (where ? `${where.path || where.repository}${where.line ? ":" + where.line : ""}` : "");
  for (const item of report.environments) {
    const all = [...item.problems.map((one) => ["problem", one]), ...item.warnings.map((one) => ["warning", one])];
    if (!all.length) continue;
    id("findings").append(node("h3", {}, item.environment));
    for (const [kind, one] of all) {
      id("findings").append(node("div", { className: "finding" },
        node("strong", { className: kind === "problem" ? "bad" : "warn" }, kind), " " + place(one.where), node("br"),
        node("span", {}, one.message), one.advice ? node("div", { className: "dim" }, "→ " + one.advice) : null));
    }
  }
  if (!id("findings").children.length) id("findings").append(node("p", {}, "None."));
}

function filtered() {
  const words = id("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  const environment = id("environment").value, kind = id("kind").value;
  const keeps = (item) => (!environment || item.environment === environment) && words.every((word) => item.text.includes(word));
  return rows.filter((row) => (kind !== "differs" || row.differs) && (kind !== "fails" || row.fails))
    .map((row) => ({ row, kept: new Set(row.items.filter((item) => keeps(item) && (kind !== "fails" || item.failure))) }))
    .filter((item) => item.kept.size);
}

function showMatrix() {
  const found = filtered();
  const used = columns.filter((name) => found.some(({ row, kept }) => (row.cells.get(name) || []).some((item) => kept.has(item))));
  const wide = used.slice(0, WIDE);
  const body = node("tbody");
  const names = report.environments.map((item) => item.environment);
  for (const { row, kept } of found.slice(0, shown)) {
    const line = node("tr", {}, node("th", { scope: "row" }, row.name), node("td", { className: "dim" }, [...row.workspaces].join(", ")));
    for (const name of wide) line.append(cell(row.cells.get(name) || [], kept, names));
    body.append(line);
  }
  const total = found.reduce((sum, item) => sum + item.kept.size, 0);
  const what = report.withFiles ? "target" : "workspace";
  const hidden = used.length > wide.length ? `; the first ${wide.length} of ${used.length} cluster types are shown: search for others` : "";
  id("count").textContent = `${total} assignment${total === 1 ? "" : "s"} of ${found.length} ${what}${found.length === 1 ? "" : "s"}${hidden}`;
  id("matrix").replaceChildren(heading([what, "workspace", ...wide]), body);
  id("more").hidden = found.length <= shown;
}

function cell(items, kept, names) {
  if (!report.withFiles) {
    const number = items.filter((item) => kept.has(item)).length;
    return node("td", {}, number ? String(number) : "");
  }
  const made = node("td");
  for (const name of names) {
    const item = items.find((each) => each.environment === name);
    if (item && kept.has(item)) {
      const label = `${item.target} on ${item.clusterType} in ${name}${item.failure ? ", fails" : ""}`;
      made.append(node("a", { href: link(item), className: item.failure ? "bad" : "", "aria-label": label }, name + (item.failure ? " ✗" : "")));
    } else if (items.some((each) => kept.has(each)) && !item) {
      made.append(node("span", { className: "missing", title: `not in ${name}` }, "no " + name));
    }
  }
  return made;
}

function showDetail() {
  const [environment, clusterType, target] = location.hash.slice(2).split("/").map(decodeURIComponent);
  const item = report.assignments.find((each) =>
    each.environment === environment && each.clusterType === clusterType && each.target === target);
  const detail = id("detail");
  detail.hidden = !item;
  if (!item) {
    document.title = report.title;
    return;
  }
  id("detail-heading").textContent = `${target} on ${clusterType} in ${environment}`;
  document.title = `${id("detail-heading").textContent} - ${report.title}`;
  const body = id("detail-body");
  const facts = [["workload", item.workload], ["workspace", item.workspace], ["namespace", item.namespace], ["policies", item.policies.join(", ")]];
  body.replaceChildren(node("table", {}, node("tbody", {}, ...facts.map(([name, value]) =>
    node("tr", {}, node("th", { scope: "row" }, name), node("td", {}, value || "-"))))));
  if (item.failure) body.append(node("p", { className: "bad" }, item.failure));
  body.append(node("h3", {}, "Where else"), elsewhere(item));
  const others = report.assignments.filter((each) =>
    each.environment !== environment && each.clusterType === clusterType && each.target === target);
  for (const other of others) body.append(...differences(item, other));
  body.append(node("h3", {}, "Configuration"), configuration(report.configurations[item.configuration]));
  body.append(node("h3", {}, "Files"));
  for (const [name, index] of Object.entries(item.files)) {
    body.append(node("details", {}, node("summary", {}, name), node("pre", { tabIndex: 0 }, report.texts[index])));
  }
  if (!Object.keys(item.files).length) body.append(node("p", {}, report.withFiles ? "None." : "This report is too large for files."));
  id("detail-heading").focus();
  detail.scrollIntoView();
}

function elsewhere(item) {
  const others = report.assignments.filter((each) => each.target === item.target && each !== item);
  if (!others.length) return node("p", {}, "Nowhere.");
  return node("p", {}, ...others.slice(0, 100).flatMap((each) => [node("a", { href: link(each) }, `${each.clusterType} in ${each.environment}`), " "]));
}

function differences(item, other) {
  const values = (each) => new Map(report.configurations[each.configuration].map((one) => [one.key, one.value]));
  const here = values(item), there = values(other);
  const keys = [...new Set([...here.keys(), ...there.keys()])].filter((key) => here.get(key) !== there.get(key)).sort();
  const title = node("h3", {}, `Different in ${other.environment}`);
  if (!keys.length) return [title, node("p", {}, "No configuration value.")];
  const rows = keys.map((key) => node("tr", {}, node("th", { scope: "row" }, key),
    ...[here, there].map((side) => node("td", { className: "value" }, side.get(key) ?? "-"))));
  const table = node("table", {}, heading(["key", item.environment, other.environment]), node("tbody", {}, ...rows));
  return [title, node("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": title.textContent }, table)];
}

function configuration(values) {
  if (!values.length) return node("p", {}, "None.");
  const body = node("tbody");
  for (const each of values) {
    const places = each.origins.map((where, index) => {
      const wins = index === each.origins.length - 1 && each.origins.length > 1 ? " (wins)" : "";
      return node("div", {}, `${where.path || where.repository}${where.line ? ":" + where.line : ""}${wins}`);
    });
    body.append(node("tr", {}, node("th", { scope: "row" }, each.key), node("td", { className: "value" }, each.value), node("td", { className: "dim" }, ...places)));
  }
  return node("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": "Table of configuration values" }, node("table", {}, heading(["key", "value", "set at, in order"]), body));
}

async function start() {
  report = await read();
  prepare();
  id("time").textContent = "as of " + new Date(report.at).toLocaleString();
  for (const item of report.environments) id("environment").append(node("option", { value: item.environment }, item.environment));
  showEnvironments();
  showFindings();
  showMatrix();
  showDetail();
  for (const name of ["search", "environment", "kind"]) {
    id(name).addEventListener("input", () => { shown = PAGE; showMatrix(); });
  }
  id("filters").addEventListener("submit", (event) => event.preventDefault());
  id("more").addEventListener("click", () => { shown += PAGE; showMatrix(); });
  addEventListener("hashchange", showDetail);
  addEventListener("keydown", (event) => {
    const typing = ["INPUT", "SELECT"].includes(document.activeElement.tagName);
    if (event.key === "/" && !typing) { event.preventDefault(); id("search").focus(); }
    if (event.key === "Escape" && location.hash.startsWith("#/")) { location.hash = ""; id("matrix-heading").focus(); }
  });
  document.documentElement.dataset.ready = "true";
}

start();
