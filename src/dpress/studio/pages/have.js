/** The first two steps: columns and their public cells, and whom the promise protects. */

import { byId, element } from "./elements.js";
import { placed } from "./faults.js";
import { button, choice, group, lines, row, text, tick, why } from "./fields.js";
import { ask, attributeName, keep, take, typed, work } from "./work.js";

const KINDS = [
  ["", "choose"],
  ["categorical", "one of a list"],
  ["ordinal", "one of a list, in order"],
  ["integer", "whole number"],
  ["numeric", "number"],
  ["date", "date"],
  ["datetime", "date and time"],
  ["location", "place on a map"],
  ["hierarchy", "code with levels, such as a tract in a county"],
];
const TEXT = /\.(csv|tsv)(\.gz|\.zst)?$/i;
const BOOK = /\.(xlsx|xlsm|xlsb|xls|ods)(#.*)?$/i;
const CELLS = ["day", "week", "month", "quarter", "year", "weekday", "month of year"];

/** Draws the first step. */
export function drawHave(redraw, fail) {
  const { draft } = work;
  const look = button("Look at its columns", () => act(() => ask("POST", "/columns"), redraw, fail));
  const format = element("div");
  const describe = () => format.replaceChildren(...(TEXT.test(draft.source) || BOOK.test(draft.source) ? [described(draft, redraw, fail)] : []));
  describe();
  byId("step-have").replaceChildren(
    text("File, folder or DATABASE#TABLE", draft, "source", { size: "long", then: describe }),
    format,
    placed(draft, "columns", element("p", {}, look)),
    why("Only the names and types of columns are read. Which values a column may have is public knowledge: you type it, paste it, or load it from a codebook. Taken from the rows, the list itself would tell that somebody with a rare value is among them."),
    ...(draft.columns.length ? [codebook(redraw, fail)] : []),
    ...draft.columns.map((own) => column(own, redraw)),
    ...(draft.columns.length ? [
      row(text("Only the rows where", draft, "where", { size: "long", more: { placeholder: "year = 2024; empty for all" } })),
      why("A public condition, as queries are written: what is published states it, so it must not follow from a look at the rows. Columns that are not used may be named, too."),
    ] : []),
    row(text("About how many rows or people (public)", draft, "users")),
  );
}

/** Draws the second step. */
export function drawWhom(redraw) {
  const { draft } = work;
  const chosen = (unit) => () => {
    draft.unit = unit;
    redraw();
    typed();
  };
  const named = draft.columns.filter((one) => one.use).map((one) => one.name).slice(0, 3).join(", ") || "its values";
  const person = draft.person || "the column that names the person";
  const own = draft.unit !== "person" ? [] : [
    row(
      choice("Whose row it is, says the column", draft, "person", [["", "choose"], ...draft.columns.map((one) => [one.name, one.name])], redraw),
      text("At most so many rows of each person count", draft, "rows_per_unit"),
    ),
    why(`Nobody can tell from what is published whether somebody is in the table: all rows with one value of ${person}, of which at most ${draft.rows_per_unit || "so many"} are kept, drawn at random. The more rows may count, the more noise; step 4 tells how many rows each cap keeps.`),
  ];
  byId("step-whom").replaceChildren(
    placed(draft, "unit", element("div", { role: "radiogroup", "aria-labelledby": "whom" },
      radio("A row", "row", chosen), radio("A person, with all of their rows", "person", chosen))),
    ...(draft.unit === "row" ? [why(`Nobody can tell from what is published whether one line of the table, with its ${named}, is there. Somebody with several lines is protected line by line only: choose a person if there may be such.`)] : []),
    ...own,
    ...(draft.unit ? [row(choice("Two tables that nobody can tell apart differ", draft, "relation",
      [["add-remove", "by one that is there or not"], ["replace-one", "by what one contains; their number is public"]]))] : []),
    row(text("Title of the page", draft, "title", { size: "long" }), text("Source", draft, "about", { size: "long" }),
      text("Whom to ask", draft, "contact", { size: "long" }), text("Licence", draft, "license")),
  );
}

async function act(asked, redraw, fail) {
  await keep();
  try {
    take(await asked());
    fail("");
    redraw();
  } catch (error) {
    fail(error.message, error.at);
  }
}

function described(draft, redraw, fail) {
  const counts = row(text("Lines before the names", draft, "skip", { more: { placeholder: "0" } }),
    text("Lines of names", draft, "header_rows", { more: { placeholder: "1" } }),
    text("Lines behind the rows", draft, "footer", { more: { placeholder: "0" } }));
  const told = element("p", { class: "why", role: "status" }, looks.get(draft.source) ?? "");
  const propose = () => act(async () => {
    const state = await ask("POST", "/proposal");
    looks.set(draft.source, looksLike(state.draft));
    return state;
  }, redraw, fail);
  if (!TEXT.test(draft.source)) return group("Which lines are rows", row(button("Propose them from its filled cells", propose)), told, counts);
  return group("How the file is written", row(button("Propose it from its first bytes", propose)), told,
    placed(draft, "names_in_first_line",
      tick("Its first line, behind those left out, holds the names of the columns", draft.names_in_first_line, (on) => { draft.names_in_first_line = on; })),
    why("If that line were a row about somebody, it would be shown here."),
    row(choice("Between fields", draft, "separator", [["", "what is usual"], [",", "a comma"], [";", "a semicolon"], ["tab", "a tab"], ["|", "|"]]),
      choice("Decimals after", draft, "decimal", [["", "a point"], [",", "a comma"]]),
      text("Encoding", draft, "encoding", { more: { placeholder: "utf-8" } }),
      text("Missing is written as", draft, "missing", { more: { placeholder: "NA, -9" } })), counts);
}

const looks = new Map(); // what was said of a file's first bytes, by its name

/** Returns what a file looks like; no text of it. */
function looksLike({ encoding, separator, skip, header_rows: names, footer }) {
  const sign = { tab: "tabs", ",": "commas", ";": "semicolons" }[separator] ?? separator;
  const first = Number(skip || 0) + 1;
  const lines = Number(names || 1) > 1 ? `lines ${first} and ${first + 1}` : `line ${first}`;
  const behind = Number(footer) ? `; ${footer === "1" ? "a line behind the rows is" : `${footer} lines behind the rows are`} left out` : "";
  const text = separator ? `It looks like ${encoding} with ${sign} between fields and the names` : "The names seem to stand";
  return `${text} in ${lines}${behind}. What you had typed stays; change what is not so. The specification, which is public, states it.`;
}

function codebook(redraw, fail) {
  const own = { path: "" };
  const load = () => act(() => ask("POST", "/codebook", own.path), redraw, fail);
  return element("details", {}, element("summary", {}, "Load values from a codebook"),
    row(text("A file of SPSS or Stata, or a CSV with column,value,label", own, "path", { size: "long" }), button("Load", load)));
}

function column(own, redraw) {
  const use = tick(`use ${own.name}${own.type ? ` (${own.type})` : ""}`, own.use, (on) => { own.use = on; redraw(); });
  if (!own.use) return element("div", {}, use);
  const made = group(own.name, use, row(
    choice("What it is", own, "kind", KINDS, redraw),
    text("Title for people", own, "title", { size: "", then: () => setTimeout(redraw) }),
    text("Name in queries", own, "called", { more: { placeholder: attributeName({ ...own, called: "" }) }, then: () => setTimeout(redraw) }),
  ), ...cells(own), ...(own.kind && own.kind !== "location" ? [beside(own)] : []));
  made.dataset.column = attributeName(own);
  return made;
}

function cells(own) {
  if (own.kind === "categorical" || own.kind === "ordinal") {
    return [row(lines("Its values, one a line; “value = label” names it", own, "values"),
      text("Anything else is counted as (empty: refuse the table)", own, "other")),
      why("From the questionnaire or a register, not from the rows.")];
  }
  if (own.kind === "location") {
    const others = work.draft.columns.filter((one) => one !== own).map((one) => [one.name, one.name]);
    return [row(choice("The other coordinate", own, "beside", [["", "choose"], ...others])),
      row(text(`${own.name} from`, own, "low"), text("to", own, "high")),
      row(text(`${own.beside || "the other"} from`, own, "low_beside"), text("to", own, "high_beside")),
      why("The box comes from an atlas: bounds of the rows would tell where the outermost person is.")];
  }
  if (own.kind === "hierarchy") {
    return [row(text("Its levels, coarse to fine", own, "levels", { size: "long", more: { placeholder: "state, county, tract" } })),
      row(text("The public file of all codes: a row a code, a column a level", own, "tree", { size: "long" }),
        text("Anything else is counted as (empty: refuse the table)", own, "other")),
      why("From a statistics office or a register: which codes occur in the rows must not decide which are shown.")];
  }
  if (own.kind === "date" || own.kind === "datetime") {
    const zone = own.kind === "datetime" ? [text("Clocks of", own, "zone", { more: { placeholder: "Europe/Berlin" } })] : [];
    const options = [["", "choose"], ...CELLS.map((one) => [one, one])];
    if (own.kind === "datetime") options.push(["hour", "hour"], ["hour of day", "hour of day"]);
    return [row(text("First day", own, "low", { more: { placeholder: "2024-01-01" } }), text("Last day", own, "high", { more: { placeholder: "2024-12-31" } }),
      choice("Counted by", own, "cells", options), ...zone)];
  }
  if (!own.kind) return [];
  return [row(text("From", own, "low"), text("to", own, "high"), text("in so many bins", own, "bins"), text("Unit of its numbers", own, "measure", { more: { placeholder: "years" } })),
    why("Bounds that hold for anybody, such as 0 to 120 for an age; what lies outside counts at the bound. The smallest and largest value of the rows would be those of two people.")];
}

const beside = (own) => row(text("Missing is counted as (empty: refuse the table)", own, "missing"));

function radio(words, value, chosen) {
  const field = element("input", { type: "radio", name: "unit", value });
  field.checked = work.draft.unit === value;
  field.addEventListener("change", chosen(value));
  return element("label", { class: "tick" }, field, words);
}
