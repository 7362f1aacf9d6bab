import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { fastTier } from "../../tools/fast-tier.mjs";
import { readLua, scriptFiles } from "../../tools/lua/files.ts";
import { modulesOf } from "../../tools/lua/modules.ts";
import { type Edit, editOf, mutated } from "../long/mutants/anchor.ts";
import { argued, keyOf } from "../long/mutants/argued.ts";
import { everyMutant } from "../long/mutants/generate.ts";
import { lawMutants } from "../long/mutants/list.ts";
import type { LawMutant } from "../long/mutants/mutant.ts";
import { everyScript, root } from "../near/nearest.ts";

const all = Object.values(lawMutants).flatMap((mutants) => Object.entries<LawMutant>(mutants));

describe("the mutants that break a law", () => {
  const edits = new Map<string, Edit>();

  test("describe one place each, and what they make of it is valid", () => {
    const wrong: unknown[] = [];
    for (const [name, mutant] of all) {
      if (edits.has(name)) wrong.push(`${name}: the name is used twice`);
      try {
        const edit = editOf(name, mutant);
        edits.set(name, edit);
        if (mutated(edit) === edit.source.text) wrong.push(`${name}: changes nothing`);
      } catch (error) {
        wrong.push(error);
      }
    }
    expect(wrong).toEqual([]);
  });

  test("can be embedded if they are in Lua", () => {
    // As many at once as do not overlap, because it takes long.
    let left = [...edits.values()].filter(({ source }) => source.file.endsWith(".lua"));
    while (left.length > 0) {
      const taken = withoutOverlaps(left);
      left = left.filter((edit) => !taken.includes(edit));
      expect(() => modulesOf(readLua((file, text) => edited(file, text, taken)))).not.toThrow();
    }
  });

  test("are there for each law, invariant and script", () => {
    const broken = new Set(all.map(([, { breaks }]) => breaks.replace(/:.*/, "")));
    const laws = Array.from({ length: 12 }, (_, i) => `law ${i + 1}`);
    const invariants = Array.from({ length: 8 }, (_, i) => `I${i + 1}`);
    expect([...laws, ...invariants].filter((promise) => !broken.has(promise))).toEqual([]);
    const files = new Set([...edits.values()].map(({ source }) => source.file));
    expect(scriptFiles().filter((file) => !files.has(`lua/${file}`))).toEqual([]);
  });
});

test("the generated mutants for which an argument is given are made by the rules", () => {
  const made = new Set(everyMutant().map((one) => `${one.edit.source.file} ${keyOf(one)}`));
  const listed = Object.entries(argued).flatMap(([file, ones]) =>
    Object.keys(ones).map((key) => `${file} ${key}`),
  );
  expect(listed.filter((one) => !made.has(one))).toEqual([]);
});

test("what the choices of tests name exists", () => {
  expect([everyScript, ...fastTier].filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

/** Some of the edits, no two of which touch. */
function withoutOverlaps(edits: readonly Edit[]): Edit[] {
  const taken: Edit[] = [];
  for (const edit of edits) {
    const touches = (one: Edit) => one.source === edit.source && one.from <= edit.to && edit.from <= one.to;
    if (!taken.some(touches)) taken.push(edit);
  }
  return taken;
}

/** A file of lua/ with those of the edits that are in it. */
function edited(file: string, text: string, edits: readonly Edit[]): string {
  return edits
    .filter(({ source }) => source.file === `lua/${file}`)
    .toSorted((one, other) => other.from - one.from)
    .reduce((before, { from, to, text: put }) => before.slice(0, from) + put + before.slice(to), text);
}
