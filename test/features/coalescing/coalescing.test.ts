import { describe, expect, test } from "vitest";
import * as v from "valibot";
import type { Settled } from "../../../src/index.ts";
import { MAX_REQUEST_BYTES } from "../../../src/kernel/options/limits.ts";
import { encrypting } from "../../support/encrypting.ts";
import { QUEUE, START, useRig } from "../../support/rig.ts";
import { numbered } from "../../support/new-tasks.ts";
import { aborted, recorded, times } from "../../support/recorded.ts";

// Calls that share requests. The coalescer itself is tested in coalescer.test.ts.
const rig = useRig();

describe("enqueues of one turn", () => {
  test("are one request, and pending in the order of the calls", async () => {
    const { queue, scripts } = recorded(rig);
    const reported = await times(100, (i) => queue.enqueue(i));
    expect(scripts()).toEqual([["register", "enqueuePlain"]]);
    expect(reported.every(({ created }) => created)).toBe(true);
    const tasks = await queue.dequeue({ max: 100 });
    expect(tasks.map(({ id, payload }) => ({ id, payload }))).toEqual(
      reported.map(({ id }, i) => ({ id, payload: i })),
    );
  });

  test("leave the same key space as calls one after the other", async () => {
    const dedup = { key: "k", window: "1h" } as const;
    const calls = [
      ["a", { idempotencyKey: "key-0" }, "made true"],
      ["b", { id: "mine" }, "mine true"],
      ["c", { id: "mine", headers: { not: "first" } }, "mine false"],
      ["d", { id: "grouped", group: "g", priority: 3 }, "grouped true"],
      ["e", { id: "delayed", delay: "1m" }, "delayed true"],
      ["f", { id: "first", dedup }, "first true"],
      ["g", { id: "second", dedup }, "first false"],
      ["h", { id: "second" }, "second true"],
      ["i", { idempotencyKey: "key-1" }, "made true"],
      ["i", { idempotencyKey: "key-1" }, "made true"],
      ["j", { idempotencyKey: "key-1" }, "idempotency_key_reused"],
      ["k", { id: "ended", again: true }, "ended true"],
      ["l", { id: "ended", again: true }, "ended false"],
    ] as const;
    const spaces = [];
    for (const coalesce of [false, "turn"] as const) {
      await rig.command("FLUSHALL");
      const queue = rig.queue({ coalesce, transport: { send: rig.transport.send } });
      await queue.enqueue("old", { id: "ended" });
      await (await queue.dequeue())[0]?.complete();
      const call = async ([payload, options]: (typeof calls)[number]) =>
        queue.enqueue(payload, options).catch(({ code }: { code: string }) => code);
      const answers: Awaited<ReturnType<typeof call>>[] = [];
      if (coalesce) answers.push(...(await Promise.all(calls.map(call))));
      else for (const one of calls) answers.push(await call(one));
      const { tasks, ...rest } = await rig.space();
      // Tokens are random.
      const records = Array.from(tasks, ([field, text]) => [
        field,
        text.replace(/;t=[A-Za-z0-9]{16}\b/, ";t=?"),
      ]).filter(([field]) => !field?.startsWith("~r"));
      spaces.push({ answers, rest, records: Object.fromEntries(records) as unknown });
    }
    const [apart, together] = spaces;
    expect(together).toEqual(apart);
    const made = together?.answers.map((answer) => {
      if (typeof answer === "string") return answer;
      return `${answer.id.length > 20 ? "made" : answer.id} ${answer.created}`;
    });
    expect(made).toEqual(calls.map(([, , answer]) => answer));
    expect(together?.answers[8]).toEqual(together?.answers[9]);
  });

  test("with bad arguments or a payload that does not fit fail alone and before anything is sent", async () => {
    const { queue, requests } = recorded(rig, { schema: v.string() });
    const ends = await Promise.allSettled([
      queue.enqueue("a"),
      queue.enqueue(7 as never),
      queue.enqueue("b", { delay: -1 }),
      queue.enqueue("c", { id: " " }),
      queue.enqueue("d", { again: true }),
      queue.enqueue("e"),
    ]);
    const reported = ends.map((end) => (end.status === "fulfilled" ? end.value.created : end.reason.path));
    expect(reported).toEqual([true, "payload", "delay", "id", "again", true]);
    expect(requests).toHaveLength(1);
    expect(await queue.counts()).toMatchObject({ pending: 2 });
  });

  test("with a slow schema are sent later, alone", async () => {
    let end = () => {};
    const ended = new Promise<void>((resolve) => (end = resolve));
    const slow = v.pipeAsync(
      v.number(),
      v.checkAsync(async (value) => {
        if (value === 1) await ended;
        return true;
      }),
    );
    const { queue, scripts } = recorded(rig, { schema: slow });
    const last = times(3, (i) => queue.enqueue(i));
    await expect.poll(async () => (await rig.queue().counts()).pending).toBe(2);
    end();
    await last;
    expect(scripts()).toEqual([["register", "enqueuePlain"], ["enqueuePlain"]]);
  });

  test("in a full queue are refused alone if there is no room", async () => {
    const { queue, scripts } = recorded(rig);
    await rig.operator().configure({ maxPending: 3 });
    await queue.enqueueMany(numbered(1));
    const ends = await Promise.allSettled([
      queue.enqueue("a", { id: "a" }),
      queue.enqueue("delayed", { id: "later", delay: "1m" }),
      queue.enqueue("b", { id: "b", group: "g" }),
      queue.enqueue("c", { id: "c" }),
      queue.enqueue("known", { id: "t0" }),
      queue.enqueue("d", { id: "d", group: "g" }),
    ]);
    expect(ends).toMatchObject([
      { value: { id: "a", created: true } },
      { value: { id: "later", created: true } },
      { value: { id: "b", created: true } },
      { reason: { code: "queue_full" } },
      { value: { id: "t0", created: false } },
      { reason: { code: "queue_full" } },
    ]);
    expect(await queue.counts()).toMatchObject({ pending: 3, delayed: 1 });
    expect(scripts().slice(1, 2)).toEqual([["enqueue"]]);
  });

  test("wake a consumer once", async () => {
    const woken: string[] = [];
    const { queue } = recorded(rig, { wake: { wake: (name) => woken.push(name), window: "1h" } });
    await times(5, (i) => queue.enqueue(i));
    expect(woken).toEqual([QUEUE]);
  });

  test("go in groups of at most 1,000, and 8 MB", async () => {
    const { queue, scripts } = recorded(rig);
    await queue.enqueue(0);
    await times(1_001, (i) => queue.enqueue(i));
    const payload = "x".repeat(1_000_000);
    await times(9, () => queue.enqueue(payload));
    expect(scripts().slice(1).map(String).toSorted()).toEqual([
      "enqueue",
      "enqueuePlain",
      "enqueuePlain",
      "enqueuePlain",
    ]);
    expect(await queue.counts()).toMatchObject({ pending: 1 + 1_001 + 9 });
  });

  test.each([
    ["encrypted payloads", { encryption: encrypting() }, 8, "x".repeat(990_000), {}],
    ["headers", {}, 1_000, "short", { headers: { long: "x".repeat(16_000) } }],
  ])("with %s go in requests that Upstash accepts", async (_, options, count, payload, task) => {
    const { queue, requests } = recorded(rig, options);
    await times(count, () => queue.enqueue(payload, task));
    const sizes = requests.map((commands) => JSON.stringify(commands).length);
    for (const size of sizes) expect(size).toBeLessThan(MAX_REQUEST_BYTES);
    expect(await queue.counts()).toMatchObject({ pending: count });
  });

  test("are not affected by another call's abort", async () => {
    const controller = new AbortController();
    const { queue, requests } = recorded(rig, {}, () => controller.abort());
    const before = [
      queue.enqueue("a", { id: "a", signal: AbortSignal.abort() }),
      queue.enqueue("b", { id: "b", signal: controller.signal }),
      queue.enqueue("c", { id: "c" }),
    ];
    expect(await Promise.allSettled(before)).toMatchObject([aborted, aborted, { value: { created: true } }]);
    expect(requests).toHaveLength(1);
    expect(await queue.get("a")).toBeNull();
    // Its request was already sent.
    expect(await queue.get("b")).toMatchObject({ state: "pending" });
  });
});

describe("settlements of one task each", () => {
  const leased = async (count: number) => {
    const { queue, requests, scripts } = recorded(rig);
    await queue.enqueueMany(numbered(count));
    const tasks = await queue.dequeue({ max: count });
    requests.length = 0;
    return { queue, requests, scripts, tasks };
  };

  test("are one request, each with its own answer", async () => {
    const { queue, scripts, tasks } = await leased(6);
    const [a, b, c, d, e, f] = tasks;
    await rig.queue().cancel("t5");
    const reported = await Promise.all([
      a?.complete("done"),
      a?.complete("done"),
      a?.reject("late"),
      b?.extend("10m"),
      c?.requeue({ delay: "1m" }),
      d?.reject(new Error("no")),
      queue.settle([{ receipt: e?.receipt ?? "", outcome: "requeue", unstarted: true }]),
      f?.extend(),
    ]);
    const receipts = [a, a, a, b, c, d, e, f].map((task) => task?.receipt);
    expect(reported.flat()).toEqual([
      { receipt: receipts[0], ok: true, state: "completed" },
      { receipt: receipts[1], ok: true, state: "completed" },
      { receipt: receipts[2], ok: false, code: "lease_lost" },
      { receipt: receipts[3], ok: true, state: "working", deadlineAt: START + 600_000 },
      { receipt: receipts[4], ok: true, state: "delayed", dueAt: START + 60_000 },
      { receipt: receipts[5], ok: true, state: "rejected", reason: "rejected" },
      { receipt: receipts[6], ok: true, state: "pending" },
      expect.objectContaining({ receipt: receipts[7], state: "working", cancelRequested: true }),
    ] satisfies (Settled | undefined)[]);
    expect(scripts()).toEqual([["settle"]]);
  });

  test("fail alone if their arguments are wrong, before anything is sent", async () => {
    const { queue, requests, tasks } = await leased(2);
    const ends = await Promise.allSettled([
      tasks[0]?.complete(),
      tasks[1]?.complete(Number.NaN),
      queue.settle([{ receipt: "no", outcome: "complete" }]),
      queue.settle([null as never]),
    ]);
    expect(ends).toMatchObject([
      { value: { ok: true } },
      { reason: { code: "invalid_argument", path: "result" } },
      { reason: { code: "invalid_argument", path: "settlements[0].receipt" } },
      { reason: { code: "invalid_argument" } },
    ]);
    expect(requests).toHaveLength(1);
  });

  test("are sent alone with an idempotency key, and in batches", async () => {
    const { queue, scripts, tasks } = await leased(4);
    const receipts = tasks.map(({ receipt }) => ({ receipt, outcome: "complete" as const }));
    await Promise.all([
      queue.settle(receipts.slice(0, 1)),
      queue.settle(receipts.slice(1, 2), { idempotencyKey: "k" }),
      queue.settle(receipts.slice(2)),
    ]);
    expect(scripts()).toEqual([["settle"], ["settle"], ["settle"]]);
  });
});

describe.each(["turn", false] as const)("a call that is alone, with coalesce %s", (coalesce) => {
  /** A queue that never ends to wake, and the signal that aborts when it begins. */
  const waking = () => {
    const controller = new AbortController();
    const never = () => {
      controller.abort();
      return new Promise(() => {});
    };
    return {
      queue: rig.queue({ coalesce, wake: { wake: never, wakeAt: never } }),
      signal: controller.signal,
    };
  };

  test("ends at once if it is aborted while it waits for a wake", async () => {
    const { queue, signal } = waking();
    await expect(queue.enqueue("a", { signal })).rejects.toMatchObject({ code: "aborted" });
    await expect(queue.enqueue("b", { signal })).rejects.toMatchObject({ code: "aborted" });
    const tasks = await rig.queue().dequeue({ max: 2 });
    expect(tasks.map(({ payload }) => payload)).toEqual(["a"]);
  });

  test("ends at once if it is aborted while it waits for the wake of a requeued task", async () => {
    const { queue, signal } = waking();
    await rig.queue().enqueue("a", { id: "a" });
    const [task] = await rig.queue().dequeue();
    const settlement = { receipt: task?.receipt ?? "", outcome: "requeue", delay: "1m" } as const;
    await expect(queue.settle([settlement], { signal })).rejects.toMatchObject({ code: "aborted" });
    expect(await rig.queue().get("a")).toMatchObject({ state: "delayed" });
  });
});
