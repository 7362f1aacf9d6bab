import { describe, expect, test } from "vitest";
import type { Fault } from "../../../src/local/index.ts";
import { scriptFiles } from "../../../tools/lua/files.ts";
import { fileOf } from "../../support/script-files.ts";
import { operations } from "./operations.ts";
import { titled, useOperations } from "./operating.ts";

/** What may go wrong with the request that holds a script. */
interface Kind {
  readonly fault: Fault;
  /** Whether an earlier copy has run when the answered one runs. @default false */
  readonly ranBefore?: true;
  /** Whether it happens to all other requests of the call too. @default false */
  readonly isEvery?: true;
}

/** All answers that make the client resend are the same to a script; `test/proofs/conformance` and `test/transports` have them. */
const kinds: Readonly<Record<string, Kind>> = {
  "the connection broke before it ran": { fault: { kind: "cut" } },
  "its reply was lost": { fault: { kind: "lose-reply" }, ranBefore: true },
  "it arrived twice, and the first was answered": { fault: { kind: "duplicate", answer: "first" } },
  "it arrived twice, and the second was answered": {
    fault: { kind: "duplicate", answer: "second" },
    ranBefore: true,
  },
  "its first copy came after its second": { fault: { kind: "hold" } },
  "it was slow, and ran after its second copy": { fault: { kind: "stall" } },
  "its reply was slow, and its second copy ran": { fault: { kind: "stall", runs: true }, ranBefore: true },
  "500, though it ran": { fault: { kind: "http", runs: true, status: 500 }, ranBefore: true },
  "429, and it did not run": { fault: { kind: "http", status: 429 } },
  "NOSCRIPT for it alone": { fault: { kind: "noscript" } },
  "SCRIPT FLUSH right before it": { fault: { kind: "flush-scripts" } },
  "SCRIPT FLUSH before every script": { fault: { kind: "flush-scripts" }, isEvery: true },
};

const { outcome, twin, overdue } = useOperations();

test("the table has every script", () => {
  const named = new Set(operations.map(({ script }) => fileOf(script)));
  expect([...named].toSorted()).toEqual(scriptFiles());
});

describe.each(titled)("%s", (_, operation) => {
  test.each(Object.entries(kinds))(
    "%s: the caller's answer and every key are as without it",
    async (_name, { fault, ranBefore, isEvery }) => {
      const expected = await twin(operation);
      const { again } = operation;
      const answer = ranBefore && again ? again(expected.answer as never) : expected.answer;
      const hits = isEvery ? (expect.any(Number) as number) : 1;
      expect(await outcome(operation, fault, isEvery)).toEqual({ ...expected, answer, hits, violations: [] });
    },
  );

  test.each<[name: string, fault: Fault]>([
    ["a request that runs only later", { kind: "stall" }],
    ["a request that runs, with a reply that does not come", { kind: "stall", runs: true }],
  ])(
    "past its deadline %s is an error, and the same call made again has the effect of a single one",
    async (_name, fault) => {
      const { hits: _hits, ...expected } = await twin(operation);
      const answer = operation.again || operation.counts ? expect.anything() : expected.answer;
      expect(await overdue(operation, fault)).toEqual({
        ...expected,
        answer,
        error: expect.objectContaining({ name: "SluiceError", code: "redis_unreachable" }),
        violations: [],
      });
    },
  );
});
