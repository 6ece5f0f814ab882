(() => {
  "use strict";
  const root = document.documentElement;
  const view = document.querySelector(".view");
  const svg = view.querySelector("svg");
  const told = document.querySelector(".told");
  const cards = [...svg.querySelectorAll("a.card")];
  const joins = [...svg.querySelectorAll("[data-from]")];
  const whole = svg.viewBox.baseVal;
  const all = { x: whole.x, y: whole.y, w: whole.width, h: whole.height };
  let box = { ...all };
  root.classList.add("js");
  svg.removeAttribute("width");
  svg.removeAttribute("height");

  const show = () => svg.setAttribute("viewBox", `${box.x} ${box.y} ${box.w} ${box.h}`);
  const size = () => view.getBoundingClientRect();
  // Pixels on the screen for each unit of the picture.
  const scale = () => { const at = size(); return Math.min(at.width / box.w, at.height / box.h); };
  // The picture's units at a place on the screen.
  const place = (x, y) => { const at = svg.getScreenCTM().inverse(); return { x: at.a * x + at.e, y: at.d * y + at.f }; };

  const frame = (middle, top, least) => {
    const at = size();
    if (!at.width || !at.height) return;
    const fits = Math.min(at.width / all.w, at.height / all.h, 1.25);
    const wanted = Math.max(fits, least);
    box = { w: at.width / wanted, h: at.height / wanted, x: 0, y: 0 };
    box.x = middle - box.w / 2;
    box.y = box.h >= all.h ? (all.h - box.h) / 2 : top;
    show();
  };
  const fit = () => frame(all.x + all.w / 2, all.y, 0);
  // At first letters can be read: a large flow begins at its top, with its first step whole, and one that is not much
  // wider than the screen is as wide as it.
  const begin = () => {
    const wide = size().width / all.w;
    const small = wide < 0.7 || size().height / all.h < 0.5;
    frame(all.x + all.w / 2, all.y, small ? (wide < 0.45 ? 0.7 : Math.min(wide, 0.7)) : 0);
    if (!small || !cards[0] || box.w >= all.w) return;
    const first = middle(cards[0]);
    box.x = Math.max(all.x, Math.min(first.x - box.w / 2, first.x - first.w / 2 - 12));
    show();
  };
  const zoom = (by, x, y) => {
    const now = scale();
    const to = Math.min(Math.max(now * by, 0.05), 6);
    const at = place(x, y);
    const keep = now / to;
    box = { x: at.x - (at.x - box.x) * keep, y: at.y - (at.y - box.y) * keep, w: box.w * keep, h: box.h * keep };
    show();
  };
  const centre = () => { const at = size(); return [at.left + at.width / 2, at.top + at.height / 2]; };
  const move = (x, y) => { const by = scale(); box.x -= x / by; box.y -= y / by; show(); };

  function middle(card) {
    const shape = card.querySelector(".box").getBBox();
    const at = card.getCTM(), here = svg.getCTM();
    return { x: (at.e - here.e) / here.a + shape.width / 2, y: (at.f - here.f) / here.d + shape.height / 2, w: shape.width };
  }
  const reveal = (card) => {
    const at = card.getBoundingClientRect(), in_ = size();
    const out = at.left < in_.left + 8 || at.right > in_.right - 8 || at.top < in_.top + 8 || at.bottom > in_.bottom - 8;
    if (out) move(in_.left + in_.width / 2 - (at.left + at.right) / 2, in_.top + in_.height / 2 - (at.top + at.bottom) / 2);
  };

  const choose = (id, scroll) => {
    const article = document.getElementById(id) || document.getElementById("overview");
    for (const other of told.querySelectorAll("article.on")) other.classList.remove("on");
    article.classList.add("on");
    told.scrollTop = 0;
    const card = cards.find((card) => "s-" + card.dataset.id === article.id);
    for (const marked of svg.querySelectorAll(".on, .near")) marked.classList.remove("on", "near");
    svg.classList.toggle("chosen", Boolean(card));
    if (!card) {
      if (scroll && told.getBoundingClientRect().top < 0) scrollTo({ top: 0, behavior: "smooth" });
      return;
    }
    card.classList.add("on");
    for (const edge of joins) {
      const { from, to } = edge.dataset;
      if (from !== card.dataset.id && to !== card.dataset.id) continue;
      edge.classList.add("near");
      const other = document.getElementById("n-" + (from === card.dataset.id ? to : from));
      if (other && other !== card) other.classList.add("near");
    }
    reveal(card);
    if (scroll && told.getBoundingClientRect().top > innerHeight - 160) told.scrollIntoView({ behavior: "smooth", block: "start" });
  };
  const go = (id) => {
    history.replaceState(null, "", id ? "#" + id : location.pathname + location.search);
    choose(id || "overview", true);
  };

  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#']");
    if (!link) return;
    event.preventDefault();
    if (moved > 4 && view.contains(link)) return;
    go(link.getAttribute("href").slice(1) === "overview" ? "" : link.getAttribute("href").slice(1));
  });
  addEventListener("hashchange", () => choose(location.hash.slice(1), false));

  const down = new Map();
  let moved = 0;
  view.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    if (!down.size) moved = 0;
    down.set(event.pointerId, { x: event.clientX, y: event.clientY });
  });
  addEventListener("pointermove", (event) => {
    const before = down.get(event.pointerId);
    if (!before) return;
    const now = { x: event.clientX, y: event.clientY };
    if (down.size === 2) {
      const other = [...down].find(([id]) => id !== event.pointerId)[1];
      const apart = (a) => Math.hypot(a.x - other.x, a.y - other.y) || 1;
      zoom(apart(now) / apart(before), (now.x + other.x) / 2, (now.y + other.y) / 2);
      moved = 9;
    } else {
      moved += Math.hypot(now.x - before.x, now.y - before.y);
      if (moved > 4) { view.classList.add("moving"); move(now.x - before.x, now.y - before.y); }
    }
    down.set(event.pointerId, now);
  });
  for (const end of ["pointerup", "pointercancel"]) {
    addEventListener(end, (event) => { down.delete(event.pointerId); if (!down.size) view.classList.remove("moving"); });
  }
  view.addEventListener("dragstart", (event) => event.preventDefault());
  view.addEventListener("wheel", (event) => {
    event.preventDefault();
    if (event.ctrlKey || event.metaKey) zoom(Math.exp(-event.deltaY / 250), event.clientX, event.clientY);
    else move(-event.deltaX, -event.deltaY);
  }, { passive: false });

  const tools = { in: () => zoom(1.25, ...centre()), out: () => zoom(0.8, ...centre()), fit };
  document.querySelector(".tools").addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button) tools[button.dataset.do]();
  });

  // From a step the arrows lead along edges and to the next in its row.
  const next = (card, key) => {
    const id = card.dataset.id, here = middle(card);
    const ids = joins.filter((edge) => edge.dataset[key === "ArrowDown" ? "from" : "to"] === id)
      .map((edge) => edge.dataset[key === "ArrowDown" ? "to" : "from"]);
    let found = cards.filter((other) => other !== card);
    if (key === "ArrowDown" || key === "ArrowUp") found = found.filter((other) => ids.includes(other.dataset.id));
    else found = found.filter((other) => {
      const at = middle(other);
      return Math.abs(at.y - here.y) < 40 && (key === "ArrowRight" ? at.x > here.x : at.x < here.x);
    });
    const far = (other) => Math.abs(middle(other).x - here.x);
    return found.sort((a, b) => far(a) - far(b))[0];
  };
  addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const card = document.activeElement && document.activeElement.closest && document.activeElement.closest("a.card");
    const moves = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] };
    if (event.key === "Escape") go("");
    else if (event.key === "+" || event.key === "=") tools.in();
    else if (event.key === "-") tools.out();
    else if (event.key === "0") fit();
    else if (moves[event.key] && card) {
      const other = next(card, event.key);
      if (other) { other.focus(); go("s-" + other.dataset.id); }
    } else if (moves[event.key] && document.activeElement === view) move(...moves[event.key]);
    else return;
    event.preventDefault();
  });
  svg.addEventListener("focusin", (event) => { const card = event.target.closest("a.card"); if (card && !down.size) reveal(card); });

  begin();
  choose(location.hash.slice(1), false);
  addEventListener("resize", () => { const at = size(); box.h = box.w * at.height / at.width; show(); });
})();
