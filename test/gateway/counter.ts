import { beforeEach, expect } from "vitest";
import { sha1, useStack } from "./stack.ts";

export const source = "return redis.call('INCR', KEYS[1])";
export const increment = ["EVALSHA", sha1(source), 1, "n"];

/** Registers a stack whose Redis has a script that counts, for a test file. */
export function useCounter() {
  const { its, direct } = useStack({ scriptNames: { [sha1(source)]: "increment" } });
  beforeEach(async () => {
    await its.stack.rest("/", ["SCRIPT", "LOAD", source]);
    its.stack.gateway.resetUsage();
  });
  return {
    its,
    direct,
    faults: () => its.stack.gateway.faults,
    usage: () => its.stack.gateway.usage(),
    counter: async () => Number(await direct("GET", "n")),
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
