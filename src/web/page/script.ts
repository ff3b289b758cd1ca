/**
 * The script of a live page. The server tells it which parts have changed. It loads these parts and changes only the
 * elements that differ, so elements stay open, chosen, filled in or focused, and the page does not move.
 */
export const script = `(() => {
  const main = document.querySelector("main[data-parts]");
  const said = document.getElementById("said");
  let lost = false;
  let silence;
  const say = (text, isBad = false) => {
    clearTimeout(silence);
    if (!isBad && text !== "") silence = setTimeout(say, 15000, "");
    said.hidden = text === "";
    said.textContent = text;
    said.classList.toggle("bad", isBad);
  };

  const own = { DETAILS: ["open"], INPUT: ["value"], SELECT: [] };
  const keeps = (element, name) =>
    own[element.nodeName]?.includes(name) || (name === "hidden" && element.classList.contains("paper")) ||
    (name === "aria-pressed" && element.dataset.only) || (name === "class" && element.matches(".contents a"));
  const change = (old, fresh) => {
    if (old.nodeType !== fresh.nodeType || old.nodeName !== fresh.nodeName || (old.id ?? "") !== (fresh.id ?? "")) return old.replaceWith(fresh);
    if (old.isEqualNode(fresh)) return;
    if (old.nodeType !== 1) { old.data = fresh.data; return; }
    for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name) && !keeps(old, name)) old.removeAttribute(name);
    for (const { name, value } of fresh.attributes) if (old.getAttribute(name) !== value && !keeps(old, name)) old.setAttribute(name, value);
    if (old.nodeName === "TEXTAREA" || old.nodeName === "TIME") return;
    children(old, [...fresh.childNodes]);
  };
  const children = (parent, wanted) => {
    const byId = new Map([...parent.children].filter(({ id }) => id).map((child) => [child.id, child]));
    let at = parent.firstChild;
    for (const fresh of wanted) {
      const id = fresh.id ?? "";
      while (at && !id && at.id && !wanted.some((each) => each.id === at.id)) { const next = at.nextSibling; at.remove(); at = next; }
      const old = id ? byId.get(id) : at && !at.id && at.nodeName === fresh.nodeName ? at : undefined;
      if (!old) { parent.insertBefore(fresh, at); continue; }
      const next = old === at ? at.nextSibling : at;
      if (old !== at) parent.insertBefore(old, at);
      change(old, fresh);
      at = next;
    }
    while (at) { const next = at.nextSibling; at.remove(); at = next; }
  };

  const elapsed = (ms) => {
    const s = Math.max(0, Math.floor(ms / 1000)), two = (n) => String(n).padStart(2, "0");
    return s < 60 ? s + "s" : s < 3600 ? Math.floor(s / 60) + "m " + two(s % 60) + "s" : Math.floor(s / 3600) + "h " + two(Math.floor(s / 60) % 60) + "m";
  };
  const tick = () => {
    for (const time of document.querySelectorAll("time[data-since]")) time.textContent = elapsed(Date.now() - time.dataset.since);
  };
  const toEnd = () => { for (const stream of document.querySelectorAll(".stream")) stream.scrollTop = stream.scrollHeight; };

  /** The visible elements and their positions: first unfolded papers and quotes, then the others from the top. */
  const places = () => {
    const found = [];
    for (let y = 20; y < innerHeight; y += 60) {
      const element = document.elementFromPoint(innerWidth / 2, y);
      if (!element || element === main || !main.contains(element)) continue;
      const whole = element.closest(".paper, .ev, .q, li, figure, p");
      for (const each of [whole, element]) if (each) found.push([each, each.getBoundingClientRect().top]);
    }
    const weight = (each) => (each.matches(".paper[open], .ev") ? 2 : each.matches(".paper") ? 1 : 0);
    return found.sort(([a], [b]) => weight(b) - weight(a));
  };

  const apply = (parts, texts) => {
    const streams = new Map([...document.querySelectorAll(".agent")].map(({ id, lastElementChild: list }) => [id, list.scrollTop + list.clientHeight > list.scrollHeight - 30]));
    const marks = scrollY < 40 ? [] : places();
    const wanted = new Set(parts.map(([id]) => id));
    for (const id of known.keys()) if (!wanted.has(id)) { document.getElementById(id)?.remove(); known.delete(id); }
    let before = said;
    for (const [id] of parts) {
      let element = document.getElementById(id);
      const text = texts.get(id);
      if (text !== undefined) {
        const holder = document.createElement("template");
        holder.innerHTML = text;
        const fresh = holder.content.firstElementChild;
        if (element) change(element, fresh);
        else element = fresh;
        element = document.getElementById(id) ?? element;
      }
      if (element && before.nextElementSibling !== element) before.after(element);
      before = element ?? before;
    }
    if (texts.has("papers")) {
      document.getElementById("find")?.dispatchEvent(new Event("input", { bubbles: true }));
      const order = document.getElementById("sort");
      if (order && order.selectedIndex > 0) order.dispatchEvent(new Event("change", { bubbles: true }));
    }
    for (const stream of document.querySelectorAll(".stream")) if (streams.get(stream.parentElement.id) !== false) stream.scrollTop = stream.scrollHeight;
    const kept = marks.find(([element]) => element.isConnected && main.contains(element));
    if (kept) scrollBy({ top: kept[0].getBoundingClientRect().top - kept[1], behavior: "instant" });
    tick();
  };

  let known = new Map(), wanted, busy = false;
  const catchUp = async () => {
    if (busy) return;
    busy = true;
    let parts;
    try {
      while (wanted) {
        parts = wanted;
        wanted = undefined;
        const [texts, hashes] = [new Map(), new Map()];
        for (const [id, hash] of parts) {
          if (known.get(id) === hash) continue;
          const answer = await fetch(main.dataset.at + "parts/" + encodeURIComponent(id));
          // The part no longer exists; the next message will say so.
          if (answer.status === 204) continue;
          if (!answer.ok) throw new Error(await answer.text());
          texts.set(id, await answer.text());
          hashes.set(id, answer.headers.get("x-part"));
        }
        apply(parts, texts);
        for (const [id, hash] of hashes) known.set(id, hash);
      }
    } catch {
      wanted ??= parts;
      setTimeout(catchUp, 1000);
    } finally {
      busy = false;
    }
  };

  const listen = () => {
    const source = new EventSource(main.dataset.at + "events");
    source.addEventListener("parts", ({ data }) => {
      if (lost) say("");
      lost = false;
      wanted = JSON.parse(data);
      catchUp();
    });
    source.addEventListener("error", () => {
      lost = true;
      // A browser does not try again if it is refused, for example by a restarted command, which has another token.
      const isRefused = source.readyState === EventSource.CLOSED;
      if (isRefused) setTimeout(listen, 3000);
      say(isRefused ? "research-ralph does not let this page in any more. If it was started again, open the address that it printed; this page then goes on." : "The connection to research-ralph is lost; this page tries again. Is the command still running?", true);
    });
    addEventListener("pagehide", () => source.close(), { once: true });
  };
  if (main) {
    known = new Map(JSON.parse(main.dataset.parts));
    listen();
    tick();
    toEnd();
    setInterval(tick, 1000);
  }

  addEventListener("submit", async (event) => {
    const form = event.target;
    if (!form.matches("form[data-act]")) return;
    event.preventDefault();
    const buttons = form.querySelectorAll("button");
    for (const button of buttons) button.disabled = true;
    try {
      const answer = await fetch(form.action, { method: "POST", headers: { accept: "application/json" }, body: new URLSearchParams(new FormData(form)) });
      const { says } = await answer.json();
      say(says, !answer.ok);
      if (answer.ok) form.reset();
    } catch {
      say("research-ralph did not answer; is the command still running?", true);
    }
    for (const button of buttons) button.disabled = false;
  });
})();
`;
