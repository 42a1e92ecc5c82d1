// Closes an open menu on Escape and on a click elsewhere. Without this script its button closes it.
const open = () => document.querySelector("details[data-menu][open]");

document.addEventListener("keydown", (event) => {
  const menu = event.key === "Escape" ? open() : null;
  if (!menu) return;
  menu.open = false;
  menu.querySelector("summary").focus();
});
document.addEventListener("click", (event) => {
  const menu = open();
  if (menu && !menu.contains(event.target)) menu.open = false;
});
