// Pipeline

function showPipeline() {
  const { pipeline } = report;
  const seen = new Map(pipeline.environments.map((item) => [item.environment, item]));
  if (!seen.size) {
    const why = pipeline.problems.map((one) => [one.message, one.advice].filter(Boolean).join(": ")).join("; ");
    const unknown = "States, authors, open pull requests and what waits for whom are not known";
    id("pipeline-note").textContent = `${unknown}${why ? ": " + why : ""}.`;
    id("pipeline-note").hidden = false;
  } else if (pipeline.main) {
    id("pipeline-note").replaceChildren("main: ", ...commit(pipeline.main), pipeline.ci ? ` (ci: ${pipeline.ci})` : "");
    id("pipeline-note").hidden = false;
    if (pipeline.waits.length) id("pipeline-note").after(node("ul", {}, pipeline.waits.slice(0, MOST).map(waitLine)));
  }
  for (const item of report.environments) id("pipeline").append(environmentCard(item, seen.get(item.environment)));
}

function commit(view) {
  return [node("code", {}, view.commit.slice(0, 7)), ` ${view.subject}`,
    view.author ? [node("span", { className: "dim" }, ` by ${view.author}, `, age(view.committedAt))] : []].flat();
}

// Only the last environment ends the chain with success; the others stay pending.
function look({ state, text }) {
  return text === "Deployed" ? "good" : { success: "good", pending: "warn", failure: "bad", error: "bad" }[state] || "";
}

function environmentCard(item, state) {
  const items = report.assignments.filter((each) => each.environment === item.environment);
  const fails = items.filter((each) => each.failure).length;
  const { main } = item;
  const ahead = state && state.ahead !== null ? state.ahead : main && main.ahead;
  const parts = [];
  if (state) parts.push(node("p", { className: look(state.state) }, external(state.state.url, state.state.text),
    state.state.at ? node("span", { className: "dim" }, " ", age(state.state.at)) : null));
  if (state && state.commit) parts.push(node("p", {}, commit(state.commit)));
  if (main && !(state && state.commit && state.commit.commit === main.commit)) {
    parts.push(node("p", {}, state && state.commit ? "this report shows " : "", commit(main)));
  }
  if (!main && !(state && state.commit)) parts.push(node("p", {}, "No commit of main is known."));
  const counts = [counted(items.length, "assignment"), fails ? node("strong", { className: "bad" }, `${fails} failing`) : null,
    item.problems.length ? node("strong", { className: "bad" }, counted(item.problems.length, "problem")) : null,
    item.warnings.length ? node("span", { className: "warn" }, counted(item.warnings.length, "warning")) : null,
    Number.isInteger(ahead) && ahead ? `main is ${counted(ahead, "commit")} ahead` : null].filter(Boolean);
  parts.push(node("p", {}, counts.flatMap((each, index) => (index ? [", ", each] : [each]))));
  if (state) parts.push(...clusters(state), ...waiting(state));
  return node("li", {}, node("h3", {}, item.environment), parts);
}

// Clusters by state, and those that do not comply, the worst first; null without cluster reports.
function clusters(state) {
  if (!state.clusters) return [];
  const numbers = Object.entries(state.clusters).map(([name, number]) => `${number} ${name}`).join(", ");
  const line = ({ state: name, name: cluster, clusterType, reason }) =>
    node("li", {}, `${name}: ${cluster ? `${cluster} (${clusterType || "all"})` : `cluster type ${clusterType}`}: ${reason}`);
  const shown = state.notCompliant.slice(0, MOST).map(line);
  const more = state.notCompliant.length - shown.length;
  if (more > 0) shown.push(node("li", {}, `${more} more are in report.json.`));
  const told = state.warnings.map((one) => node("li", { className: "warn" }, one.message));
  const lists = [shown, told].filter((list) => list.length).map((list) => node("ul", {}, list));
  return [node("p", {}, `clusters: ${numbers || "none"}`), ...lists];
}

const waitLine = (wait) => node("li", {}, `waits for ${wait.waitsFor}: `, external(wait.url, wait.text));

function waiting(state) {
  const waits = state.waits.map(waitLine);
  const pulls = state.pullRequests.map((pull) => node("li", {}, external(pull.url, `${pull.repository}#${pull.number}`),
    ` ${pull.title}`, node("span", { className: "dim" }, ` by ${pull.author}, `, age(pull.createdAt))));
  const problems = state.problems.map((one) => node("li", { className: "bad" }, one.message));
  return [waits, pulls, problems].filter((list) => list.length).map((list) => node("ul", {}, list));
}

// Findings

function showFindings() {
  for (const item of [{ ...report, environment: "The whole fleet" }, ...report.environments]) {
    const all = [...item.problems.map((one) => ["problem", one]), ...item.warnings.map((one) => ["warning", one])];
    if (!all.length) continue;
    id("findings").append(node("h3", {}, item.environment));
    for (const [kind, one] of all.slice(0, MOST)) {
      id("findings").append(node("div", { className: "finding " + kind },
        node("strong", { className: kind === "problem" ? "bad" : "warn" }, kind), " ", place(one.where), node("br"),
        node("span", {}, one.message), one.advice ? node("div", { className: "dim" }, "→ " + one.advice) : null));
    }
    if (all.length > MOST) id("findings").append(node("p", {}, `${all.length - MOST} more are in report.json.`));
  }
  if (!id("findings").children.length) id("findings").append(node("p", {}, "None."));
}
