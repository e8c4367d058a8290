(() => {
  const root = document.documentElement, button = document.getElementById("theme");
  const dark = () => getComputedStyle(root).colorScheme === "dark"
    || (getComputedStyle(root).colorScheme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  const show = (theme) => { if (theme) root.dataset.theme = theme; button.setAttribute("aria-pressed", String(dark())); };
  let kept = null;
  try { kept = localStorage.getItem("slipway-theme"); } catch { /* without storage, follow the system setting */ }
  show(kept === "dark" || kept === "light" ? kept : null);
  button.hidden = false;
  button.addEventListener("click", () => {
    const next = dark() ? "light" : "dark";
    show(next);
    try { localStorage.setItem("slipway-theme", next); } catch { /* as above */ }
  });
  // Open folded sections for printing, and fold them again afterwards.
  const opened = [];
  addEventListener("beforeprint", () => {
    for (const one of document.querySelectorAll("details:not([open]):not(.pool details)")) { one.open = true; opened.push(one); }
  });
  addEventListener("afterprint", () => { while (opened.length) opened.pop().open = false; });
})();
