// Shows a copy button beside a command. Without this script the command is selected by one click (user-select: all).
for (const button of document.querySelectorAll("button[data-copy]")) {
  if (!navigator.clipboard) continue;
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(button.previousElementSibling.textContent);
    button.textContent = button.dataset.copy;
  });
}
