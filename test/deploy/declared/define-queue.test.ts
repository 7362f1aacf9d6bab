import { describe, expect, expectTypeOf, test, vi } from "vitest";
import { z } from "zod";
import { createClient } from "../../../src/client/index.ts";
import { isDeclared } from "../../../src/deploy/declared/define-queue.ts";
import {
  defineQueue,
  drain,
  Operator,
  Producer,
  Queue,
  Schedules,
  type Task,
  type WorkOptions,
} from "../../../src/index.ts";
import { encrypting } from "../../support/encrypting.ts";
import { START, useRig } from "../../support/rig.ts";

const rig = useRig();

const schema = z.object({ to: z.string(), times: z.number().default(1) });
const emails = defineQueue("emails", { schema, lease: "1m", maxAttempts: 3, transport: () => rig.transport });

describe("a declared queue", () => {
  test("adds, reads and cancels tasks with its own options, over its own transport", async () => {
    const { id } = await emails.enqueue({ to: "a@example.com" }, { delay: "1h" });
    await emails.enqueueMany([{ payload: { to: "b@example.com" }, id: "b" }]);
    expect(await emails.get(id)).toMatchObject({ id, queue: "emails", state: "delayed" });
    expect(await emails.cancel(id)).toEqual({ ok: true, state: "rejected" });
    const [task] = await new Queue(emails, { transport: rig.transport }).dequeue();
    expect(task).toMatchObject({ id: "b", payload: { to: "b@example.com", times: 1 }, leasedFor: 60_000 });
    const record = (await rig.space()).tasks.get("b");
    expect(record).toMatch(/;l=60000;m=3\n/);
  });

  test("takes the place of a name, and its options are defaults", async () => {
    const queue = new Queue(emails, { transport: rig.transport, lease: "5s", now: () => rig.now });
    await new Producer(emails, { transport: rig.transport, now: () => rig.now }).enqueue({ to: "a" });
    await queue.enqueue({ to: "b" }, { maxAttempts: 1 });
    const tasks = await queue.dequeue({ max: 2 });
    expect(tasks.map(({ deadlineAt }) => deadlineAt)).toEqual([START + 60_000, START + 5_000]);
    const operator = new Operator(emails, { transport: rig.transport });
    expect(operator.name).toBe("emails");
    await operator.pause();
    expect((await queue.dequeue()).paused).toBe(true);
  });

  test("gives its types to producers, consumers, schedules and the client", async () => {
    const queue = new Queue(emails, { transport: rig.transport });
    type In = { to: string; times?: number | undefined };
    type Out = { to: string; times: number };
    expectTypeOf(queue).toEqualTypeOf<Queue<In, Out>>();
    expectTypeOf<Parameters<typeof emails.enqueue>[0]>().toEqualTypeOf<In>();
    const client = createClient({ url: "https://queue.test", token: "t" }).queue(emails);
    expectTypeOf<Parameters<typeof client.enqueue>[0]>().toEqualTypeOf<In>();
    expect(client.name).toBe("emails");
    const schedules = new Schedules<In>(emails, { transport: rig.transport });
    expect(schedules.name).toBe("emails");
    const { handler } = emails.consumer(({ payload }) => expectTypeOf(payload).toEqualTypeOf<Out>());
    expect(handler).toBeTypeOf("function");
    await drain(queue, ({ payload }) => expectTypeOf(payload).toEqualTypeOf<Out>());
    // oxlint-disable-next-line no-constant-condition
    if (false as boolean) {
      // @ts-expect-error -- a payload of another type
      await emails.enqueue({ too: "a@example.com" });
      // @ts-expect-error -- a payload of another type
      await queue.enqueue({ to: 7 });
      // @ts-expect-error -- a payload of another type
      await client.enqueue("a@example.com");
      // @ts-expect-error -- a handler of another type
      emails.consumer((task: Task<{ other: number }>) => task);
      // @ts-expect-error -- a schedule's payload of another type
      defineQueue("emails", { schema, schedules: { daily: { every: "1d", payload: { to: 7 } } } });
      // @ts-expect-error -- a duration in words
      defineQueue("emails", { lease: "five minutes" });
      const queues = { emails };
      // @ts-expect-error -- a misspelt queue
      await queues.emials.enqueue({ to: "a@example.com" });
      // @ts-expect-error -- a misspelt option
      defineQueue("emails", { maxAttemps: 5 });
    }
  });

  test("without a schema has the type that it is given", () => {
    const plain = defineQueue<{ to: string }>("plain");
    expectTypeOf<Parameters<typeof plain.enqueue>[0]>().toEqualTypeOf<{ to: string }>();
    plain.consumer(({ payload }) => expectTypeOf(payload).toEqualTypeOf<{ to: string }>());
  });

  test("gives its consumers the declared timeout and backoff, unless their own options are given", () => {
    const declared = defineQueue("emails", { timeout: "10s", backoff: ["1s"] });
    const optionsOf = (options?: WorkOptions) => declared.consumer(() => {}, options).options;
    expect(optionsOf()).toEqual({ timeout: "10s", backoff: ["1s"] });
    expect(optionsOf({ timeout: undefined, batch: 5 })).toEqual({
      timeout: "10s",
      backoff: ["1s"],
      batch: 5,
    });
    expect(optionsOf({ timeout: "5s", backoff: true })).toEqual({ timeout: "5s", backoff: true });
  });

  test("encrypts, with an encryption that is made at the first use", async () => {
    let made = 0;
    const secret = defineQueue<string>("emails", {
      transport: () => rig.transport,
      encryption: () => {
        made++;
        return encrypting();
      },
    });
    expect(made).toBe(0);
    await secret.enqueue("hidden", { id: "a" });
    await secret.enqueue("hidden too", { id: "b" });
    expect(made).toBe(1);
    expect(JSON.stringify([...(await rig.space()).tasks])).not.toContain("hidden");
    const [task] = await new Queue(secret, { transport: rig.transport }).dequeue();
    expect(task?.payload).toBe("hidden");
  });

  test("uses the prefix of the process's environment, unless it has its own", async () => {
    vi.stubEnv("SLUICE_PREFIX", "staging");
    const transport = () => rig.transport;
    try {
      await defineQueue("emails", { transport }).enqueue(1);
      await defineQueue("emails", { transport, prefix: "own" }).enqueue(1);
    } finally {
      vi.unstubAllEnvs();
    }
    const [tasks, registry] = ["own", "staging"].map((prefix) => [
      `${prefix}:{emails}:tasks`,
      `${prefix}:queues`,
    ]);
    expect(Object.keys(await rig.keySpace())).toEqual(
      expect.arrayContaining([...(tasks ?? []), ...(registry ?? [])]),
    );
    expect(await rig.space()).toMatchObject({ tasks: new Map() });
  });

  test("wakes a consumer by its own waker", async () => {
    const woken: string[] = [];
    const wake = { wake: (queue: string) => woken.push(queue) };
    await defineQueue("emails", { transport: () => rig.transport, wake }).enqueue(1);
    expect(woken).toEqual(["emails"]);
  });
});

describe("a declaration is checked at once", () => {
  test.each<[object, string]>([
    [{ maxAttemps: 5 }, "maxAttemps is an unknown option; expected one of "],
    [{ schema: {} }, "schema must be a Standard Schema"],
    [{ lease: "soon" }, "lease must be a duration"],
    [{ backoff: { base: "x" } }, "backoff.base must be a duration"],
    [{ timeout: 0 }, "timeout must be a duration"],
    [{ rate: { max: 5, per: "1s" } }, "rate.max is an unknown option; expected one of most, per"],
    [{ maxWorking: 0 }, "maxWorking must be a whole number"],
    [{ schedules: [] }, "schedules must be an object of schedules by name"],
    [{ schedules: { "a b": {} } }, "schedules.a b must be 1 to 128 visible ASCII"],
  ])("%j", (declaration, problem) => {
    const path = `emails.${problem.replace(/ (?:must|is) .*/, "")}`;
    const message = expect.stringContaining(`emails.${problem}`) as string;
    expect(() => defineQueue("emails", declaration)).toThrow(expect.objectContaining({ path, message }));
  });

  test("its name too, and a value that is no queue", () => {
    expect(() => defineQueue("bad name")).toThrow("queue must be 1 to 128 of");
    for (const other of [{}, defineQueue("emails").consumer(() => {})]) {
      expect(() => new Queue(other as never, { transport: rig.transport })).toThrow(
        "queue must be a name, or a queue that defineQueue made",
      );
    }
  });

  test("other objects with connect are no declared queues", () => {
    const app = Object.assign(() => {}, { connect() {}, settings: {}, schedules: {} });
    const client = { name: "redis", connect() {}, settings: null };
    for (const other of [app, client, null, undefined, "emails"]) expect(isDeclared(other)).toBe(false);
    expect(isDeclared(defineQueue("emails"))).toBe(true);
  });

  test("its own methods need a transport", async () => {
    await expect(defineQueue("emails").enqueue(1)).rejects.toMatchObject({
      code: "invalid_argument",
      path: "transport",
      message: expect.stringContaining('defineQueue("emails", { transport: upstash })') as string,
    });
  });
});

test("a declared queue without a transport says from where its tasks can be added", async () => {
  await expect(defineQueue("emails").enqueue(1)).rejects.toMatchObject({
    code: "invalid_argument",
    path: "transport",
    message: expect.stringMatching(
      /^transport must be declared, as .*{ transport: upstash }\) or { transport: resp }.* connects the queues of its consumers and queues: \[emails\]\. /,
    ) as string,
  });
});
