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

test("a thrown error is kept, cut to the limit, whatever its characters", async () => {
  const words = "因".repeat(10_000);
  const thrown = [new Error(words, { cause: new Error(words) }), "\u0001".repeat(10_000)];
  const { direct, overHttp } = await server.both(async (queue) => {
    await queue.enqueueMany(["a", "b"].map((id) => ({ id, payload: 1 })));
    const tasks = await queue.dequeue({ max: 2 });
    for (const [i, task] of tasks.entries()) await task.reject(thrown[i]);
    return [(await queue.get("a"))?.error, (await queue.get("b"))?.error];
  });
  expect(overHttp).toStrictEqual(direct);
  const [error, text] = direct as [Error & { cause: string }, string];
  expect(error).toStrictEqual({
    name: "Error",
    message: expect.stringMatching(/^因{999,}…$/) as string,
    cause: expect.stringMatching(/^因{999,}…$/) as string,
  });
  expect(text.replaceAll("\u0001", "x")).toMatch(/^x{999,}…$/);
});
