// A button at every block of code, outputs left out, that copies it, also on pages that were opened from disk.
document.querySelectorAll(".highlight:not(.language-text)").forEach(function (block) {
  "use strict";
  var button = document.createElement("button"), code = block.querySelector("code");
  if (!code) { return; }
  function said(word) {
    button.textContent = word;
    setTimeout(function () { button.textContent = "Copy"; }, 1500);
  }
  function select() { // where the browser gives no clipboard, the reader has the selection
    getSelection().selectAllChildren(code);
    said("Selected");
  }
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", function () {
    if (!navigator.clipboard) { return select(); }
    navigator.clipboard.writeText(code.textContent).then(function () { said("Copied"); }, select);
  });
  block.querySelector("pre").tabIndex = 0; // what scrolls is reached by the keyboard
  block.appendChild(button);
});
