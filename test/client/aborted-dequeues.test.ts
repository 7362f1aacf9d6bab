import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type ClientQueue, createClient } from "../../src/client/index.ts";
import { createApp } from "../../src/http/app.ts";
import { type DequeueOptions, Queue } from "../../src/index.ts";
import { secrets, tokens } from "../http/served.ts";
import { type HeldReplies, startHeldReplies } from "../support/held-replies.ts";
import { aborted } from "../support/recorded.ts";

/** Some in each of four partitions. */
const IDS = Array.from({ length: 8 }, (_, i) => `t${i}`);

let held: HeldReplies;
let name: string;
/** The paths of the requests that were sent. */
let sent: string[];
let count = 0;

beforeAll(async () => void (held = await startHeldReplies()));
beforeEach(() => {
  name = `q${count++}`;
  sent = [];
});
afterEach(() => held.release());
afterAll(() => held.stop());

const client = (): ClientQueue => {
  const app = createApp({ transport: held.transport("resp", 1), tokens });
  const fetch = async (url: string, init: RequestInit) => {
    sent.push(new URL(url).pathname.split("/").at(-1) ?? "");
    const request = new Request(url, init);
    const response = await app.fetch(request);
    // As over a network: a caller that has left gets no response.
    request.signal.throwIfAborted();
    return response;
  };
  return createClient({ url: "https://sluice.test", token: secrets.all, fetch }).queue(name);
};

describe.each([1, 4])("an aborted dequeue of the client, of a queue of %i partitions", (partitions) => {
  const direct = () => new Queue(name, { transport: held.direct(1), partitions });
  const counts = () => direct().counts();
  const prepared = async () => {
    await counts();
    const queue = client();
    // The server learns which partitions the queue has.
    await queue.dequeue();
    await direct().enqueueMany(IDS.map((id) => ({ id, payload: id })));
    sent = [];
    return queue;
  };
  /** Aborts a call when the request has leased tasks, while the reply of Redis is held back. */
  const abortedMeanwhile = async (call: (signal: AbortSignal) => Promise<unknown>) => {
    const controller = new AbortController();
    held.holdNext();
    const calling = call(controller.signal);
    calling.catch(() => {});
    await expect.poll(async () => (await counts()).pending).toBeLessThan(IDS.length);
    controller.abort();
    await expect(calling).rejects.toMatchObject(aborted.reason);
    held.release();
  };
  const expectUntouched = async () => {
    await expect.poll(async () => (await counts()).pending).toBe(IDS.length);
    const infos = await Promise.all(IDS.map((id) => direct().get(id)));
    expect(infos.map((info) => [info?.state, info?.charged])).toEqual(IDS.map(() => ["pending", 0]));
    expect(await counts()).toMatchObject({ working: 0 });
  };
  const options: readonly DequeueOptions[] = [{}, { max: 3 }, { max: 2, wait: "20s" }];

  test.each(options)("hands back what %j has leased", async (given) => {
    const queue = await prepared();
    await abortedMeanwhile((signal) => queue.dequeue({ ...given, signal }));
    await expectUntouched();
    expect(sent).toEqual(["pull", "pull", "settle"]);
  });

  test.each(options)("hands back what a settle with %j has leased", async (given) => {
    await direct().enqueue(1, { id: "first" });
    const [first] = await direct().dequeue();
    const queue = await prepared();
    const settlements = [{ receipt: first!.receipt, outcome: "complete" as const }];
    await abortedMeanwhile((signal) => queue.settleAndDequeue(settlements, { ...given, signal }));
    await expectUntouched();
    expect(await direct().get("first")).toMatchObject({ state: "completed" });
    expect(sent).toEqual(["settle", "pull", "settle"]);
  });

  test("is not handed back with a token: the same dequeue, sent again, gets the tasks", async () => {
    const queue = await prepared();
    const given = { max: 3, token: "token-0123" };
    await abortedMeanwhile((signal) => queue.dequeue({ ...given, signal }));
    const leased = (await counts()).working;
    expect(await queue.dequeue(given)).toHaveLength(leased);
    expect([await counts(), sent]).toMatchObject([{ working: leased }, ["pull", "pull"]]);
  });

  test("sends nothing if it was aborted before", async () => {
    const queue = await prepared();
    const signal = AbortSignal.abort();
    await expect(queue.dequeue({ signal })).rejects.toMatchObject(aborted.reason);
    await expect(queue.settleAndDequeue([], { signal })).rejects.toMatchObject(aborted.reason);
    expect(sent).toEqual([]);
    await expectUntouched();
  });
});
