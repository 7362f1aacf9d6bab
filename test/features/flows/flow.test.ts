import { describe, expect, expectTypeOf, test } from "vitest";
import { defineQueue, Producer, Queue } from "../../../src/index.ts";
import { type AddedFlow, flow } from "../../../src/features/flows/index.ts";
import { linked } from "../../../src/features/linked/index.ts";
import { useRig } from "../../support/rig.ts";

const rig = useRig({ checkInvariants: false });
const emails = () =>
  new Queue<{ to: string }>("emails", { transport: linked(rig.transport), now: () => rig.now });

describe("flow", () => {
  test("takes queues, producers and declared queues", async () => {
    const rows = new Producer<number>("rows", { transport: linked(rig.transport), now: () => rig.now });
    const audits = defineQueue<string>("audits", { transport: rig.transport });
    const run = await flow(
      { ref: "rows", queue: rows, payload: 1 },
      {
        ref: "mail",
        queue: emails(),
        payload: { to: "a@example.com" },
        after: ["rows", { ref: "audit", on: "ended" }],
      },
      { ref: "audit", flow: [{ ref: "one", queue: audits, payload: "text" }] },
    );
    expect(run).toEqual({
      id: expect.stringMatching(/^\w+@rows$/),
      created: true,
      tasks: { rows: expect.any(String), mail: expect.any(String), "audit/one": expect.any(String) },
    });
    expect(await rows.get(run.tasks.rows)).toMatchObject({ state: "pending" });
    expectTypeOf(run).toEqualTypeOf<AddedFlow<"rows" | "mail" | "audit/one">>();
  });

  test("takes a list with options, and adds a flow of the same id once", async () => {
    const items = ["a", "b"].map((ref) => ({ ref, queue: emails(), payload: { to: ref } }));
    const first = await flow(items, { id: "import-7" });
    expect(first).toMatchObject({ id: "import-7@emails", created: true });
    expectTypeOf(first).toEqualTypeOf<AddedFlow>();
    expect(await flow(items, { id: "import-7" })).toEqual({ ...first, created: false });
  });

  test.for(["dealy", "id", "dedup", "unique", "debounce"])(
    "refuses the option %s of a task",
    async (option) => {
      const item = { ref: "a", queue: emails(), payload: { to: "a" }, [option]: 1 };
      await expect(flow(item)).rejects.toThrow(`tasks[0].${option} is an unknown option`);
    },
  );

  test("takes payloads of the queue's type only", () => {
    const call = () => [
      // @ts-expect-error: the queue takes an address
      flow({ ref: "a", queue: emails(), payload: 1 }),
      // @ts-expect-error: also in an inner flow
      flow({ ref: "a", flow: [{ ref: "b", queue: emails(), payload: { from: "" } }] }),
      // @ts-expect-error: also in a list
      flow([{ ref: "a", queue: emails(), payload: 1 }]),
    ];
    expect(call).toBeTypeOf("function");
  });

  test("refuses what is no queue, and declared queues that cannot add tasks themselves", async () => {
    const to = { to: "a@example.com" };
    await expect(flow({ ref: "a", queue: "emails", payload: to } as never)).rejects.toThrow(
      "tasks[0].queue must be a Queue, a Producer, or a queue that defineQueue made",
    );
    const declared = defineQueue("emails");
    await expect(flow({ ref: "a", queue: declared, payload: to })).rejects.toThrow(
      'defineQueue("emails", { transport: upstash })',
    );
    const long = new Queue<{ to: string }>("q".repeat(100), { transport: rig.transport });
    const one = { ref: "a", queue: long, payload: to };
    await expect(flow(one)).rejects.toMatchObject({ code: "invalid_argument", path: "tasks[0].queue" });
    await expect(flow([one], { id: "long-named" })).rejects.toThrow("long-named@qqq");
    expect(await flow([one], { id: "short-one" })).toMatchObject({ created: true });
    await expect(flow([{ ref: "a", queue: emails(), payload: to }], { name: "x" } as never)).rejects.toThrow(
      "name is an unknown option; expected one of id, onFailure, signal, idempotencyKey",
    );
  });
});
