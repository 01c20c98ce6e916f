/** What makes a page usable: it reads the data of the page, and asks nobody for anything. */
import { answersOf } from "./answers.js";
import { ask } from "./ask.js";
import { explore } from "./explore.js";

const data = document.getElementById("data");
if (data) {
  const answers = answersOf(JSON.parse(data.textContent));
  document.getElementById("live").append(...(answers.error ? [...(answers.asked === false ? [] : [ask(answers)]), explore(answers)] : []));
  document.documentElement.classList.add("scripted");
}
addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((one) => (one.open = true)));
