import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type AlarmName, SluiceAlarm } from "../../serverless/cloudflare/sluice-alarm.ts";
import { type AlarmNamespace, WorkerAlarms } from "../../serverless/cloudflare/worker-alarms.ts";

const START = 1_000_000;
beforeEach(() => void vi.useFakeTimers({ now: START, toFake: ["Date"] }));
afterEach(() => void vi.useRealTimers());

/** A Durable Object's storage, and what was asked of it. */
function storage() {
  const stored = new Map<string, unknown>();
  const asked = { rows: 0, alarm: null as number | null };
  return {
    asked,
    stored: () => stored.get("alarms"),
    get: async (key: string) => stored.get(key),
    async put(key: string, value: unknown) {
      asked.rows++;
      stored.set(key, structuredClone(value));
    },
    getAlarm: async () => asked.alarm,
    async setAlarm(at: number) {
      asked.rows++;
      asked.alarm = at;
    },
  };
}

describe("the Durable Object", () => {
  let kept: ReturnType<typeof storage>;
  let rung: (readonly AlarmName[])[];
  let whileRinging: () => Promise<void>;
  let object: SluiceAlarm;
  beforeEach(() => {
    kept = storage();
    rung = [];
    whileRinging = async () => {};
    object = open();
  });
  /** A new instance, as after an eviction. */
  const open = () =>
    new SluiceAlarm({
      storage: kept,
      exports: {
        default: {
          async ringSluice(names) {
            rung.push(names);
            await whileRinging();
          },
        },
      },
    });
  const set = async (alarms: Record<string, number>) => {
    const request = new Request("https://sluice-alarm/", { method: "POST", body: JSON.stringify(alarms) });
    expect((await object.fetch(request)).status).toBe(204);
  };
  const ring = async (at: number) => {
    vi.setSystemTime(at);
    kept.asked.alarm = null;
    await object.alarm();
  };

  test("sets its alarm for the earliest, and rings what is due", async () => {
    await set({ "wake a": START + 5_000, "sweep b": START + 3_000 });
    expect(kept.asked).toEqual({ rows: 2, alarm: START + 3_000 });
    await ring(START + 3_000);
    expect([rung, kept.asked.alarm]).toEqual([[["sweep b"]], START + 5_000]);
    await ring(START + 5_001);
    expect([rung, kept.stored()]).toEqual([[["sweep b"], ["wake a"]], {}]);
  });

  test("keeps the earlier of two alarms, and writes nothing for the later", async () => {
    await set({ "wake a": START + 5_000 });
    await set({ "wake a": START + 6_000 });
    expect(kept.asked).toEqual({ rows: 2, alarm: START + 5_000 });
    // One row, because the alarm of the object stays.
    await set({ "wake b": START + 6_000 });
    expect(kept.asked).toEqual({ rows: 3, alarm: START + 5_000 });
    await set({ "wake a": START + 1_000 });
    expect(kept.asked).toEqual({ rows: 5, alarm: START + 1_000 });
    await ring(START + 9_000);
    expect(rung).toEqual([["wake a", "wake b"]]);
  });

  test("keeps its alarms when it is evicted", async () => {
    await set({ "wake a": START + 5_000 });
    object = open();
    await set({ "wake b": START + 6_000 });
    object = open();
    await ring(START + 5_000);
    expect([rung, kept.stored()]).toEqual([[["wake a"]], { "wake b": START + 6_000 }]);
  });

  test("rings again if the Worker fails, and has stored the alarms until then", async () => {
    await set({ "wake a": START + 5_000, "wake b": START + 9_000 });
    whileRinging = async () => {
      await set({ "wake a": START + 7_000, "wake c": START + 8_000 });
      expect(kept.stored()).toEqual({
        "wake a": START + 5_000,
        "wake b": START + 9_000,
        "wake c": START + 8_000,
      });
      throw new Error("no Worker");
    };
    await expect(ring(START + 5_000)).rejects.toThrow("no Worker");
    whileRinging = async () => {};
    // Cloudflare calls it again two seconds later.
    await ring(START + 7_000);
    expect(rung).toEqual([["wake a"], ["wake a"]]);
    expect([kept.stored(), kept.asked.alarm]).toEqual([
      { "wake b": START + 9_000, "wake c": START + 8_000 },
      START + 8_000,
    ]);
  });

  test("takes a later alarm of a queue while that of the queue rings", async () => {
    await set({ "wake a": START + 5_000 });
    whileRinging = () => set({ "wake a": START + 9_000 });
    await ring(START + 5_000);
    expect([kept.stored(), kept.asked.alarm]).toEqual([{ "wake a": START + 9_000 }, START + 9_000]);
  });

  test("rings at most ten at once, and the others directly after them", async () => {
    const due = Array.from({ length: 25 }, (_, i) => [`wake q${i}`, START + 1_000] as const);
    await set(Object.fromEntries(due));
    await ring(START + 1_000);
    expect(kept.asked.alarm).toBe(START + 1_000);
    await ring(START + 1_000);
    await ring(START + 1_000);
    expect(rung.map((names) => names.length)).toEqual([10, 10, 5]);
    expect(new Set(rung.flat()).size).toBe(25);
  });

  test("keeps at most 2,000 alarms, of which one can become earlier", async () => {
    const alarms = Array.from({ length: 2_100 }, (_, i) => [`wake q${i}`, START + 9_000] as const);
    await set(Object.fromEntries(alarms));
    await set({ "wake q0": START + 1_000, "wake other": START + 1_000 });
    expect(Object.keys(kept.stored() as object)).toHaveLength(2_000);
    await ring(START + 1_000);
    expect(rung).toEqual([["wake q0"]]);
  });

  test("that is called too early rings nothing, and sets its alarm again", async () => {
    await set({ "wake a": START + 5_000 });
    await ring(START + 4_000);
    expect([rung, kept.asked.alarm]).toEqual([[], START + 5_000]);
  });

  test("rings once more at the next request, if Cloudflare has stopped calling it for its failures", async () => {
    await set({ "wake a": START + 5_000 });
    whileRinging = () => Promise.reject(new Error("no Worker"));
    for (let i = 0; i < 7; i++) await expect(ring(START + 5_000 + i)).rejects.toThrow("no Worker");
    expect(kept.asked.alarm).toBeNull();
    await set({ "wake a": START + 9_000 });
    expect(kept.asked.alarm).toBe(START + 5_000);
  });

  test("says what its Worker lacks", async () => {
    object = new SluiceAlarm({ storage: kept });
    await set({ "wake a": START });
    await expect(ring(START)).rejects.toThrow("compatibility_date of 2025-11-17 or later");
  });

  test("says that the default export must be what sluice() returned", async () => {
    await set({ "wake a": START });
    const words = 'The RPC receiver does not implement the method "ringSluice".';
    whileRinging = () => Promise.reject(new TypeError(words));
    await expect(ring(START)).rejects.toThrow("a default export with the method ringSluice");
    whileRinging = () => Promise.resolve();
    await ring(START + 1);
    expect(rung).toContainEqual(["wake a"]);
  });
});

describe("a Worker", () => {
  let sent: object[];
  let status: number;
  let alarms: WorkerAlarms;
  beforeEach(() => {
    [sent, status] = [[], 204];
    const namespace: AlarmNamespace = {
      idFromName: (name) => `id of ${name}`,
      get: (id) => ({
        async fetch(_url, { method, body }) {
          expect([id, method]).toEqual(["id of mine", "POST"]);
          sent.push(JSON.parse(body) as object);
          return new Response(null, { status });
        },
      }),
    };
    alarms = new WorkerAlarms(namespace, "mine");
  });

  test("sets alarms of one turn in one request", async () => {
    await Promise.all([alarms.set("wake", "a", 5_000), alarms.set("sweep", "b", 7_000.2)]);
    expect(sent).toEqual([{ "wake a": START + 5_000, "sweep b": START + 7_001 }]);
    await alarms.set("wake", "c", 5_000);
    expect(sent).toHaveLength(2);
  });

  test("sends nothing while it knows of an earlier alarm, and again when that has rung", async () => {
    await alarms.set("wake", "a", 5_000);
    for (let i = 0; i < 100; i++) await alarms.set("wake", "a", 5_000 + i);
    expect(sent).toHaveLength(1);
    await alarms.set("wake", "a", 3_000);
    await alarms.set("sweep", "a", 3_000);
    expect(sent).toHaveLength(3);
    vi.setSystemTime(START + 3_000);
    await alarms.set("wake", "a", 5_000);
    expect(sent.at(-1)).toEqual({ "wake a": START + 8_000 });
  });

  test("sends again what the object has not taken", async () => {
    status = 500;
    await expect(alarms.set("wake", "a", 5_000)).rejects.toThrow("SLUICE_ALARM answered HTTP 500");
    status = 204;
    await alarms.set("wake", "a", 5_000);
    expect(sent).toHaveLength(2);
  });

  test("sets none at once, so that a wrong clock does not ask Redis without pause", async () => {
    await alarms.set("wake", "a", -5_000);
    expect(sent).toEqual([{ "wake a": START + 500 }]);
  });

  test("sets none for what is due in over an hour, or at no time: a sweep sets it before", async () => {
    await alarms.set("wake", "a", 3_600_001);
    await alarms.set("sweep", "a", Number.POSITIVE_INFINITY);
    expect(sent).toEqual([]);
  });

  test("remembers at most 2,000 alarms", async () => {
    for (let i = 0; i < 2_000; i++) void alarms.set("wake", `q${i}`, 5_000);
    await alarms.set("wake", "q0", 5_000);
    const before = sent.length;
    await alarms.set("wake", "one more", 5_000);
    await alarms.set("wake", "q1", 5_000);
    expect(sent.length - before).toBe(2);
  });
});
