import type { Described } from "./document.ts";
import { ReturnedValues } from "./returned-values.ts";
import type { Stack } from "./stack.ts";
import { type Plan, queues, written } from "./valid-request.ts";

/**
 * Fills each queue with something of every kind, so that an accepted broken request would change it: tasks in
 * every state, of groups, leased by workers, schedules, settings.
 * @returns the receipts and cursors of the answers
 */
export async function populate(described: Described, { send }: Stack): Promise<ReturnedValues> {
  const known = new ReturnedValues();
  const call = async (operationId: string, more: Partial<Plan>) => {
    const route = described.routes.find((each) => each.operationId === operationId);
    if (!route) throw new Error(`the document has no operation ${operationId}`);
    const plan = known.filled({ route, path: {}, query: {}, headers: {}, body: undefined, ...more });
    const answer = await send(written(plan));
    if (answer.status >= 300)
      throw new Error(`${operationId} was answered with ${answer.status}: ${answer.text}`);
    known.learn(plan, answer);
  };
  for (const queue of queues) {
    const path = { queue };
    const plain = ["a", "b", "c", "d", "e"].map((id) => ({ id, payload: id, maxAttempts: 1 }));
    const others = [
      { payload: 1, group: "m" },
      { payload: 2, group: "n", priority: 5 },
      { payload: 3, delay: "1d" },
      { payload: 4, delay: "2d", dedup: { key: "m", window: "1d" } },
    ];
    await call("enqueue", { path, body: { tasks: [...plain, ...others] } });
    const worker = { name: "m", incarnation: "1", silentAfter: "1h" };
    await call("pull", { path, body: { max: 6, lease: "1h", worker } });
    const settlements = ["complete", "reject"].map((outcome, i) => ({ receipt: `<receipt ${i}>`, outcome }));
    await call("settle", { path, body: { settlements } });
    await call("configureQueue", { path, body: { maxWorking: 50, statistics: true } });
    await call("configureGroup", { path: { queue, group: "m" }, body: { weight: 3 } });
    await call("putSchedule", { path: { queue, schedule: "s" }, body: { every: "1d", payload: 1 } });
    for (const state of ["pending", "delayed", "working"])
      await call("listTasks", { path, query: { state, size: "1" } });
  }
  return known;
}
