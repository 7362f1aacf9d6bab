import { expect } from "vitest";
import type { Ask } from "./served.ts";

/** In every payload, result, progress and header of a seeded queue, also in the names of their fields. */
export const MARK = "MARKED-4711";
/** In every error of a seeded queue. */
export const ERROR = "an-error-4712";

const content = (of: string) => ({ [`${MARK}-field`]: `${MARK} ${of}` });
const headers = { [`x-${MARK}`.toLowerCase()]: MARK };

/**
 * Fills a queue with a task named `known` that is working, with progress; tasks in the other states; a schedule
 * named `known`; a worker named `known`; settings and statistics.
 * @returns the lease token of the working task
 */
export async function seed(ask: Ask, queue: string): Promise<string> {
  const at = `/v1/queues/${queue}`;
  const call = async (method: string, path: string, json?: unknown) => {
    const { status, body } = await ask(method, `${at}${path}`, { json });
    expect([method, path, status < 300, body]).toEqual([method, path, true, body]);
    return body;
  };
  await call("PATCH", "/settings", { statistics: true, maxWorking: 100 });
  const ids = ["known", "failed", "done", "dead", "bytes"];
  await call("POST", "/tasks", {
    tasks: ids.map((id) =>
      id === "bytes"
        ? { id, payload: btoa(MARK), encoding: "base64", headers }
        : { id, payload: content("payload"), headers },
    ),
  });
  const { tasks } = await call("POST", "/tasks/pull", { max: 10, worker: { name: "known" } });
  const receiptOf = (id: string) => tasks.find((task: { id: string }) => task.id === id).receipt;
  await call("POST", "/tasks/settle", {
    settlements: [
      { receipt: receiptOf("known"), outcome: "extend", lease: "1h", progress: content("progress") },
      {
        receipt: receiptOf("failed"),
        outcome: "requeue",
        delay: "1h",
        error: { name: "Error", message: ERROR },
      },
      { receipt: receiptOf("done"), outcome: "complete", result: content("result"), ttl: "1h" },
      { receipt: receiptOf("dead"), outcome: "reject", error: ERROR },
      { receipt: receiptOf("bytes"), outcome: "complete", result: btoa(MARK), encoding: "base64", ttl: "1h" },
    ],
  });
  await call("POST", "/tasks", { id: "waiting", payload: content("payload"), headers, group: "known" });
  const schedule = { every: "1h", headers };
  await call("PUT", "/schedules/known", { ...schedule, payload: content("schedule") });
  await call("PUT", "/schedules/bytes", { ...schedule, payload: btoa(MARK), encoding: "base64" });
  return receiptOf("known").split(".")[3];
}
