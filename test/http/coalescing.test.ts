import { expect, test } from "vitest";
import type { Command, Transport } from "../../src/index.ts";
import { useServed } from "./served.ts";

// Requests for one task each share a request to Redis, if the server is set so.
const served = useServed();

function recording() {
  const sent: string[] = [];
  const transport: Transport = {
    send: (commands, options) => {
      sent.push(commands.map(nameOf).at(-1) ?? "");
      return served.transport.send(commands, options);
    },
  };
  return { sent, transport };
}

const nameOf = (command: Command) => ("script" in command ? command.script.name : command[0]);

const times = <T>(count: number, call: (i: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, i) => call(i)));

test("enqueues, pulls and settles of one task share a request, each with its own answer", async () => {
  const { sent, transport } = recording();
  const woken: string[] = [];
  const wake = { wake: (queue: string) => woken.push(queue), window: "1h" } as const;
  const ask = served.asking({ transport, coalesce: "in-flight", wake });
  const post = (path: string, json?: unknown) => ask("POST", `/v1/queues/shared/tasks${path}`, { json });

  const enqueued = await times(30, (i) => post("", i === 7 ? { payload: 1, delay: "no" } : { payload: i }));
  const statuses = Array.from({ length: 30 }, (_, i) => (i === 7 ? 400 : 201));
  expect([enqueued.map(({ status }) => status), woken]).toEqual([statuses, ["shared"]]);
  const pulled = await times(30, () => post("/pull"));
  const tasks = pulled.flatMap(({ body }) => body.tasks as { id: string; receipt: string }[]);
  expect(new Set(tasks.map(({ id }) => id))).toEqual(new Set(enqueued.flatMap(({ body }) => body.id ?? [])));
  const settled = await times(30, (i) => {
    const receipt = tasks[i]?.receipt ?? "1.1.9.abcdefgh.x";
    return post("/settle", { settlements: [{ receipt, outcome: "complete" }] });
  });
  const completed = Array.from({ length: 29 }, () => "completed");
  expect(settled.map(({ body }) => body.results[0].code ?? body.results[0].state)).toEqual([
    ...completed,
    "lease_lost",
  ]);
  expect(sent.length).toBeLessThan(20);
});

test("by default no requests are shared", async () => {
  const { sent, transport } = recording();
  const ask = served.asking({ transport });
  await times(5, (i) => ask("POST", "/v1/queues/apart/tasks", { json: { payload: i } }));
  expect(sent).toEqual(Array.from({ length: 5 }, () => "enqueue"));
});
