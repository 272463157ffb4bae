// Enhances pages that work without it: sliders beside the number fields, results swapped in place by htmx.
"use strict";
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  const narrow = window.matchMedia("(max-width: 860px)");
  const $ = (selector, inside = document) => inside.querySelector(selector);
  const all = (selector, inside = document) => [...inside.querySelectorAll(selector)];

  // -- sliders: the number field is what counts, the slider writes into it ---------------------------------------
  const value = (slider) => {
    const low = Number(slider.dataset.low), high = Number(slider.dataset.high), share = slider.value / 1000;
    if (!("log" in slider.dataset)) return String(Math.round(low + share * (high - low)));
    return String(Number((low * Math.pow(high / low, share)).toPrecision(2)));
  };
  const place = (slider, text) => {
    const low = Number(slider.dataset.low), high = Number(slider.dataset.high), x = Number(text);
    if (text.trim() === "" || Number.isNaN(x)) return;
    const inside = Math.min(Math.max(x, low), high);
    const share = "log" in slider.dataset ? Math.log(inside / low) / Math.log(high / low) : (inside - low) / (high - low);
    slider.value = String(Math.round(1000 * share));
    slider.setAttribute("aria-valuetext", text);
  };
  const sliderOf = (field) => $(`input[type="range"][data-for="${field.id}"]`);

  let waiting = 0;
  document.addEventListener("input", (event) => {
    const target = event.target;
    const form = target.closest("form[hx-get]");
    if (!form) return;
    window.clearTimeout(waiting);
    if (target.type === "range") {
      const text = value(target);
      document.getElementById(target.dataset.for).value = text;
      target.setAttribute("aria-valuetext", text);
      window.htmx.trigger(form, "adjust");
    } else if (target.type === "text" && form.matches(".controls, .settings")) {
      const slider = sliderOf(target);
      if (slider) place(slider, target.value);
      waiting = window.setTimeout(() => window.htmx.trigger(form, "adjust"), 300);
    }
  });
  // -- shares of ε: moving one makes the others give way or grow, so that all keep adding up to 100 ----------------
  const LEAST = 0.1;
  const two = (x) => Math.round(100 * x) / 100;
  const shareOf = (slider) => document.getElementById(slider.dataset.share);
  const put = (slider, share, typed) => {
    if (!typed) shareOf(slider).value = String(share);
    slider.value = String(share);
    slider.setAttribute("aria-valuetext", `${share}%`);
  };
  const share = (form, moved, wanted, typed) => {
    const others = all("input[data-share]", form).filter((slider) => slider !== moved);
    const now = two(Math.min(Math.max(wanted, LEAST), 100 - LEAST * others.length));
    const before = others.map((slider) => Math.max(Number(shareOf(slider).value) || 0, LEAST));
    const sum = before.reduce((a, b) => a + b, 0);
    const after = before.map((x) => Math.max(two(x * (100 - now) / sum), LEAST));
    const largest = after.indexOf(Math.max(...after));
    after[largest] = two(after[largest] + 100 - now - after.reduce((a, b) => a + b, 0));
    put(moved, now, typed);
    others.forEach((slider, i) => put(slider, after[i], false));
  };
  document.addEventListener("input", (event) => {
    const target = event.target, form = target.closest("form.share-form");
    if (!form) return;
    window.clearTimeout(waiting);
    if (target.type === "range") {
      share(form, target, Number(target.value), false);
      window.htmx.trigger(form, "adjust");
      return;
    }
    const typed = Number(target.value.trim().replace("%", "").replace(",", "."));
    const slider = $(`input[data-share="${target.id}"]`, form);
    if (slider && typed > 0 && typed < 100) share(form, slider, typed, true);
    waiting = window.setTimeout(() => window.htmx.trigger(form, "adjust"), 300);
  });
  // A slider has a thousand steps, too many for the arrow keys: they move it by ten, Page Up and Down by a hundred.
  document.addEventListener("keydown", (event) => {
    const slider = event.target;
    if (slider.type !== "range") return;
    const steps = { ArrowRight: 10, ArrowUp: 10, ArrowLeft: -10, ArrowDown: -10, PageUp: 100, PageDown: -100 };
    if (!(event.key in steps)) return;
    event.preventDefault();
    slider.value = String(Number(slider.value) + steps[event.key] * (slider.dataset.share ? 0.1 : 1));
    slider.dispatchEvent(new Event("input", { bubbles: true }));
  });

  // -- history: one entry for a whole drag ------------------------------------------------------------------------
  let gesture = false;
  let kind = "";
  document.addEventListener("htmx:configRequest", (event) => {
    const cause = event.detail.triggeringEvent;
    kind = cause ? cause.type : "";
  });
  document.addEventListener("htmx:beforeHistoryUpdate", (event) => {
    const history = event.detail.history;
    const here = window.location.pathname + window.location.search;
    if (history.path === here || gesture) history.type = "replace";
    gesture = kind === "adjust";
  });

  // -- while computing --------------------------------------------------------------------------------------------
  let late = 0;
  const busy = (on, where) => {
    window.clearTimeout(late);
    const result = where && where.closest("#shares") ? $("#shared") : $("#result"), note = $("#computing");
    if (result) { result.classList.toggle("busy", on); result.setAttribute("aria-busy", String(on)); }
    if (on) late = window.setTimeout(() => { note.hidden = false; }, 300);
    else note.hidden = true;
  };
  document.addEventListener("htmx:beforeRequest", (event) => busy(true, event.detail.elt));
  document.addEventListener("htmx:afterRequest", (event) => {
    busy(false, event.detail.elt);
    if (event.detail.xhr.status) silent("", event.detail.elt);
  });
  // Without an answer the numbers are not those of what was entered: they stay dimmed, and it is said where one looks.
  const silent = (words, where) => {
    const result = where && where.closest("#shares") ? $("#shared") : $("#result"), note = $("#silent");
    if (result) result.classList.toggle("stale", words !== "");
    note.hidden = words === "";
    $(".words", note).textContent = words;
  };
  const UNANSWERED = "The server does not answer. What is shown is from before your change. Is it still running?";
  for (const name of ["htmx:sendError", "htmx:timeout"]) {
    document.addEventListener(name, (event) => silent(UNANSWERED, event.detail.elt));
  }
  document.addEventListener("submit", (event) => {
    const form = event.target, to = event.submitter && event.submitter.getAttribute("formaction");
    if (!form.hasAttribute("hx-get") && !form.hasAttribute("hx-post") && to !== "/assess/plan") busy(true);
  });
  window.addEventListener("pageshow", () => busy(false));

  // -- after a swap: announce it, once things have settled --------------------------------------------------------
  let announcing = 0;
  const say = (text) => {
    window.clearTimeout(announcing);
    announcing = window.setTimeout(() => { $("#announce").textContent = text; }, 500);
  };
  const settle = () => {
    for (const slot of all("p.error[id^='error-']")) {
      const field = document.getElementById(slot.id.replace("error-", "f-"));
      if (field && slot.textContent.trim()) field.setAttribute("aria-invalid", "true");
      else if (field) field.removeAttribute("aria-invalid");
    }
  };
  document.addEventListener("htmx:afterSettle", (event) => {
    settle();
    fold(false);
    const shares = event.detail.elt.closest("#shares");
    const result = shares || $("#result");
    const wrong = $("p.error.alone", result);
    const words = wrong || $(shares ? ".told" : ".lead", result);
    if (words) say(words.textContent.replace("▲", "").trim());
  });

  // -- the fold of a phone ----------------------------------------------------------------------------------------
  let unfolded = null;
  const fold = (first) => {
    const more = $("details.more");
    if (!more) return;
    if (!narrow.matches || more.querySelector("p.error:not(:empty)")) more.open = true;
    else if (first || unfolded !== null) more.open = unfolded === true;
    more.querySelector("summary").onclick = () => { unfolded = !more.open; };
  };
  narrow.addEventListener("change", () => fold(true));
  fold(true);
  settle();

  document.addEventListener("click", (event) => { if (event.target.closest("button.print")) window.print(); });

  // -- links ------------------------------------------------------------------------------------------------------
  document.addEventListener("click", async (event) => {
    const link = event.target.closest("a.copy");
    if (!link || !navigator.clipboard) return;
    event.preventDefault();
    try {
      await navigator.clipboard.writeText(link.href);
      const words = link.textContent;
      link.textContent = link.dataset.copied;
      say(link.dataset.copied);
      window.setTimeout(() => { link.textContent = words; }, 2000);
    } catch { window.location.href = link.href; }
  });
})();
