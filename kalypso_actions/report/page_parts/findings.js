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
