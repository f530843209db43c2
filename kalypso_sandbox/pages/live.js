"use strict";
// Once a second, ask for this page, and change what differs. Without this script, reload the page.
const main = document.getElementById("main");
const clock = document.getElementById("clock");
let tag = "";

function patch(old, fresh) {
  if (old.isEqualNode(fresh)) return;
  if (old.nodeType !== Node.ELEMENT_NODE || old.tagName !== fresh.tagName || old.id !== fresh.id) {
    old.replaceWith(document.importNode(fresh, true));
    return;
  }
  // What a person has opened or typed stays.
  const kept = old.tagName === "DETAILS" ? ["open"] : [];
  for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name) && !kept.includes(name)) old.removeAttribute(name);
  for (const { name, value } of fresh.attributes) if (!kept.includes(name) && old.getAttribute(name) !== value) old.setAttribute(name, value);
  if (old.tagName === "TEXTAREA") return;
  const children = [...fresh.childNodes];
  children.forEach((child, index) => {
    const known = child.id && [...old.children].find((each) => each.id === child.id);
    if (known && known !== old.childNodes[index]) old.insertBefore(known, old.childNodes[index] || null);
    if (index < old.childNodes.length) patch(old.childNodes[index], child);
    else old.append(document.importNode(child, true));
  });
  while (old.childNodes.length > children.length) old.lastChild.remove();
}

async function look() {
  const headers = { Accept: "text/html", "If-None-Match": tag };
  const answer = await fetch(location.pathname + location.search, { headers, cache: "no-store" });
  clock.textContent = answer.headers.get("X-Sandbox-Time") || clock.textContent;
  if (answer.status !== 200) return;
  tag = answer.headers.get("ETag") || "";
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const fresh = page.getElementById("main");
  if (fresh && fresh.hasAttribute("data-live")) patch(main, fresh);
}

async function repeat() {
  try {
    if (!document.hidden) await look();
    document.documentElement.classList.remove("gone");
  } catch {
    document.documentElement.classList.add("gone");
  }
  setTimeout(repeat, 1000);
}

if (main.hasAttribute("data-live")) repeat();
