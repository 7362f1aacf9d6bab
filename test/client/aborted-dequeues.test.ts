import { operations } from "../../src/http/operations/index.ts";
import { beforeEach, describe, expect, test } from "vitest";
import { createClient } from "../../src/client/index.ts";
import { createApp } from "../../src/http/app.ts";
import type { DequeueOptions } from "../../src/index.ts";
import { useHeldQueue } from "../http/held-queue.ts";
import { secrets, tokens } from "../http/served.ts";
import { aborted } from "../support/recorded.ts";

const held = useHeldQueue();
/** The last part of the path of each request that was sent. */
let sent: string[];
beforeEach(() => void (sent = []));

const client = () => {
  const app = createApp({ operations, transport: held.transport(), tokens });
  const fetch = async (url: string, init: RequestInit) => {
    sent.push(new URL(url).pathname.split("/").at(-1) ?? "");
    const request = new Request(url, init);
    const response = await app.fetch(request);
    // As over a network: a caller that has left gets no response.
    request.signal.throwIfAborted();
    return response;
  };
  return createClient({ url: "https://sluice.test", token: secrets.all, fetch }).queue(held.name());
};

describe.each([1, 4])("an aborted dequeue of the client, of a queue of %i partitions", (partitions) => {
  const prepared = async () => {
    const queue = client();
    await held.fill(partitions, () => queue.dequeue());
    sent = [];
    return queue;
  };
  const abandon = async (call: (signal: AbortSignal) => Promise<unknown>) => {
    expect(await held.abandon(partitions, call)).toMatchObject(aborted.reason);
    held.release();
  };
  const options: readonly DequeueOptions[] = [{}, { max: 3 }, { max: 2, wait: "20s" }];

  test.each(options)("hands back what %j has leased", async (given) => {
    const queue = await prepared();
    await abandon((signal) => queue.dequeue({ ...given, signal }));
    await held.expectUntouched(partitions);
    expect(sent).toEqual(["pull", "pull", "settle"]);
  });

  test.each(options)("hands back what a settle with %j has leased", async (given) => {
    const direct = held.direct(partitions);
    await direct.enqueue(1, { id: "first" });
    const [first] = await direct.dequeue();
    const queue = await prepared();
    const settlements = [{ receipt: first!.receipt, outcome: "complete" as const }];
    await abandon((signal) => queue.settleAndDequeue(settlements, { ...given, signal }));
    await held.expectUntouched(partitions);
    expect(await direct.get("first")).toMatchObject({ state: "completed" });
    expect(sent).toEqual(["settle", "pull", "settle"]);
  });

  test("is not handed back with a token: the same dequeue, sent again, gets the tasks", async () => {
    const queue = await prepared();
    const given = { max: 3, token: "token-0123" };
    await abandon((signal) => queue.dequeue({ ...given, signal }));
    const { working } = await held.counts(partitions);
    expect(await queue.dequeue(given)).toHaveLength(working);
    expect([await held.counts(partitions), sent]).toMatchObject([{ working }, ["pull", "pull"]]);
  });

  test("sends nothing if it was aborted before", async () => {
    const queue = await prepared();
    const signal = AbortSignal.abort();
    await expect(queue.dequeue({ signal })).rejects.toMatchObject(aborted.reason);
    await expect(queue.settleAndDequeue([], { signal })).rejects.toMatchObject(aborted.reason);
    expect(sent).toEqual([]);
  });
});
