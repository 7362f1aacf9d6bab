import { describe, expect, test } from "vitest";
import { awkwardPayloads } from "../support/payloads.ts";
import { useServer } from "./rig.ts";

const server = useServer();

describe("every payload comes back as it was, as a result and an error too", () => {
  test.each(awkwardPayloads)("%s", async (label, payload) => {
    const { direct, overHttp } = await server.both(async (queue) => {
      await queue.enqueueMany(["a", "b"].map((id) => ({ id, payload })));
      const tasks = await queue.dequeue({ max: 2 });
      await tasks[0]?.complete(payload);
      if (!label.startsWith("1 M")) await tasks[1]?.reject(payload);
      return [tasks, await queue.get("a"), await queue.get("b")];
    });
    expect(overHttp).toStrictEqual(direct);
  });
});
