import { expect, test } from "vitest";
import { defineQueue } from "../../../src/index.ts";
import { push } from "../../../src/features/push/index.ts";

interface Order {
  readonly host: string;
}
interface Env {
  readonly SECRET: string;
}

test("the handler fits the consumer of a declared queue, whose payload and environment it knows", () => {
  const orders = defineQueue<Order>("orders");
  const results = defineQueue("results");
  const secret = (env: Env) => env.SECRET;
  const consumers = [
    orders.consumer(push({ url: "https://example.com/hook", secret, callback: results })),
    orders.consumer(
      push({ url: (task) => `https://${task.payload.host}/`, allow: ["*.example.com"], secret }),
    ),
    orders.consumer(push({ endpoints: { find: ({ task: { payload } }) => ({ url: payload.host }) } })),
    orders.consumer<Env>(
      push({ url: "https://example.com", headers: (env) => ({ authorization: env.SECRET }) }),
    ),
  ];
  expect(consumers.map(({ queue }) => queue.name)).toEqual(["orders", "orders", "orders", "orders"]);
});
