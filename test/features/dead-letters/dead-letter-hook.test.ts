import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { sweep } from "../../../src/index.ts";
import { deadLetterTools, expired, letter, MINUTE } from "../../support/dead-letters.ts";
import { deepTools } from "../../support/deep.ts";
import { numbered } from "../../support/new-tasks.ts";
import { useRig } from "../../support/rig.ts";

// What sweeps and operators report of tasks that become dead letters, and what a hook may do.
const rig = useRig();
const { letters, onDeadLetter, watched, leased, states } = deadLetterTools(rig);

describe("tasks whose last lease had expired are reported by", () => {
  test("a sweep, of a silent worker and of some hundred leases", async () => {
    const tasks = numbered(400, { maxAttempts: 1 });
    await rig.queue().enqueueMany(tasks);
    await rig.queue().dequeue({ max: 400, lease: "1h", worker: { name: "w", silentAfter: MINUTE } });
    rig.now += MINUTE;
    const report = await sweep(rig.transport, { now: () => rig.now, onDeadLetter });
    expect(report).toMatchObject({ reclaimed: 0, rejected: 400 });
    const ids = tasks.map(({ id }) => id).toSorted();
    expect(letters.toSorted((x, y) => (x.id < y.id ? -1 : 1))).toEqual(ids.map((id) => expired(id)));
  });

  test("an operator who fails the worker, with a reason of its own", async () => {
    await rig.queue().enqueueMany(numbered(2, { maxAttempts: 1 }));
    await rig.queue().dequeue({ max: 2, worker: { name: "w" } });
    await rig.operator({ onDeadLetter }).failWorker("w");
    expect(letters).toEqual(["t0", "t1"].map((id) => letter(id, "taken_back")));
  });

  test("a deep sweep, of a task that works without a lease", async () => {
    await leased(["a"]);
    await leased(["b"], { maxAttempts: 2 });
    await rig.command("DEL", "sluice:{emails}:working");
    const { faults } = await deepTools(rig).runDeepSweep({ onDeadLetter });
    expect(faults).toMatchObject([{ fault: "lease_missing", count: 2 }]);
    expect(letters).toEqual([expired("a")]);
  });
});

describe("a hook", () => {
  let logged: unknown[];
  beforeEach(() => {
    logged = [];
    vi.spyOn(console, "error").mockImplementation((line) => logged.push(JSON.parse(String(line))));
  });
  afterEach(() => void vi.restoreAllMocks());

  test.each([
    [
      "throws",
      () => {
        throw new Error("slack is down");
      },
    ],
    ["rejects", () => Promise.reject(new Error("slack is down"))],
  ])("that %s changes nothing for the call, and is written to the console", async (_, broken) => {
    const [a] = await leased(["a", "b"]);
    const queue = rig.queue({ onDeadLetter: broken });
    expect(await queue.settle([{ receipt: a?.receipt ?? "", outcome: "reject" }])).toMatchObject([
      { ok: true, state: "rejected" },
    ]);
    rig.now += MINUTE;
    expect(await queue.dequeue()).toHaveLength(0);
    expect(logged).toEqual(
      ["a", "b"].map((task) => ({ onDeadLetter: "emails", task, failed: "slack is down" })),
    );
  });

  test("that never ends holds up no call", async () => {
    const [task] = await leased(["a"]);
    const queue = rig.queue({ onDeadLetter: () => new Promise(() => {}) });
    expect(await queue.settle([{ receipt: task?.receipt ?? "", outcome: "reject" }])).toMatchObject([
      { ok: true },
    ]);
  });

  test("is not called if Redis's reply to a sweep or a dequeue was lost", async () => {
    await leased(["a"]);
    rig.now += MINUTE;
    const { send } = rig.transport;
    const unheard = {
      async send(...args: Parameters<typeof send>) {
        await send(...args);
        return send(...args);
      },
    };
    expect(await watched({ transport: unheard }).dequeue()).toHaveLength(0);
    expect(await states("a")).toEqual({ a: "rejected" });
    expect(letters).toEqual([]);
  });
});
