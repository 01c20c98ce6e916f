/** The page reads queries as `dpress query` does: the same trees, and the same refusals. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { Unread } from "../../../src/dpress/reporting/script/condition_grammar.js";
import { read } from "../../../src/dpress/reporting/script/grammar.js";

const stored = new URL("../../../tests/query/grammar_vectors.json", import.meta.url);
const { names, vectors } = JSON.parse(readFileSync(stored, "utf8"));

describe("a query", () => {
  it(`is read as ${vectors.length} vectors have it`, () => {
    for (const { text, tree, refused } of vectors) {
      if (tree) expect(read(names, text), text).toEqual(tree);
      else expect(() => read(names, text), text).toThrow(new Unread(refused));
    }
  });

  it("is found out where it is read otherwise", () => {
    const [first, second] = vectors.filter(({ tree }) => tree?.first?.word === "or");
    expect(read(names, first.text)).not.toEqual(second.tree);
    expect(() => read(names, "")).not.toThrow(new Unread("another reason"));
  });
});
