function fill(name, values) {
  id(name).append(...values.map((value) => node("option", { value }, value)));
}

async function start() {
  report = await read();
  prepare();
  prepareObserved();
  id("time").textContent = "as of " + new Date(report.at).toLocaleString();
  fill("environment", environments());
  fill("workspace", [...new Set(report.assignments.map(workspaceOf))].sort(ORDER.compare));
  showObserved();
  showFindings();
  showMatrix();
  showDetail();
  for (const name of ["search", "environment", "workspace", "kind"]) {
    id(name).addEventListener("input", () => { pages = 1; showMatrix(); });
  }
  id("filters").addEventListener("submit", (event) => event.preventDefault());
  id("more").addEventListener("click", () => { pages += 1; showMatrix(); });
  addEventListener("hashchange", showDetail);
  addEventListener("keydown", (event) => {
    const typing = ["INPUT", "SELECT"].includes(document.activeElement.tagName);
    if (event.key === "/" && !typing) { event.preventDefault(); id("search").focus(); }
    if (event.key === "Escape" && location.hash.startsWith("#/")) { location.hash = ""; id("matrix-heading").focus(); }
  });
  document.documentElement.dataset.ready = "true";
}

start();
