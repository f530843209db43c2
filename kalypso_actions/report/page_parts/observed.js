// The past by the record: deployments, states over time, versions

const SPANS = [[1 / 24, "1 hour"], [1, "24 hours"], [7, "7 days"], [30, "30 days"], [90, "90 days"]];
const WORDS = { well: "runs what it should", progressing: "on its way", unknown: "not known", failing: "fails", none: "no report" };
const SIGNS = { well: "✓", progressing: "…", unknown: "?", failing: "✗", none: "–" };
const RANK = ["failing", "unknown", "progressing", "well"];
const HEIGHT = 26;
let span = 7, unfolded = new Set(), runs = new Map(), pasts = new Map();

const moment = (seconds) => new Date(seconds * 1000);
const shown = (seconds) => node("time", { dateTime: moment(seconds).toISOString() }, moment(seconds).toLocaleString());
const key = (...names) => names.join("\n");

function lasting(seconds) {
  const [unit, size] = UNITS.find(([, each]) => seconds >= each) || ["second", 1];
  return counted(Math.max(1, Math.floor(seconds / size)), unit);
}

function drawn(name, properties, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [each, value] of Object.entries(properties)) made.setAttribute(each, value);
  made.append(...children);
  return made;
}

// Buttons with these texts, of which one is pressed.
function choices(texts, pressed, choose) {
  const buttons = texts.map((text, index) => {
    const button = node("button", { type: "button", "aria-pressed": String(index === pressed) }, text);
    button.addEventListener("click", () => {
      for (const each of buttons) each.setAttribute("aria-pressed", String(each === button));
      choose(index);
    });
    return button;
  });
  return buttons;
}

function prepareObserved() {
  const { observed } = report;
  if (!observed) return;
  for (const run of observed.runs) {
    const name = key(run.environment, run.clusterType, run.target);
    runs.set(name, [...(runs.get(name) || []), run]);
  }
  for (const past of observed.histories) pasts.set(key(past.environment, past.target), past.periods);
  for (const [value, text] of [["behind", "what does not run as wanted"], ["failing", "what fails on clusters"], ["differs", "what differs between environments"]])
    id("kind").append(node("option", { value }, text));
}

function showObserved() {
  const { observed } = report;
  if (!observed) return;
  showDrift(observed);
  showDelivery(observed);
  for (const card of document.querySelectorAll(".cards > li")) card.append(...clusterBar(card.querySelector("h3").textContent));
  id("over-time").hidden = false;
  const longest = (observed.end - observed.since) / 86400;
  span = (SPANS.find(([days]) => days >= longest) || SPANS.at(-1))[0];
  if (span > 7) span = 7;
  id("spans").append(...choices(SPANS.map(([, text]) => text), SPANS.findIndex(([days]) => days === span), (index) => {
    span = SPANS[index][0];
    showTimeline();
  }));
  if (observed.clustersLeftOut) id("timeline-note").textContent = `${observed.clustersLeftOut} clusters are too many for this page; kalypso where and kalypso history show them.`;
  // Where there is no room for the drawing, and on paper, the table tells the same.
  id("as-table").open = innerWidth < 640;
  addEventListener("beforeprint", () => { id("as-table").open = true; });
  showTimeline();
  let width = id("timeline").clientWidth;
  new ResizeObserver(() => {
    if (id("timeline").clientWidth === width) return;
    width = id("timeline").clientWidth;
    showTimeline();
  }).observe(id("timeline"));
}

// Drift

function showDrift({ drift, lookedAt, end, timelines }) {
  id("drift-part").hidden = false;
  const old = end - lookedAt > 2 * 3600;
  if (old && lookedAt) id("drift").append(node("p", { className: "banner" }, `The last look at the clusters was ${lasting(end - lookedAt)} ago: what follows may have changed.`));
  if (!lookedAt) return void id("drift").append(node("p", { className: "banner" }, "Nobody has looked at the clusters yet."));
  if (!drift.length) {
    const clusters = timelines.filter((row) => row.cluster).length;
    const all = clusters ? `All ${counted(clusters, "cluster")} run` : "All clusters run";
    id("drift").append(node("p", { className: "good" }, `✓ ${all} what they should; looked at `, shown(lookedAt), "."));
    return;
  }
  id("drift").append(node("ul", { className: "drift" }, drift.slice(0, MOST).map(driftLine)));
  if (drift.length > MOST) id("drift").append(node("p", {}, `${drift.length - MOST} more are in report.json.`));
}

const DRIFT = { failing: ["bad", "✗"], off: ["bad", "✗"], behind: ["warn", "…"] };

function driftLine(one) {
  const [className, sign] = DRIFT[one.kind] || ["warn", "!"];
  const who = [one.clusterName || one.clusterType, one.target && one.target !== one.clusterType ? one.target : ""].filter(Boolean).join(", ");
  const versions = one.wanted !== one.has && (one.wanted || one.has) ? `: should run ${one.wanted || "nothing"}, runs ${one.has || "nothing"}` : "";
  const behind = one.changes ? `, ${counted(one.changes, "change")} behind` : "";
  return node("li", {}, node("strong", { className }, `${sign} ${one.kind}`), ` ${who ? `${who} in ` : ""}${one.environment}${versions}${behind}`,
    one.since ? node("span", { className: "dim" }, " since ", shown(Date.parse(one.since) / 1000)) : null,
    one.reason ? node("div", { className: "dim" }, one.reason) : null);
}

// Delivery

const WAITS = { people: "people", clusters: "clusters", environment: "other environments", runs: "runs" };

function figureText(figure) {
  if (!figure) return "not known";
  if (figure.median !== null) return `median ${lasting(figure.median)}, 90% within ${lasting(figure.p90)} (n ${figure.n})`;
  return figure.n ? `${figure.values.map(lasting).join(", ")} (n ${figure.n})` : "none yet";
}

const shareText = (share) => (share.share === null ? "none yet" : `${Math.round(share.share * 100)}% (${share.part} of ${share.n})`);

function showDelivery({ delivery, since, cases, start, end }) {
  if (!delivery.length) return;
  const first = Math.max(since, start);
  id("delivery-part").hidden = false;
  const buttons = choices(cases.map((each) => each.environment), 0, (index) => showCases(cases[index], first, end));
  id("delivery").append(node("div", { className: "choices", role: "group", "aria-label": "Environment to draw" }, buttons),
    node("p", { id: "told-case", className: "dim", role: "status" }, "Move to a drawing, and use the arrow keys."), node("div", { id: "charts" }),
    node("details", {}, node("summary", {}, "Cases as a table"), node("div", { id: "cases" })));
  if (cases.length) showCases(cases[0], first, end);
  id("delivery").append(
    table("Table of delivery", ["figure", ...delivery.map((each) => each.environment)], [
      ["deployments", ...delivery.map((each) => Object.entries(each.deployments).map(([kind, number]) => `${number} ${kind}`).join(", ") || "none yet")],
      ["ended well, a week", ...delivery.map((each) => (each.perWeek === null ? "not known" : end - since < 7 * 86400 ? `${each.endedWell} in ${lasting(end - since)}` : `${each.perWeek} (n ${each.endedWell})`))],
      ["lead time", ...delivery.map((each) => figureText(each.leadTime))],
      ["failed commits", ...delivery.map((each) => shareText(each.changeFailures))],
      ["recovery", ...delivery.map((each) => figureText(each.recovery) + (each.recoveredByClusters ? "" : ", by commits"))],
      ["corrections and rollbacks", ...delivery.map((each) => shareText(each.rework))],
      ["waited for", ...delivery.map((each) => node("td", {}, waitBar(each.waits)))],
    ]),
    node("p", { className: "dim" }, "By the record, which exists since ", shown(since), ". Definitions: ", node("code", {}, "kalypso delivery --help"), "."));
}

// Drawings of cases: dots on a logarithmic scale, bars a week, a stacked bar for each commit

const CHART = { width: 320, height: 110, foot: 96 };
const PARTS = Object.values(WAITS);

function showCases(its, start, end) {
  const x = (at) => 6 + ((at - start) / Math.max(1, end - start)) * (CHART.width - 12);
  const waits = its.waits.slice(-20);
  const weeks = weeksOf(its.deployments, start, end);
  id("charts").replaceChildren(
    chart("Lead time", its.leads, dots(its.leads, x), ([at, seconds]) => `deployed ${moment(at).toLocaleString()}, ${lasting(seconds)} after its commit`),
    chart("Recovery", its.recoveries, dots(its.recoveries, x), ([at, seconds]) => `well again ${moment(at).toLocaleString()}, after ${lasting(seconds)}`),
    chart("Deployments a week", weeks, bars(weeks), (week) => `week of ${moment(week.from).toLocaleDateString()}: ${counted(week.all, "deployment")}, ${week.failed} of them failed`),
    chart("Waited for", waits, stacks(waits), ([commit, ...parts]) => `${commit.slice(0, 7)} waited for ${parts.map((seconds, index) => [PARTS[index], seconds]).filter(([, seconds]) => seconds).map(([name, seconds]) => `${name} ${lasting(seconds)}`).join(", ") || "nothing"}`));
  const rows = [...its.leads.map(([at, seconds]) => [at, "lead time", lasting(seconds)]), ...its.recoveries.map(([at, seconds]) => [at, "recovery", lasting(seconds)]),
    ...its.deployments.map(([at, failed]) => [at, "deployment", failed ? "✗ failed" : "✓ well"])].sort((one, other) => other[0] - one[0]);
  const older = Object.entries(its.leftOut).map(([name, number]) => `${number} ${name}`).join(", ");
  if (older) id("charts").append(node("p", { className: "dim" }, `Older ones are not drawn: ${older}.`));
  id("cases").replaceChildren(table(`Table of cases of ${its.environment}`, ["when", "what", "took or ended"], rows.slice(0, MOST).map(([at, ...texts]) => [shown(at), ...texts])),
    node("p", {}, rows.length > MOST ? `${rows.length - MOST} earlier ones are in report.json.` : ""),
    table(`Table of waits of ${its.environment}`, ["commit", ...PARTS], waits.map(([commit, ...parts]) => [node("code", {}, commit.slice(0, 7)), ...parts.map((seconds) => (seconds ? lasting(seconds) : "none"))])));
}

// A drawing of items; each has the horizontal middle of its mark.
function chart(title, items, { shapes, middles }, words) {
  if (!items.length) return node("figure", {}, node("figcaption", {}, title), node("p", { className: "dim" }, "none yet"));
  const mark = drawn("line", { y1: 0, y2: CHART.foot, class: "point", visibility: "hidden" });
  const picture = drawn("svg", { viewBox: `0 0 ${CHART.width} ${CHART.height}`, "aria-hidden": "true" }, ...shapes, mark);
  const track = node("div", { className: "track", tabIndex: 0, role: "slider", "aria-label": title, "aria-valuemin": "1", "aria-valuemax": String(items.length) }, picture);
  const tell = walked(track, mark, items.length, (index) => words(items[index]), "told-case", (index) => {
    mark.setAttribute("x1", middles[index]); mark.setAttribute("x2", middles[index]);
  });
  track.addEventListener("mousemove", (event) => {
    const box = picture.getBoundingClientRect();
    const at = ((event.clientX - box.left) / box.width) * CHART.width;
    tell(middles.reduce((best, each, index) => (Math.abs(each - at) < Math.abs(middles[best] - at) ? index : best), 0), true);
  });
  return node("figure", {}, node("figcaption", {}, title), track);
}

function dots(items, x) {
  const logs = items.map(([, seconds]) => Math.log10(Math.max(1, seconds)));
  const [low, high] = [Math.floor(Math.min(...logs)), Math.ceil(Math.max(...logs) + 0.01)];
  const y = (log) => CHART.foot - 6 - ((log - low) / (high - low)) * (CHART.foot - 20);
  const middles = items.map(([at]) => x(at));
  const shapes = items.map((_, index) => drawn("circle", { cx: middles[index], cy: y(logs[index]), r: 4, class: "dot" }));
  if (items.length) {
    const sorted = [...logs].sort((one, other) => one - other), half = sorted.length / 2;
    const median = (sorted[Math.floor(half)] + sorted[Math.ceil(half) - 1]) / 2;
    shapes.push(drawn("line", { x1: 0, x2: CHART.width, y1: y(median), y2: y(median), class: "median" }),
      drawn("text", { x: 2, y: 10 }, lasting(10 ** high)), drawn("text", { x: 2, y: CHART.height - 2 }, lasting(10 ** low)));
  }
  return { shapes, middles };
}

function weeksOf(deployments, start, end) {
  const weeks = [];
  for (let from = start; from < end; from += 7 * 86400) {
    const its = deployments.filter(([at]) => at >= from && at < from + 7 * 86400);
    weeks.push({ from, all: its.length, failed: its.filter(([, failed]) => failed).length });
  }
  return weeks;
}

function bars(weeks) {
  const most = Math.max(1, ...weeks.map((week) => week.all)), step = (CHART.width - 12) / Math.max(4, weeks.length);
  const middles = weeks.map((_, index) => 6 + step * (index + 0.5));
  const shapes = weeks.flatMap((week, index) => {
    const [unit, from, width] = [(CHART.foot - 14) / most, middles[index] - step * 0.35, step * 0.7];
    const [well, failed] = [(week.all - week.failed) * unit, week.failed * unit];
    return [drawn("rect", { x: from, y: CHART.foot - well, width, height: well, class: "well even" }),
      ...(failed ? [drawn("rect", { x: from, y: CHART.foot - well - failed, width, height: failed, class: "failing" }), ...hatches(from, width, CHART.foot - well - failed, CHART.foot - well)] : [])];
  });
  return { shapes: [...shapes, drawn("text", { x: 2, y: 10 }, String(most))], middles };
}

function stacks(waits) {
  const most = Math.max(1, ...waits.map(([, ...parts]) => parts.reduce((sum, each) => sum + each, 0))), step = (CHART.width - 12) / Math.max(8, waits.length);
  const middles = waits.map((_, index) => 6 + step * (index + 0.5));
  const shapes = waits.flatMap(([, ...parts], index) => {
    let foot = CHART.foot;
    return parts.flatMap((seconds, part) => {
      const height = (seconds / most) * (CHART.foot - 14), width = step * (part === 3 ? 0.3 : 0.7), from = middles[index] - width / 2;
      foot -= height;
      return height ? [drawn("rect", { x: from, y: foot, width, height, class: `part-${part}` }), ...(part === 1 ? hatches(from, width, foot, foot + height, "wait-hatch") : [])] : [];
    });
  });
  return { shapes: [...shapes, drawn("text", { x: 2, y: 10 }, lasting(most)), drawn("text", { x: 2, y: CHART.height - 2 }, "people, clusters, environments, runs")], middles };
}

// The medians beside one another, with their words.
function waitBar(waits) {
  const known = Object.entries(waits).filter(([, figure]) => figure.n)
    .map(([name, figure]) => [name, figure, figure.median ?? figure.values.reduce((sum, each) => sum + each, 0) / figure.values.length]);
  if (!known.length) return ["none yet"];
  const bar = node("span", { className: "bar waits", "aria-hidden": "true" }, known.map(([, , seconds], index) => {
    const part = node("span", { className: `wait-${index % 4}` });
    part.style.flexGrow = Math.max(seconds, 1);
    return part;
  }));
  return [bar, node("ul", {}, known.map(([name, figure]) => node("li", {}, `${WAITS[name] || name}: ${figureText(figure)}`)))];
}

// Cards

function clusterBar(environment) {
  if (!report.observed) return [];
  const last = report.observed.timelines.filter((row) => row.cluster && row.environment === environment)
    .map((row) => row.segments.at(-1)[1]).filter((state) => state !== "none");
  const parts = RANK.map((state) => [state, last.filter((each) => each === state).length]).filter(([, number]) => number).reverse();
  const bar = last.length ? [node("p", { className: "clusters" }, node("span", { className: "bar", "aria-hidden": "true" },
    parts.map(([state, number]) => { const part = node("span", { className: state }); part.style.flexGrow = number; return part; })),
  ` ${last.filter((each) => each === "well").length}/${last.length} clusters`,
  parts.filter(([state]) => state !== "well").map(([state, number]) => `, ${number} ${WORDS[state]}`).join(""))] : [];
  const past = report.observed.deployments.filter((each) => each.environment === environment);
  if (!past.length) return bar;
  const texts = { well: "ended well", failed: "failed", open: "is not finished" };
  return [...bar, node("ol", { className: "squares", "aria-label": `The last deployments of ${environment}` }, past.map((each) => {
    const text = `${each.commit.slice(0, 7)} of ${moment(each.at).toLocaleString()} ${texts[each.state]}, ${each.well}/${each.clusters} clusters`;
    const link = external(each.url, node("span", { className: "hidden" }, text));
    link.className = each.state;
    link.title = text;
    return node("li", {}, link);
  }))];
}

// Timeline

function showTimeline() {
  const { end, timelines } = report.observed;
  const start = end - span * 86400;
  id("timeline").replaceChildren(...environments().flatMap((environment) => {
    const rows = timelines.filter((row) => row.environment === environment);
    const visible = rows.filter((row) => !row.cluster || unfolded.has(key(environment, row.clusterType)));
    if (!rows.length) return [];
    return [node("h3", {}, environment), ...visible.map((row) => timelineRow(row, rows, start, end)), scale(start, end)];
  }));
  const listed = timelines.filter((row) => !row.cluster).flatMap((row) => parts(row, start, end).map((part) => [row, part]))
    .filter(([, part]) => part.state !== "none").sort((one, other) => other[1].from - one[1].from);
  id("timeline-table").replaceChildren(table("Table of states", ["cluster type", "state", "from", "for", "wanted"],
    listed.slice(0, MOST).map(([row, part]) => [`${row.clusterType || "all"} in ${row.environment}`, node("td", { className: stateClass(part.state) }, `${SIGNS[part.state]} ${WORDS[part.state]}`),
      shown(part.from), lasting(part.to - part.from), node("code", {}, part.wanted.slice(0, 7))])));
  if (listed.length > MOST) id("timeline-table").append(node("p", {}, `${listed.length - MOST} earlier ones are in report.json.`));
}

const stateClass = (state) => ({ well: "good", failing: "bad", progressing: "warn" }[state] || "dim");

// The segments of a row within a time, with their ends.
function parts(row, start, end) {
  return row.segments.map(([from, state, wanted], index) => ({
    from: Math.max(from, start), to: index + 1 < row.segments.length ? row.segments[index + 1][0] : end,
    state, index: wanted, wanted: wanted < 0 ? "" : row.wanted[wanted],
  })).filter((part) => part.to > part.from);
}

function timelineRow(row, rows, start, end) {
  const name = row.cluster || row.clusterType || "all";
  const its = parts(row, start, end);
  const width = Math.max(120, id("timeline").clientWidth - (innerWidth < 640 ? 0 : 190));
  const x = (seconds) => ((seconds - start) / (end - start)) * width;
  const picture = drawn("svg", { width, height: HEIGHT, "aria-hidden": "true" }, ...its.flatMap((part, number) => segment(part, its[number - 1], x)));
  const merges = new Set(row.cluster ? [] : row.segments.filter(([, , wanted], index) => index && wanted !== row.segments[index - 1][2]).map(([from]) => from));
  for (const at of merges) if (at > start) picture.append(drawn("line", { x1: x(at), x2: x(at), y1: 0, y2: HEIGHT, class: "merge" }));
  const track = node("div", { className: "track", tabIndex: 0, role: "slider", "aria-label": `${name} in ${row.environment}`,
    "aria-valuemin": "1", "aria-valuemax": String(Math.max(1, its.length)) }, picture);
  const mark = drawn("rect", { y: 1, height: HEIGHT - 2, class: "chosen", visibility: "hidden" });
  picture.append(mark);
  const tell = walked(track, mark, its.length, (index) => {
    const part = its[index];
    return `${name} in ${row.environment}: ${WORDS[part.state]}, from ${moment(part.from).toLocaleString()} for ${lasting(part.to - part.from)}${part.wanted ? `; ${part.wanted.slice(0, 7)} was wanted` : ""}`;
  }, "told", (index) => {
    const part = its[index];
    mark.setAttribute("x", x(part.from)); mark.setAttribute("width", Math.max(2, x(part.to) - x(part.from)));
  });
  track.addEventListener("mousemove", (event) => {
    const at = start + ((event.clientX - picture.getBoundingClientRect().left) / width) * (end - start);
    const index = its.findIndex((part) => part.from <= at && at < part.to);
    if (index >= 0) tell(index, true);
  });
  return node("div", { className: row.cluster ? "line cluster" : "line" }, label(row, rows, name), track);
}

// Arrow keys and the pointer move along a drawing; what is there is told in words.
function walked(track, mark, number, textOf, told, place) {
  let chosen = number - 1;
  const tell = (index, visible) => {
    chosen = Math.min(Math.max(index, 0), number - 1);
    const text = number ? textOf(chosen) : "no report";
    track.setAttribute("aria-valuenow", String(chosen + 1));
    track.setAttribute("aria-valuetext", text);
    if (!visible || !number) return;
    id(told).textContent = text;
    place(chosen);
    mark.setAttribute("visibility", "visible");
  };
  tell(chosen, false);
  track.addEventListener("focus", () => tell(chosen, true));
  track.addEventListener("blur", () => mark.setAttribute("visibility", "hidden"));
  track.addEventListener("mouseleave", () => { if (document.activeElement !== track) mark.setAttribute("visibility", "hidden"); });
  track.addEventListener("keydown", (event) => {
    const move = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, Home: -number, End: number }[event.key];
    if (move) { event.preventDefault(); tell(chosen + move, true); }
  });
  return tell;
}

function label(row, rows, name) {
  const of = rows.filter((each) => each.cluster && each.clusterType === row.clusterType).length;
  if (row.cluster || !of) return node("span", { className: "name" }, name);
  const which = key(row.environment, row.clusterType);
  const open = node("button", { type: "button", className: "name", "aria-expanded": String(unfolded.has(which)), value: which }, `${name} (${of})`);
  open.addEventListener("click", () => {
    if (!unfolded.delete(which)) unfolded.add(which);
    showTimeline();
    [...id("timeline").querySelectorAll("button.name")].find((each) => each.value === which)?.focus();
  });
  return open;
}

function segment(part, before, x) {
  const [from, to] = [x(part.from), x(part.to)];
  const width = Math.max(part.state === "failing" ? 3 : 1, to - from);
  if (part.state === "none") return before && before.state !== "none" ? [drawn("line", { x1: from, x2: from, y1: 3, y2: HEIGHT - 3, class: "stop" })] : [];
  if (part.state === "unknown") return [drawn("line", { x1: from, x2: to, y1: HEIGHT / 2, y2: HEIGHT / 2, class: "unknown" })];
  if (part.state === "progressing") return [drawn("rect", { x: from, y: HEIGHT / 2 - 3, width, height: 6, class: "progressing" })];
  const box = drawn("rect", { x: from, y: 3, width, height: HEIGHT - 6, class: `${part.state} ${part.index % 2 ? "odd" : "even"}` });
  if (part.state === "failing") return [box, ...hatches(from, width), drawn("path", { d: `M${from} 0 l7 0 l-7 9 z`, class: "notch" })];
  const text = width > 62 && part.wanted ? [drawn("text", { x: from + 5, y: HEIGHT / 2 + 4 }, part.wanted.slice(0, 7))] : [];
  return [box, ...text];
}

// Lines, so that a failure is seen without its colour.
function hatches(from, width, top = 3, foot = HEIGHT - 3, name = "hatch") {
  const lines = [];
  for (let x = from; x < from + width - 2; x += 6)
    lines.push(drawn("line", { x1: x, y1: foot, x2: Math.min(x + 8, from + width), y2: top, class: name }));
  return lines;
}

function scale(start, end) {
  const steps = 4, times = [];
  for (let step = 0; step <= steps; step += 1) {
    const at = moment(start + ((end - start) * step) / steps);
    times.push(node("span", {}, span <= 1 ? at.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" }) : at.toLocaleDateString([], { month: "short", day: "numeric" })));
  }
  return node("div", { className: "scale", "aria-hidden": "true" }, times);
}

// Matrix and drill-down

// What clusters have of an assignment: the version of most, how many are well, of how many.
function running(item) {
  const its = runs.get(key(item.environment, item.clusterType, item.target));
  if (!its) return null;
  const most = its.reduce((one, other) => (other.clusters > one.clusters ? other : one));
  const sum = (list) => list.reduce((total, each) => total + each.clusters, 0);
  const state = RANK.find((each) => its.some((run) => run.state === each));
  return { version: most.version, state, well: sum(its.filter((run) => run.state === "well")), of: sum(its) };
}

function versionText(item) {
  const now = running(item);
  return now ? ` ${now.version} ${now.well}/${now.of} ${SIGNS[now.state]}` : "";
}

function differs(item, items) {
  const own = running(item);
  return own !== null && items.some((other) => { const its = running(other); return its && its.version !== own.version; });
}

function past(item) {
  const periods = pasts.get(key(item.environment, item.target));
  if (!periods) return [];
  const rows = periods.map((each) => {
    const [well, failed, other] = each.clusters[item.clusterType] || [0, 0, 0];
    const ends = [well ? `${well} ✓` : "", failed ? `${failed} ✗` : "", other ? `${other} …` : ""].filter(Boolean).join(", ");
    return [each.version || "-", node("code", {}, each.commit.slice(0, 7)), shown(each.start), each.until ? shown(each.until) : "now", ends || "none"];
  });
  return [node("h3", {}, "Versions over time"), table("Table of versions over time", ["version", "commit", "from", "until", `clusters of ${item.clusterType}`], rows)];
}
