// The Assess view works without this; with it a file is sent when it is chosen, rows are added, nothing typed is lost.
"use strict";
(() => {
  const $ = (selector, inside = document) => inside.querySelector(selector);
  const all = (selector, inside = document) => [...inside.querySelectorAll(selector)];
  const form = $("#plan-form");
  const say = (text) => { const place = $("#announce"); if (place) place.textContent = text; };
  const json = (url, body) => fetch(url, { method: "POST", body, headers: { accept: "application/json" } });
  const GONE = "The server does not answer. Is it still running?";

  // -- what is wrong is seen first ----------------------------------------------------------------------------------
  const reveal = (field) => {
    for (let fold = field.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    field.scrollIntoView({ block: "center" });
    field.focus({ preventScroll: true });
  };
  const wrong = all("[aria-invalid=true]").find((field) => field.offsetParent) || $("#error-file:not(:empty)") && $("#f-file");
  if (wrong) reveal(wrong);
  document.addEventListener("click", (event) => {
    const link = event.target.closest("#trouble a");
    const field = link && document.getElementById(decodeURIComponent(link.hash.slice(1)));
    if (!field) return;
    event.preventDefault();
    reveal(field.offsetParent ? field : $("input.typed", field.closest(".picker")) || field);
  });
  // A line that a complaint about the YAML names is marked in it.
  const box = $("#f-yaml");
  const line = box && /line (\d+) /i.exec(($("#error-yaml") || {}).textContent || "");
  if (line) {
    const lines = box.value.split("\n"), n = Number(line[1]) - 1;
    const start = lines.slice(0, n).join("\n").length + (n ? 1 : 0);
    reveal(box);
    box.setSelectionRange(start, start + (lines[n] || "").length);
    box.scrollTop = Math.max(0, 24 * (n - 3));
  }

  // -- a file is sent as soon as it is chosen or dropped ---------------------------------------------------------------
  const drop = $(".drop");
  const complain = (text) => {
    const slot = $("#error-file"), input = $("#f-file");
    slot.replaceChildren();
    if (text) {
      const sign = document.createElement("span");
      sign.className = "sign"; sign.ariaHidden = "true"; sign.textContent = "▲";
      slot.append(sign, ` ${text}`);
      input.setAttribute("aria-invalid", "true");
      input.focus();
      say(text);
    } else input.removeAttribute("aria-invalid");
  };
  const size = (bytes) => bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
  let sending = null;
  const send = (file) => {
    const input = $("#f-file"), most = Number(drop.dataset.most), told = $(".sending", drop);
    const bar = $("progress", told), words = $(".sent", told);
    complain("");
    if (!file) return;
    if (sending) sending.abort();
    const known = drop.dataset.endings.split(",").some((ending) => file.name.toLowerCase().endsWith(ending));
    if (file.size > most) { input.value = ""; complain(`${file.name} has ${size(file.size)}, and the page takes up to ${size(most)}: use the command line, which reads the file where it is.`); return; }
    if (known && file.size === 0) { input.value = ""; complain(`${file.name} is empty: give a table with a line of column names and rows.`); return; }
    const body = new FormData();
    if (form && form.contains(drop)) for (const [key, value] of new FormData(form)) if (key !== "file") body.append(key, value);
    // A file of a kind that is not read need not be sent: its name is enough for the server to say what to do.
    body.append("file", known ? file : new Blob(["x"]), file.name);
    const request = sending = new XMLHttpRequest();
    const over = (problem) => {
      if (sending !== request) return;
      sending = null;
      told.hidden = true;
      drop.classList.remove("busy-file");
      input.value = "";
      if (problem) complain(problem);
    };
    request.upload.onprogress = (event) => {
      if (!event.lengthComputable) return;
      bar.value = 100 * event.loaded / event.total;
      words.textContent = event.loaded < event.total ? `Sending ${file.name}: ${Math.floor(bar.value)}% of ${size(event.total)}` : `Reading ${file.name}`;
    };
    request.onload = () => {
      let answer = {};
      try { answer = JSON.parse(request.responseText); } catch { answer = { error: request.responseText.trim() }; }
      if (request.status < 300 && answer.url) { leaving = true; window.location.assign(answer.url); return; }
      over(answer.error || GONE);
    };
    request.onerror = () => over(`${file.name} could not be sent: the connection ended. Is the server still running?`);
    request.onabort = () => over("");
    bar.value = 0;
    words.textContent = `Sending ${file.name}`;
    told.hidden = false;
    drop.classList.add("busy-file");
    request.open("POST", "/assess/file");
    request.setRequestHeader("accept", "application/json");
    request.send(body);
  };
  if (drop) {
    $("#f-file").addEventListener("change", (event) => send(event.target.files[0]));
    $(".stop", drop).addEventListener("click", () => sending && sending.abort());
    for (const name of ["dragenter", "dragover"]) document.addEventListener(name, (event) => {
      if (!event.dataTransfer || ![...event.dataTransfer.types].includes("Files")) return;
      event.preventDefault();
      drop.classList.add("over-drop");
    });
    for (const name of ["dragleave", "drop"]) document.addEventListener(name, (event) => {
      if (name === "drop" || !event.relatedTarget) drop.classList.remove("over-drop");
    });
    document.addEventListener("drop", (event) => {
      if (!event.dataTransfer || !event.dataTransfer.files.length) return;
      event.preventDefault();
      if (event.dataTransfer.files.length > 1) complain("Several files were dropped: give one table.");
      else send(event.dataTransfer.files[0]);
    });
  }

  // -- rows: the last of each kind is spare, and shown when one more is asked for --------------------------------------
  const NUMBERED = ["name", "id", "for", "aria-describedby", "aria-labelledby", "data-stem", "data-prefix"];
  const renumber = (row, from, to) => {
    const stem = new RegExp(`(^|[ -])${from}(?=_|\\b)`, "g");
    for (const part of [row, ...all("*", row)]) {
      for (const name of NUMBERED) if (part.hasAttribute(name)) part.setAttribute(name, part.getAttribute(name).replace(stem, `$1${to}`));
    }
    const n = Number(/\d+$/.exec(to)[0]) + 1;
    if (row.matches(".query")) for (const place of all(".n", row)) place.textContent = n;
    if (row.matches(".term")) for (const part of all("[aria-label]", row)) part.setAttribute("aria-label", part.getAttribute("aria-label").replace(/\d+$/, n));
  };
  const rowsOf = (button) => { const rows = button.closest(".picker"); return rows ? $("[data-rows]", rows) : $("[data-rows]", button.closest(".cells")) || button.closest("[data-rows]"); };
  const add = (rows) => {
    const spare = all(":scope > .spare", rows)[0];
    if (!spare) return null;
    const copy = spare.cloneNode(true), stem = spare.dataset.stem, n = Number(/\d+$/.exec(stem)[0]) + 1;
    const most = spare.matches(".query") ? 32 : spare.matches(".term") ? 12 : 200;
    spare.classList.remove("spare");
    if (n < most && !all(":scope > .spare", rows).length) { renumber(copy, stem, stem.replace(/\d+$/, n)); spare.after(copy); }
    return spare;
  };
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button.add");
    const row = button && add(rowsOf(button));
    if (row) $("select", row).focus();
  });
  // The values of a column of few are offered beside it.
  document.addEventListener("change", (event) => {
    if (!event.target.matches(".term .column")) return;
    const chosen = event.target.selectedOptions[0], value = $(".value", event.target.closest(".term"));
    if (chosen && chosen.dataset.list) value.setAttribute("list", chosen.dataset.list);
    else value.removeAttribute("list");
  });
  // Picked or typed: the server says the same condition the other way.
  document.addEventListener("change", async (event) => {
    if (!event.target.matches(".picker .tick input") || !form) return;
    const picker = event.target.closest(".picker"), prefix = picker.dataset.prefix, typed = event.target.checked;
    try {
      const answer = await fetch(`/assess/condition/${prefix}`, { method: "POST", body: new URLSearchParams(plain(new FormData(form))) });
      if (!answer.ok) return;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html"), next = $(".picker", page);
      picker.replaceWith(next);
      const field = typed ? $(".typed", next) : $("select.column", next);
      (field && field.offsetParent ? field : $(".tick input", next)).focus();
      keep();
    } catch { unanswered(); }
  });
  const plain = (data) => [...data].filter(([, value]) => typeof value === "string");
  const unanswered = () => { const said = $("#plan-said"); if (said) said.textContent = GONE; say(GONE); };

  // -- what was typed belongs to this place in the history: back and forward bring it back ------------------------------
  let leaving = false;
  const keep = () => {
    if (!form || leaving) return;
    const folds = all("details", form).map((fold) => fold.open);
    try { history.replaceState({ ...(history.state || {}), plan: plain(new FormData(form)), folds }, ""); } catch { /* too much to keep */ }
  };
  const restore = () => {
    const kept = form && history.state && history.state.plan;
    if (!kept) return;
    for (const rows of all("[data-rows]", form).sort((a, b) => a.contains(b) ? -1 : 1)) grow(rows, kept);
    for (const rows of all("[data-rows]", form)) grow(rows, kept);
    const values = new Map();
    for (const [key, value] of kept) values.set(key, [...(values.get(key) || []), value]);
    for (const field of form.elements) {
      if (!field.name || field.type === "hidden" || field.type === "file" || field.tagName === "BUTTON") continue;
      const had = values.get(field.name);
      if (field.type === "checkbox") field.checked = Boolean(had && had.includes(field.value));
      else if (had) field.value = had[0];
    }
    (history.state.folds || []).forEach((open, i) => { const fold = all("details", form)[i]; if (fold && open) fold.open = true; });
  };
  const grow = (rows, kept) => {
    for (let spare; (spare = $(":scope > .spare", rows));) {
      const stem = spare.dataset.stem;
      const used = kept.some(([key, value]) => value && (key === `${stem}_kind` || key === `${stem}_column`));
      if (!used || !add(rows)) return;
    }
  };
  let later = 0;
  document.addEventListener("input", (event) => {
    if (!form || !form.contains(event.target)) return;
    window.clearTimeout(later);
    later = window.setTimeout(() => { keep(); follow(); }, 300);
  });
  document.addEventListener("toggle", (event) => { if (form && form.contains(event.target)) keep(); }, true);
  window.addEventListener("pagehide", keep);
  restore();

  // -- the YAML says what the form says, until somebody writes in it ----------------------------------------------------
  const yaml = $("details.yaml");
  const planned = async () => {
    const answer = await json("/assess/plan", new URLSearchParams(plain(new FormData(form))));
    return answer.json();
  };
  const follow = async () => {
    if (!form || !box || !yaml.open || "edited" in box.dataset) return;
    try { const plan = await planned(); if (plan.yaml && !("edited" in box.dataset)) box.value = plan.yaml; } catch { unanswered(); }
  };
  if (box) box.addEventListener("input", () => { box.dataset.edited = ""; });
  if (yaml) yaml.addEventListener("toggle", () => { if (changed) follow(); });
  let changed = false;
  if (form) form.addEventListener("input", () => { changed = true; });
  document.addEventListener("click", async (event) => {
    if (event.target.closest("button.follow")) { delete box.dataset.edited; follow(); }
    const copy = event.target.closest("button.copy-plan");
    if (!copy) return;
    const told = $("#plan-said");
    try {
      const plan = await planned();
      if (plan.error) told.textContent = plan.error;
      else if (!plan.url) told.textContent = "The plan is too long for a link: download it instead.";
      else {
        await navigator.clipboard.writeText(new URL(plan.url, window.location.href).href);
        told.textContent = "Link copied.";
      }
    } catch (error) { if (error instanceof TypeError) unanswered(); else told.textContent = "The browser did not let the link be copied."; }
  });

  // -- one assessment at a time: more clicks are not more of them -------------------------------------------------------
  document.addEventListener("submit", (event) => {
    const sent = event.target;
    if (!sent.matches("form[action='/assess']") || (event.submitter && event.submitter.formAction.endsWith("/plan"))) return;
    if (sent.dataset.sent) { event.preventDefault(); return; }
    keep();
    sent.dataset.sent = "yes";
    for (const button of all("button.assess, .yaml-form button", sent)) button.setAttribute("aria-disabled", "true");
  });
  window.addEventListener("pageshow", () => {
    for (const sent of all("form[data-sent]")) { delete sent.dataset.sent; all("[aria-disabled]", sent).forEach((b) => b.removeAttribute("aria-disabled")); }
  });

  // -- a job: how far it is, until it is over --------------------------------------------------------------------------
  const job = $("[data-job]");
  const look = async () => {
    let wait = 400;
    try {
      const answer = await fetch(`/assess/job/${job.dataset.job}/state`, { headers: { accept: "application/json" } });
      const told = await answer.json();
      if (!answer.ok || !["waiting", "running"].includes(told.state)) { window.location.replace(job.dataset.then); return; }
      const bar = $("#job-bar"), what = $("#job-what");
      if (told.total) { bar.max = told.total; bar.value = told.done; }
      const words = told.state === "waiting" ? `Waiting: ${told.ahead || "others"} before this` : told.what || "Starting";
      if (what.textContent !== words) what.textContent = words;
    } catch { $("#job-what").textContent = GONE; wait = 2000; }
    window.setTimeout(look, wait);
  };
  if (job) window.setTimeout(look, 300);
})();
