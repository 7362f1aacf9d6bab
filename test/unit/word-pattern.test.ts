import { expect, test } from "vitest";
import { matchesWords, WORD_PATTERN, WORDS } from "../../src/kernel/names/word-pattern.ts";

test.for([
  ["orders", "orders", true],
  ["orders", "orders.paid", false],
  ["orders.*", "orders.paid", true],
  ["orders.*", "orders", false],
  ["orders.*", "orders.paid.eu", false],
  ["*.paid", "orders.paid", true],
  ["#", "orders.paid.eu", true],
  ["orders.#", "orders", true],
  ["orders.#", "orders.paid.eu", true],
  ["orders.#", "invoices.paid", false],
  ["#.eu", "orders.paid.eu", true],
  ["#.eu", "eu", true],
  ["#.paid.#", "orders.paid.eu", true],
  ["#.paid.#", "orders.sent.eu", false],
  ["#.*", "orders", true],
  ["*.#.*", "orders", false],
  ["*.#.*", "orders.eu", true],
] as const)("%s, %s: %s", ([pattern, name, isMatch]) => {
  expect(matchesWords(pattern, name)).toBe(isMatch);
});

test("many # take no longer", () => {
  const pattern = `${"#.a.".repeat(30)}b`;
  expect(matchesWords(pattern, Array.from({ length: 60 }, () => "a").join("."))).toBe(false);
});

test("what a name and a pattern may be", () => {
  for (const name of ["a", "orders.paid", "A-1._.x"]) expect(WORDS.test(name)).toBe(true);
  for (const name of ["", ".", "a.", ".a", "a..b", "a.*", "a b", "a".repeat(129)])
    expect(WORDS.test(name)).toBe(false);
  for (const pattern of ["#", "*", "a.*", "#.a"]) expect(WORD_PATTERN.test(pattern)).toBe(true);
  for (const pattern of ["", "a*", "a.#b", "a..#", "#".repeat(2)])
    expect(WORD_PATTERN.test(pattern)).toBe(false);
});
