import { expect, test } from "vitest";
import type { Transport } from "../../src/index.ts";
import { useServed } from "./served.ts";

const served = useServed();

const times = <T>(count: number, call: (i: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, i) => call(i)));

// What calls that share requests have in common: test/kernel/coalescing.
test.each([["in-flight"], [undefined]] as const)(
  "requests for one task each share requests to Redis only if the server is set so: %s",
  async (coalesce) => {
    let sent = 0;
    const transport: Transport = { send: (...args) => (sent++, served.transport.send(...args)) };
    const ask = served.asking({ transport, coalesce });
    const post = (path: string, json?: unknown) =>
      ask("POST", `/v1/queues/${coalesce}/tasks${path}`, { json });

    const enqueued = await times(30, (payload) => post("", { payload }));
    const pulled = (await times(30, () => post("/pull"))).flatMap(({ body }) => body.tasks);
    expect(new Set(pulled.map(({ id }) => id))).toEqual(new Set(enqueued.map(({ body }) => body.id)));
    const settled = await times(30, (i) =>
      post("/settle", { settlements: [{ receipt: pulled[i].receipt, outcome: "complete" }] }),
    );
    expect(settled.map(({ body }) => body.results[0].state)).toEqual(Array(30).fill("completed"));
    expect(sent < 20).toBe(coalesce !== undefined);
  },
);
