import { expect, describe, test } from "vitest";
import { encryption } from "../../../src/features/encryption/aes-gcm.ts";
import type { KeyedEnqueueOptions } from "../../../src/features/debounce/types.ts";
import type { Transport } from "../../../src/index.ts";
import { START, useRig } from "../../support/rig.ts";
import { useKeyed } from "./keyed-queue.ts";

const rig = useRig();
const { queue, begin, payloads } = useKeyed(rig);
const debounce = { key: "a", wait: "5s" } as const;
const throttle = { key: "a", most: 1, per: "1m" } as const;
const singleton = { key: "a", while: "waiting" } as const;

/** Calls as `[payload, options]`, of which the last is then sent again. */
const kinds: Record<string, readonly KeyedEnqueueOptions[]> = {
  "creates a debounced task": [{ debounce }],
  "replaces a debounced payload": [{ debounce }, { debounce }],
  "drops a debounced payload": [{ debounce }, { debounce: { ...debounce, keep: "first" } }],
  "appends a payload": [
    { debounce: { ...debounce, keep: "all" } },
    { debounce: { ...debounce, keep: "all" } },
  ],
  "creates a throttled task": [{ throttle }],
  "drops a throttled task": [{ throttle }, { throttle }],
  "delays a throttled task": [{ throttle }, { throttle: { ...throttle, excess: "delay" } }],
  "creates a singleton": [{ singleton }],
  "drops a singleton": [{ singleton }, { singleton }],
  "replaces a singleton": [{ singleton }, { singleton: { ...singleton, then: "replace" } }],
  "cancels a singleton": [{ singleton }, { singleton: { ...singleton, then: "cancel" } }],
  "creates a task to be replaced": [{ id: "a", replace: true }],
  "replaces a task": [
    { id: "a", replace: true },
    { id: "a", replace: true, delay: "1m" },
  ],
};

describe.each(Object.entries(kinds))("a copy of an enqueue that %s", (_, calls) => {
  const send = (call: number) => queue().enqueue(call, { ...calls[call], idempotencyKey: `call-${call}` });

  test("gets the same answer, and changes nothing, also after later calls and when the task has begun (law 5)", async () => {
    const answers = [];
    for (const call of calls.keys()) answers.push(await send(call));
    const before = await rig.keySpace();
    rig.now += 1_000;
    for (const call of calls.keys()) expect(await send(call)).toEqual(answers[call]);
    expect(await rig.keySpace()).toEqual(before);

    // A later call of another producer, whose payload stays.
    await queue().enqueue("later", calls.at(-1));
    const later = await rig.keySpace();
    for (const call of calls.keys()) expect(await send(call)).toEqual(answers[call]);
    expect(await rig.keySpace()).toEqual(later);

    rig.now += 70_000;
    await begin();
    const begun = await rig.keySpace();
    for (const call of calls.keys()) expect(await send(call)).toEqual(answers[call]);
    expect(await rig.keySpace()).toEqual(begun);
  });

  test("with another payload under the same idempotency key is refused", async () => {
    for (const call of calls.keys()) await send(call);
    const options = { ...calls.at(-1), idempotencyKey: `call-${calls.length - 1}` } as KeyedEnqueueOptions;
    await expect(queue().enqueue("other", options)).rejects.toMatchObject({ code: "idempotency_key_reused" });
  });

  test("in a full Redis is refused, and has written nothing (law 10)", async () => {
    for (let call = 0; call < calls.length - 1; call++) await send(call);
    const before = await rig.keySpace();
    await rig.command("CONFIG", "SET", "maxmemory", "1");
    try {
      await expect(send(calls.length - 1)).rejects.toMatchObject({ code: "queue_full" });
      expect(await rig.keySpace()).toEqual(before);
    } finally {
      await rig.command("CONFIG", "SET", "maxmemory", "0");
    }
  });
});

test("a copy of an enqueue that drops a payload and finds its task due begins nothing when that has begun (law 5)", async () => {
  const { id } = await queue().enqueue(1, { debounce });
  rig.now += 5_000;
  const dropped = { debounce: { ...debounce, keep: "first" }, idempotencyKey: "k" } as const;
  const answer = { id, created: false, outcome: "dropped" };
  expect(await queue().enqueue(2, dropped)).toEqual(answer);
  expect(await payloads()).toEqual([1]);
  expect(await queue().enqueue(2, dropped)).toEqual(answer);
  expect(await queue().counts()).toMatchObject({ delayed: 0, working: 1 });
});

describe("forgetKey", () => {
  test("lets the next enqueue be as the first, and leaves tasks as they are", async () => {
    for (const options of [{ debounce }, { throttle }, { singleton }] as const) {
      const { id } = await queue().enqueue(1, options);
      expect(await queue().forgetKey("a")).toBe(true);
      expect(await queue().forgetKey("a")).toBe(false);
      const next = await queue().enqueue(2, options);
      expect(next.outcome).toBe("created");
      expect(await queue().get(id)).not.toBeNull();
      await queue().forgetKey("a");
    }
  });

  test("a copy of it forgets nothing that came later; calls from before it keep their answers (law 5)", async () => {
    const first = await queue().enqueue(1, { debounce });
    const replaced = { debounce, idempotencyKey: "k" } as const;
    await queue().enqueue(2, replaced);
    expect(await queue().forgetKey("a", { idempotencyKey: "f" })).toBe(true);
    const { id } = await queue().enqueue(3, { debounce });
    expect(await queue().forgetKey("a", { idempotencyKey: "f" })).toBe(true);
    expect(await queue().enqueue(2, replaced)).toEqual({ id: first.id, created: false, outcome: "replaced" });
    expect(await queue().enqueue(4, { debounce })).toMatchObject({ id, outcome: "replaced" });
  });

  test("of an unknown key notes the call for five minutes", async () => {
    expect(await queue().forgetKey("none")).toBe(false);
    rig.now += 300_000;
    await rig.sweepOnce();
    expect((await rig.space()).tasks.size).toBe(0);
  });
});

test("keys go away an hour after their tasks are due, and seven days after the last call", async () => {
  const fields = async () => {
    await rig.sweepOnce();
    const kept = [...(await rig.space()).tasks.keys()];
    return kept.filter((field) => /^~[DTSI]:/.test(field)).toSorted((a, b) => a.localeCompare(b));
  };
  const settleAll = async () =>
    queue().settle((await begin()).map(({ receipt }) => ({ receipt, outcome: "complete" })));
  await queue().enqueue(1, { debounce });
  await queue().enqueue(1, { throttle });
  await queue().enqueue(1, { singleton });
  await queue().enqueue(1, { id: "b", replace: true });
  await queue().enqueue(2, { id: "b", replace: true });
  await settleAll();
  rig.now += 5_000;
  await settleAll();
  expect(await fields()).toEqual(["~D:a", "~I:b", "~S:a", "~T:a"]);
  rig.now += 295_000;
  expect(await fields()).toEqual(["~D:a", "~S:a"]);
  rig.now += 3_304_999;
  expect(await fields()).toEqual(["~D:a", "~S:a"]);
  rig.now += 1;
  expect(await fields()).toEqual(["~S:a"]);
  rig.now = START + 7 * 86_400_000 - 1;
  expect(await fields()).toEqual(["~S:a"]);
  rig.now += 1;
  expect(await fields()).toEqual([]);
});

describe("encrypted payloads", () => {
  const options = { encryption: encryption({ keys: { k: "A".repeat(43) + "=" }, current: "k" }) };

  test("are sealed for the task that gets them", async () => {
    const sealed = queue(options);
    const { id } = await sealed.enqueue("first", { debounce });
    expect(await sealed.enqueue("second", { debounce })).toMatchObject({ id, outcome: "replaced" });
    rig.now += 5_000;
    expect([...(await sealed.dequeue())]).toMatchObject([{ id, payload: "second" }]);
    // It has begun, so that the next one is sealed for an id of its own.
    expect(await sealed.enqueue("third", { debounce })).toMatchObject({ outcome: "created" });
    const singleton = { key: "a", while: "waiting", then: "replace" } as const;
    await sealed.enqueue(1, { singleton });
    expect(await sealed.enqueue(2, { singleton })).toMatchObject({ outcome: "replaced" });
    rig.now += 5_000;
    const taken = await sealed.dequeue({ max: 9 });
    expect(taken.map(({ payload }) => payload)).toEqual([2, "third"]);
  });

  test("are sealed again if a consumer begins the task meanwhile", async () => {
    const first = await queue(options).enqueue("first", { debounce });
    rig.now += 5_000;
    let requests = 0;
    const transport: Transport = {
      async send(...sent) {
        // The payload is sealed for the task by now.
        if (++requests === 2) await begin();
        return rig.transport.send(...sent);
      },
    };
    const second = await queue({ ...options, transport }).enqueue("second", { debounce });
    expect(requests).toBe(3);
    expect(second).toMatchObject({ created: true, outcome: "created" });
    expect(second.id).not.toBe(first.id);
    rig.now += 5_000;
    expect([...(await queue(options).dequeue())]).toMatchObject([{ id: second.id, payload: "second" }]);
  });

  test("cannot be in a list", async () => {
    await expect(queue(options).enqueue(1, { debounce: { ...debounce, keep: "all" } })).rejects.toMatchObject(
      { code: "invalid_argument", path: "debounce.keep" },
    );
  });
});

test.each<[string, object, unknown?]>([
  ["debounce.key", { debounce: { wait: 1 } }],
  ["debounce.wait", { debounce: { key: "a", wait: 0 } }],
  ["debounce.maxWait", { debounce: { ...debounce, maxWait: "x" } }],
  ["debounce.keep", { debounce: { ...debounce, keep: "some" } }],
  ["debounce.window", { debounce: { ...debounce, window: 1 } }],
  ["delay", { debounce, delay: 1 }],
  ["at", { debounce, at: 1 }],
  ["throttle", { debounce, throttle }],
  ["throttle.most", { throttle: { ...throttle, most: 0 } }],
  ["throttle.per", { throttle: { ...throttle, per: 0 } }],
  ["throttle.excess", { throttle: { ...throttle, excess: "keep" } }],
  ["at", { throttle: { ...throttle, excess: "delay" }, at: 1 }],
  ["singleton.while", { singleton: { key: "a" } }],
  ["singleton.then", { singleton: { ...singleton, then: "x" } }],
  ["singleton", { singleton, dedup: { key: "a", window: 1 } }],
  ["singleton", { singleton, id: "a", again: true }],
  ["replace", { replace: true }],
  ["replace", { replace: 1 }],
  ["unknown", { debounce, unknown: 1 }],
  ["payload", { debounce: { ...debounce, keep: "all" } }, new Uint8Array([1])],
])("an invalid option is refused: %s", async (path, options, payload = 1) => {
  await expect(queue().enqueue(payload, options as KeyedEnqueueOptions)).rejects.toMatchObject({
    code: "invalid_argument",
    path,
  });
  expect(await rig.keySpace()).toEqual({});
});

test("an enqueue without a key is that of the queue", async () => {
  expect(await queue().enqueue(1, { id: "a" })).toEqual({ id: "a", created: true, outcome: "created" });
  expect(await queue().enqueue(2, { id: "a" })).toEqual({ id: "a", created: false, outcome: "dropped" });
  expect(await payloads()).toEqual([1]);
});

test("the schema of a list is that of its handlers", async () => {
  const schema = {
    "~standard": {
      version: 1,
      vendor: "test",
      validate: (value: unknown) => (Array.isArray(value) ? { value } : { issues: [{ message: "no list" }] }),
    },
  } as const;
  const lists = queue({ schema });
  await lists.enqueue(1, { debounce: { ...debounce, keep: "all" } });
  await lists.enqueue(2, { debounce: { ...debounce, keep: "all" } });
  rig.now += 5_000;
  expect([...(await lists.dequeue())]).toMatchObject([{ payload: [1, 2] }]);
});
