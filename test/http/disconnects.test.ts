import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { listen } from "../../serverless/process/node-listener.ts";
import { createApp } from "../../src/http/app.ts";
import { Queue } from "../../src/index.ts";
import { type HeldReplies, startHeldReplies } from "../support/held-replies.ts";
import { secrets, tokens } from "./served.ts";

/** Some in each of four partitions. */
const IDS = Array.from({ length: 8 }, (_, i) => `t${i}`);

let held: HeldReplies;
let server: Awaited<ReturnType<typeof listen>>;
/** How many requests the server has answered. */
let answered = 0;
let name: string;
let count = 0;

beforeAll(async () => {
  held = await startHeldReplies();
  const app = createApp({ transport: held.transport("resp", 1), tokens });
  const handle = async (request: Request) => {
    const response = await app.fetch(request);
    answered++;
    return response;
  };
  server = await listen(handle, { port: 0, hostname: "127.0.0.1" });
});
beforeEach(() => void (name = `q${count++}`));
afterEach(() => held.release());
afterAll(async () => {
  await server.stop();
  await held.stop();
});

const post = async (path: string, json: object, signal?: AbortSignal) => {
  const response = await fetch(`http://127.0.0.1:${server.port}/v1/queues/${name}/tasks/${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${secrets.all}`, "content-type": "application/json" },
    body: JSON.stringify(json),
    ...(signal && { signal }),
  });
  return (await response.json()) as { tasks: { id: string }[] };
};

describe.each([1, 4])("a pull from a queue of %i partitions whose caller disconnects", (partitions) => {
  const direct = () => new Queue(name, { transport: held.direct(1), partitions });
  const working = async () => (await direct().counts()).working;
  const add = async () => {
    await direct().counts();
    // The server learns which partitions the queue has.
    await post("pull", {});
    await direct().enqueueMany(IDS.map((id) => ({ id, payload: id })));
  };

  /** Makes a request, and disconnects when it has leased tasks, while the reply of Redis is held back. */
  const disconnected = async (path: string, json: object) => {
    const leaving = new AbortController();
    held.holdNext();
    const request = post(path, json, leaving.signal);
    request.catch(() => {});
    await expect.poll(async () => (await direct().counts()).pending).toBeLessThan(IDS.length);
    leaving.abort();
    await expect(request).rejects.toThrow("aborted");
  };
  const expectUntouched = async () => {
    await expect.poll(async () => (await direct().counts()).pending).toBe(IDS.length);
    const infos = await Promise.all(IDS.map((id) => direct().get(id)));
    expect(infos.map((info) => [info?.state, info?.charged])).toEqual(IDS.map(() => ["pending", 0]));
    expect(await working()).toBe(0);
  };

  test.each([{}, { max: 3 }, { wait: "20s" }])("hands back what %j has leased", async (json) => {
    await add();
    const before = answered;
    await disconnected("pull", json);
    // The server notices that its caller has left, and then gets the reply.
    await expect.poll(() => answered).toBe(before + 1);
    held.release();
    await expectUntouched();
  });

  test("hands back what a settle has leased too", async () => {
    await direct().enqueue(1, { id: "first" });
    const [first] = await direct().dequeue();
    await add();
    const before = answered;
    const settlements = [{ receipt: first?.receipt, outcome: "complete" }];
    await disconnected("settle", { settlements, pull: { max: 2 } });
    await expect.poll(() => answered).toBe(before + 1);
    held.release();
    await expectUntouched();
    expect(await direct().get("first")).toMatchObject({ state: "completed" });
  });

  test("keeps what a pull with a token has leased: the same pull, sent again, gets it", async () => {
    await add();
    const json = { max: 3, token: "token-0123" };
    await disconnected("pull", json);
    held.release();
    const leased = await working();
    expect((await post("pull", json)).tasks).toHaveLength(leased);
    expect(await working()).toBe(leased);
  });
});
