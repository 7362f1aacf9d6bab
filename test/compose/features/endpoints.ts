// Events, each of which becomes a task for each endpoint whose types match.

import { expect } from "vitest";
import { work } from "../front.ts";
import type { Feature } from "./feature.ts";

export const endpoints: Feature = () => {
  const got: string[] = [];
  return {
    given: {
      declaration: {},
      endpoints: true,
      concurrency: 5,
      handler: ({ id, payload }) => void got.push(`${id}: ${String(payload)}`),
    },
    async run(front) {
      for (const id of ["orders", "other"])
        await front.endpoints.add({ id, url: "https://acme.example", types: [`${id}.*`] });
      for (const created of [true, false]) {
        const deliveries = [{ endpoint: "orders", id: "e1.{orders}", created }];
        const sent = await front.endpoints.send({ id: "e1", type: "orders.paid", payload: 17 });
        expect(sent).toEqual({ id: "e1", deliveries });
      }
      await work(front, () => got.length === 1);
      expect(got).toEqual(["e1.{orders}: 17"]);
    },
  };
};
