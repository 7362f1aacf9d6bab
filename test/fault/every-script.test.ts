import { describe, expect, test } from "vitest";
import type { Fault } from "../../src/local/index.ts";
import { scriptFiles } from "../../tools/lua/files.ts";
import { fileOf } from "../support/script-files.ts";
import { operations } from "./operations.ts";
import { titled, useOperations } from "./operating.ts";

/** A fault of one request, and whether an earlier copy has run when the answered one runs. */
interface Kind {
  readonly name: string;
  readonly fault: Fault;
  readonly ranBefore: boolean;
}

/** All answers that make the client resend are the same to a script; `transport-upstash-resends` has them. */
const kinds: readonly Kind[] = [
  { name: "the connection broke before it ran", fault: { kind: "cut" }, ranBefore: false },
  { name: "its reply was lost", fault: { kind: "lose-reply" }, ranBefore: true },
  {
    name: "it arrived twice, and the first was answered",
    fault: { kind: "duplicate", answer: "first" },
    ranBefore: false,
  },
  {
    name: "it arrived twice, and the second was answered",
    fault: { kind: "duplicate", answer: "second" },
    ranBefore: true,
  },
  { name: "its first copy came after its second", fault: { kind: "hold" }, ranBefore: false },
  { name: "it was slow, and ran after its second copy", fault: { kind: "stall" }, ranBefore: false },
  {
    name: "its reply was slow, and its second copy ran",
    fault: { kind: "stall", runs: true },
    ranBefore: true,
  },
  { name: "500, though it ran", fault: { kind: "http", runs: true, status: 500 }, ranBefore: true },
  { name: "429, and it did not run", fault: { kind: "http", status: 429 }, ranBefore: false },
  { name: "NOSCRIPT for it alone", fault: { kind: "noscript" }, ranBefore: false },
  // The last, because the kinds above expect every script to be known.
  { name: "SCRIPT FLUSH right before it", fault: { kind: "flush-scripts" }, ranBefore: false },
];

const { outcome, twin } = useOperations();

test("the table has every script", () => {
  const named = new Set(operations.map(({ script }) => fileOf(script)));
  expect([...named].toSorted()).toEqual(scriptFiles());
});

describe.each(titled)("%s", (title, operation) => {
  test.each(kinds.map((kind) => [kind.name, kind] as const))(
    "%s: the caller's answer and every key are as without it",
    async (_, { fault, ranBefore }) => {
      const expected = await twin(title, operation);
      const { again, counts } = operation;
      const answer = ranBefore && again ? again(expected.answer as never) : expected.answer;
      // How many copies are sent depends on the speed of the machine.
      const sure = !(again || counts) || fault.kind !== "stall";
      expect(await outcome(operation, fault)).toEqual({
        ...expected,
        answer: sure ? answer : expect.anything(),
        violations: [],
      });
    },
  );
});
