/** What makes a page usable: it reads the data of the page, and asks nobody for anything. */
import { answersOf } from "./answers.js";
import { ask } from "./ask.js";
import { explore } from "./explore.js";
import { putLists } from "./lists.js";
import { seriesOf } from "./series_answers.js";
import { statisticsOf } from "./series_statistics.js";

const text = document.getElementById("data")?.textContent;
if (text) {
  const data = JSON.parse(text);
  if (data.series) document.getElementById("live").append(ask((data.series.parts ? statisticsOf : seriesOf)(data.series)));
  if (data.lists) putLists(data.lists);
  else putTables(answersOf(data));
  document.documentElement.classList.add("scripted");
}

function putTables(answers) {
  document.getElementById("live").append(...(answers.error ? [ask(answers), explore(answers)] : []));
}
