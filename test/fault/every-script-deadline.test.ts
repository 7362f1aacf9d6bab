import { describe, expect, test } from "vitest";
import type { Fault } from "../../src/local/index.ts";
import { titled, useOperations } from "./operating.ts";

const { twin, overdue } = useOperations();

const faults: readonly (readonly [name: string, fault: Fault])[] = [
  ["a request that runs only later", { kind: "stall" }],
  ["a request that runs, with a reply that does not come", { kind: "stall", runs: true }],
];

describe.each(titled)("%s", (title, operation) => {
  test.each(faults)(
    "past its deadline %s is an error, and the same call made again has the effect of a single one",
    async (_, fault) => {
      const { hits: _hits, ...expected } = await twin(title, operation);
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
