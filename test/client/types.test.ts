import { expect, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { createClient, type ClientQueue } from "../../src/client/index.ts";
import type { TaskSource } from "../../src/drain/source.ts";
import { Queue } from "../../src/index.ts";
import { Producer as KernelProducer } from "../../src/kernel/producer.ts";
import { Queue as KernelQueue } from "../../src/kernel/queue.ts";
import { TasksById } from "../../src/kernel/tasks/tasks-by-id.ts";

const client = createClient({ url: "https://queue.example", token: "a-token-of-sixteen" });

interface Email {
  readonly to: string;
}

test("a drain takes a client's queue, with the type of its payloads", () => {
  expectTypeOf(client.queue<Email>("emails")).toExtend<TaskSource<Email>>();
  expectTypeOf(client.queue<Email>("emails")).not.toExtend<TaskSource<{ n: number }>>();
});

test("each call has the same type as on a queue", () => {
  type Calls<Q> = Pick<Q, Extract<Exclude<keyof ClientQueue, "counted">, keyof Q>>;
  expectTypeOf<Calls<ClientQueue<Email, Date>>>().toEqualTypeOf<Calls<Queue<Email, Date>>>();
});

test("it has every method of a queue except the documented ones", () => {
  const calls = (type: object) => Object.getOwnPropertyNames(type).filter((name) => name !== "constructor");
  const ofQueue = [KernelQueue, KernelProducer, TasksById].flatMap((type) => calls(type.prototype));
  // A drain of a queue needs no `counted`. `request` is protected: features send by it.
  const ofClient = calls(Object.getPrototypeOf(client.queue("emails")) as object).filter(
    (name) => !["counted", "request"].includes(name),
  );
  expect(ofQueue.toSorted()).toEqual([...ofClient, "wakeAnother"].toSorted());
});

test("a schema gives the types of enqueued and of delivered payloads", () => {
  const schema = z.object({ at: z.iso.datetime().transform((text) => new Date(text)) });
  const queue = client.queue("emails", { schema });
  expectTypeOf(queue).toEqualTypeOf<ClientQueue<{ at: string }, { at: Date }>>();
  expectTypeOf(queue.enqueue).parameter(0).toEqualTypeOf<{ at: string }>();
  expectTypeOf<Awaited<ReturnType<typeof queue.dequeue>>[number]["payload"]>().toEqualTypeOf<{ at: Date }>();
});
