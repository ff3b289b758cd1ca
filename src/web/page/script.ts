/**
 * The script of a live page. The server tells it which parts have changed. It loads these parts and changes only the
 * elements that differ, so elements stay open, chosen, filled in or focused, and the page does not move.
 */
export const script = `(() => {
  const main = document.querySelector("main[data-parts]");
  const messageElement = document.getElementById("said");
  let isDisconnected = false;
  let hideTimer;
  const showMessage = (text, isBad = false) => {
    clearTimeout(hideTimer);
    if (!isBad && text !== "") hideTimer = setTimeout(showMessage, 15000, "");
    messageElement.hidden = text === "";
    messageElement.textContent = text;
    messageElement.classList.toggle("bad", isBad);
  };

  const userAttributes = { DETAILS: ["open"], INPUT: ["value"], SELECT: [] };
  const mustKeep = (element, name) =>
    userAttributes[element.nodeName]?.includes(name) || (name === "hidden" && element.classList.contains("paper")) ||
    (name === "aria-pressed" && element.dataset.only) || (name === "class" && element.matches(".contents a"));
  const updateNode = (oldNode, newNode) => {
    if (oldNode.nodeType !== newNode.nodeType || oldNode.nodeName !== newNode.nodeName || (oldNode.id ?? "") !== (newNode.id ?? "")) return oldNode.replaceWith(newNode);
    if (oldNode.isEqualNode(newNode)) return;
    if (oldNode.nodeType !== 1) { oldNode.data = newNode.data; return; }
    for (const { name } of [...oldNode.attributes]) if (!newNode.hasAttribute(name) && !mustKeep(oldNode, name)) oldNode.removeAttribute(name);
    for (const { name, value } of newNode.attributes) if (oldNode.getAttribute(name) !== value && !mustKeep(oldNode, name)) oldNode.setAttribute(name, value);
    if (oldNode.nodeName === "TEXTAREA" || oldNode.nodeName === "TIME") return;
    updateChildren(oldNode, [...newNode.childNodes]);
  };
  const updateChildren = (parent, newNodes) => {
    const byId = new Map([...parent.children].filter(({ id }) => id).map((child) => [child.id, child]));
    let current = parent.firstChild;
    for (const newNode of newNodes) {
      const id = newNode.id ?? "";
      while (current && !id && current.id && !newNodes.some((node) => node.id === current.id)) { const next = current.nextSibling; current.remove(); current = next; }
      const oldNode = id ? byId.get(id) : current && !current.id && current.nodeName === newNode.nodeName ? current : undefined;
      if (!oldNode) { parent.insertBefore(newNode, current); continue; }
      const next = oldNode === current ? current.nextSibling : current;
      if (oldNode !== current) parent.insertBefore(oldNode, current);
      updateNode(oldNode, newNode);
      current = next;
    }
    while (current) { const next = current.nextSibling; current.remove(); current = next; }
  };

  const elapsedText = (ms) => {
    const seconds = Math.max(0, Math.floor(ms / 1000)), twoDigits = (n) => String(n).padStart(2, "0");
    return seconds < 60 ? seconds + "s" : seconds < 3600 ? Math.floor(seconds / 60) + "m " + twoDigits(seconds % 60) + "s" : Math.floor(seconds / 3600) + "h " + twoDigits(Math.floor(seconds / 60) % 60) + "m";
  };
  const updateTimes = () => {
    for (const time of document.querySelectorAll("time[data-since]")) time.textContent = elapsedText(Date.now() - time.dataset.since);
  };
  const scrollStreamsToEnd = () => { for (const stream of document.querySelectorAll(".stream")) stream.scrollTop = stream.scrollHeight; };

  /** The visible elements and their positions: first unfolded papers and quotes, then the others from the top. */
  const visiblePositions = () => {
    const positions = [];
    for (let y = 20; y < innerHeight; y += 60) {
      const element = document.elementFromPoint(innerWidth / 2, y);
      if (!element || element === main || !main.contains(element)) continue;
      const container = element.closest(".paper, .ev, .q, li, figure, p");
      for (const shown of [container, element]) if (shown) positions.push([shown, shown.getBoundingClientRect().top]);
    }
    const weight = (element) => (element.matches(".paper[open], .ev") ? 2 : element.matches(".paper") ? 1 : 0);
    return positions.sort(([a], [b]) => weight(b) - weight(a));
  };

  const applyParts = (parts, texts) => {
    const wereAtEnd = new Map([...document.querySelectorAll(".agent")].map(({ id, lastElementChild: list }) => [id, list.scrollTop + list.clientHeight > list.scrollHeight - 30]));
    const positions = scrollY < 40 ? [] : visiblePositions();
    const partIds = new Set(parts.map(([id]) => id));
    for (const id of loadedHashes.keys()) if (!partIds.has(id)) { document.getElementById(id)?.remove(); loadedHashes.delete(id); }
    let previous = messageElement;
    for (const [id] of parts) {
      let element = document.getElementById(id);
      const text = texts.get(id);
      if (text !== undefined) {
        const template = document.createElement("template");
        template.innerHTML = text;
        const newElement = template.content.firstElementChild;
        if (element) updateNode(element, newElement);
        else element = newElement;
        element = document.getElementById(id) ?? element;
      }
      if (element && previous.nextElementSibling !== element) previous.after(element);
      previous = element ?? previous;
    }
    if (texts.has("papers")) {
      document.getElementById("find")?.dispatchEvent(new Event("input", { bubbles: true }));
      const sortSelect = document.getElementById("sort");
      if (sortSelect && sortSelect.selectedIndex > 0) sortSelect.dispatchEvent(new Event("change", { bubbles: true }));
    }
    for (const stream of document.querySelectorAll(".stream")) if (wereAtEnd.get(stream.parentElement.id) !== false) stream.scrollTop = stream.scrollHeight;
    const anchor = positions.find(([element]) => element.isConnected && main.contains(element));
    if (anchor) scrollBy({ top: anchor[0].getBoundingClientRect().top - anchor[1], behavior: "instant" });
    updateTimes();
  };

  let loadedHashes = new Map(), pendingParts, isLoading = false;
  const loadParts = async () => {
    if (isLoading) return;
    isLoading = true;
    let parts;
    try {
      while (pendingParts) {
        parts = pendingParts;
        pendingParts = undefined;
        const [texts, hashes] = [new Map(), new Map()];
        for (const [id, hash] of parts) {
          if (loadedHashes.get(id) === hash) continue;
          const answer = await fetch(main.dataset.at + "parts/" + encodeURIComponent(id));
          // The part no longer exists; the next message tells that.
          if (answer.status === 204) continue;
          if (!answer.ok) throw new Error(await answer.text());
          texts.set(id, await answer.text());
          hashes.set(id, answer.headers.get("x-part"));
        }
        applyParts(parts, texts);
        for (const [id, hash] of hashes) loadedHashes.set(id, hash);
      }
    } catch {
      pendingParts ??= parts;
      setTimeout(loadParts, 1000);
    } finally {
      isLoading = false;
    }
  };

  const listen = () => {
    const source = new EventSource(main.dataset.at + "events");
    source.addEventListener("parts", ({ data }) => {
      if (isDisconnected) showMessage("");
      isDisconnected = false;
      pendingParts = JSON.parse(data);
      loadParts();
    });
    source.addEventListener("error", () => {
      isDisconnected = true;
      // A browser does not try again if it is refused, for example by a restarted command, which has another token.
      const isRefused = source.readyState === EventSource.CLOSED;
      if (isRefused) setTimeout(listen, 3000);
      showMessage(isRefused ? "research-ralph does not accept this page any more. If it was started again, open the address that it printed; then this page continues." : "The connection to research-ralph is lost; this page tries again. Is the command still running?", true);
    });
    addEventListener("pagehide", () => source.close(), { once: true });
  };
  if (main) {
    loadedHashes = new Map(JSON.parse(main.dataset.parts));
    listen();
    updateTimes();
    scrollStreamsToEnd();
    setInterval(updateTimes, 1000);
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
      showMessage(says, !answer.ok);
      if (answer.ok) form.reset();
    } catch {
      showMessage("research-ralph did not answer; is the command still running?", true);
    }
    for (const button of buttons) button.disabled = false;
  });
})();
`;
