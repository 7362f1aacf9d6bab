import { createHash } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, expect } from "vitest";
import { type Stack, startStack } from "./stack.ts";

export const source = "return redis.call('INCR', KEYS[1])";
export const sha1 = (text: string) => createHash("sha1").update(text).digest("hex");
export const increment = ["EVALSHA", sha1(source), 1, "n"];
export const ok = (result: unknown) => [200, { result }];

/**
 * Registers a stack whose Redis has a script that counts, for a test file. Each test starts without faults.
 */
export function useCounter() {
  const its = {} as { stack: Stack };
  beforeAll(async () => {
    its.stack = await startStack({ scriptNames: { [sha1(source)]: "increment" } });
  });
  afterAll(() => its.stack.stop());
  beforeEach(async () => {
    await its.stack.direct.send(["FLUSHALL"]);
    await its.stack.rest("/", ["SCRIPT", "LOAD", source]);
    its.stack.gateway.resetUsage();
  });
  afterEach(() => its.stack.gateway.faults.clear());
  return {
    its,
    faults: () => its.stack.gateway.faults,
    counter: async () => Number(await its.stack.direct.send(["GET", "n"])),
    /** Status and body, or `broken` if the connection broke. */
    ask: async (body: unknown, path = "/") => {
      try {
        const { status, json, text } = await its.stack.rest(path, body);
        return [status, json ?? text];
      } catch (error) {
        expect(error).toBeInstanceOf(TypeError);
        return "broken";
      }
    },
  };
}
