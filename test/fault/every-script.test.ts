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

const html = { contentType: "text/html", body: "<html><body>Sorry</body></html>" };
const answers = [
  ["429", { status: 429 }],
  ["500", { status: 500 }],
  ["500 in HTML", { status: 500, ...html }],
  ["502 in HTML", { status: 502, ...html }],
  ["503", { status: 503 }],
  ["503 in HTML", { status: 503, ...html }],
  ["an empty 200", { status: 200, body: "" }],
  ["200 in HTML", { status: 200, ...html }],
  ["half of a reply", { status: 200, body: '[{"resu' }],
] as const;

const kinds: readonly Kind[] = [
  { name: "the connection broke before it ran", fault: { kind: "cut" }, ranBefore: false },
  { name: "its reply was lost", fault: { kind: "lose-reply" }, ranBefore: true },
  { name: "its reply was cut in the middle", fault: { kind: "cut-body" }, ranBefore: true },
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
  ...answers.map(([name, given]) => ({
    name: `${name}, though it ran`,
    fault: { kind: "http", runs: true, ...given } as const,
    ranBefore: true,
  })),
  // A client that resends gets no more from the other kinds.
  ...[answers[0], answers[3], answers[6]].map(([name, given]) => ({
    name: `${name}, and it did not run`,
    fault: { kind: "http", ...given } as const,
    ranBefore: false,
  })),
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
