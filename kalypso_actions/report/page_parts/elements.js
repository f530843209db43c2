"use strict";
// Texts of repositories become text nodes only, so the browser never parses them as HTML.
const CELLS = 600, WIDE = 40, MOST = 200;
const UNITS = [["day", 86400], ["hour", 3600], ["minute", 60]];
const ORDER = new Intl.Collator("en", { numeric: true });
const id = (name) => document.getElementById(name);
let report, targets = [], workspaces = [], columns = [], keys = [], pages = 1;

function node(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (key in made) made[key] = value; else made.setAttribute(key, value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return made;
}

async function read() {
  const bytes = Uint8Array.from(atob(id("data").textContent), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

// Links, places, times, tables

const isPage = (url) => /^https?:\/\//.test(url);
const external = (url, text) => (isPage(url) ? node("a", { href: url, rel: "noreferrer" }, text) : node("span", {}, text));
const address = (...names) => "#/" + names.map(encodeURIComponent).join("/");
const link = (item) => address(item.environment, item.clusterType, item.target);
const workspaceOf = (item) => item.workspace || "(none)";
const counted = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;
const environments = () => report.environments.map((item) => item.environment);

function place(where) {
  if (!where) return "";
  const text = `${where.path || where.repository}${where.line ? ":" + where.line : ""}`;
  const repository = where.repository.replace(/\.git$/, "");
  if (!where.commit || !/^https?:\/\/[^/]+\/[\w.-]+\/[\w.-]+$/.test(repository)) return text;
  const path = where.path.split("/").map(encodeURIComponent).join("/");
  return external(`${repository}/blob/${where.commit}/${path}${where.line ? "#L" + where.line : ""}`, text);
}

function age(time) {
  const seconds = (new Date(report.at) - new Date(time)) / 1000;
  const [unit, size] = UNITS.find(([, each]) => seconds >= each) || ["", 0];
  const moment = new Date(time).toLocaleString();
  const recent = seconds < 0 ? moment : "just now";
  return node("time", { dateTime: time, title: moment }, unit ? counted(Math.floor(seconds / size), unit) + " ago" : recent);
}

function heading(names) {
  return node("thead", {}, node("tr", {}, names.map((name) => node("th", { scope: "col" }, name))));
}

function table(label, names, rows) {
  const body = node("tbody", {}, rows.map(([first, ...cells]) => node("tr", {},
    node("th", { scope: "row" }, first), cells.map((cell) => (cell instanceof HTMLTableCellElement ? cell : node("td", {}, cell))))));
  return node("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": label }, node("table", {}, heading(names), body));
}
