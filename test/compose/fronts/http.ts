import type { NewTask } from "../../../src/index.ts";
import { type Created, type Delivered, oneAtATime, type StartFront, storedIn } from "../front.ts";
import { server } from "./server.ts";

interface Pulled extends Delivered {
  readonly receipt: string;
}

/** Requests to the HTTP interface, written by hand. */
export const http: StartFront = async (rig, given) => {
  const consumer = oneAtATime(async () => {
    for (;;) {
      const { tasks } = await send<{ tasks: Pulled[] }>("POST", "/tasks/pull", { max: given.concurrency });
      if (tasks.length === 0) return;
      const settle = async (task: Pulled) => ({
        receipt: task.receipt,
        outcome: "complete",
        result: await given.handler(task),
      });
      await send("POST", "/tasks/settle", { settlements: await Promise.all(tasks.map(settle)) });
    }
  });
  const { ask, path } = await server(rig, given, () => void consumer.start());
  const send = async <T>(method: string, rest: string, json?: unknown): Promise<T> => {
    const { status, body } = await ask(method, path + rest, { json });
    if (status >= 400) throw new Error(`${status} ${JSON.stringify(body)}`);
    return body as T;
  };
  return {
    async add(tasks: readonly NewTask<unknown>[]) {
      const [first, ...others] = tasks;
      if (first && others.length === 0) return [await send<Created>("POST", "/tasks", first)];
      return (await send<{ tasks: Created[] }>("POST", "/tasks", { tasks })).tasks;
    },
    async run() {
      await ask("POST", "/v1/sweep", { json: {} });
      await consumer.start();
    },
    get: (id) => send("GET", `/tasks/${id}`),
    counts: () => send("GET", ""),
    stored: () => storedIn(rig),
    stop: consumer.ended,
  };
};
