// Shows a copy button beside a command. Without this script the command is selected by one click (user-select: all).
function offer(root) {
  for (const button of root.querySelectorAll("button[data-copy][hidden]")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(button.previousElementSibling.textContent);
      button.textContent = button.dataset.copy;
    });
  }
}

if (navigator.clipboard) {
  offer(document);
  document.addEventListener("dshweb:replaced", (event) => offer(event.target));
}
