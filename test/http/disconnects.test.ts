import { operations } from "../../src/http/operations/index.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { listen } from "../../src/deploy/process/node-listener.ts";
import { createApp } from "../../src/http/app.ts";
import { useHeldQueue } from "./held-queue.ts";
import { secrets, tokens } from "./served.ts";

const held = useHeldQueue();
let server: Awaited<ReturnType<typeof listen>>;
/** How many requests the server has answered. */
let answered = 0;

beforeAll(async () => {
  const app = createApp({ operations, transport: held.transport(), tokens });
  const handle = async (request: Request) => {
    const response = await app.fetch(request);
    answered++;
    return response;
  };
  server = await listen(handle, { port: 0, hostname: "127.0.0.1" });
});
afterAll(() => server.stop());

const post = async (path: string, json: object, signal?: AbortSignal) => {
  const response = await fetch(`http://127.0.0.1:${server.port}/v1/queues/${held.name()}/tasks/${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${secrets.all}`, "content-type": "application/json" },
    body: JSON.stringify(json),
    ...(signal && { signal }),
  });
  return (await response.json()) as { tasks: { id: string }[] };
};

describe.each([1, 4])("a pull from a queue of %i partitions whose caller disconnects", (partitions) => {
  const fill = () => held.fill(partitions, () => post("pull", {}));
  const disconnected = async (path: string, json: object) => {
    const before = answered;
    const error = await held.abandon(partitions, (signal) => post(path, json, signal));
    expect(error).toMatchObject({ name: "AbortError" });
    return before;
  };
  /** The server notices that its caller has left, and then gets the reply. */
  const release = async (before: number) => {
    await expect.poll(() => answered).toBe(before + 1);
    held.release();
  };

  test.each([{}, { max: 3 }, { wait: "20s" }])("hands back what %j has leased", async (json) => {
    await fill();
    await release(await disconnected("pull", json));
    await held.expectUntouched(partitions);
  });

  test("hands back what a settle has leased too", async () => {
    const queue = held.direct(partitions);
    await queue.enqueue(1, { id: "first" });
    const [first] = await queue.dequeue();
    await fill();
    const settlements = [{ receipt: first?.receipt, outcome: "complete" }];
    await release(await disconnected("settle", { settlements, pull: { max: 2 } }));
    await held.expectUntouched(partitions);
    expect(await queue.get("first")).toMatchObject({ state: "completed" });
  });

  test("keeps what a pull with a token has leased: the same pull, sent again, gets it", async () => {
    await fill();
    const json = { max: 3, token: "token-0123" };
    await disconnected("pull", json);
    held.release();
    const { working } = await held.counts(partitions);
    expect((await post("pull", json)).tasks).toHaveLength(working);
    expect(await held.counts(partitions)).toMatchObject({ working });
  });
});
