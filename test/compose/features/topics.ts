// Messages of which each queue that has subscribed gets a copy.

import { expect } from "vitest";
import { QUEUE } from "../../support/rig.ts";
import { BESIDE, until, work } from "../front.ts";
import type { Feature } from "./feature.ts";

/** A queue that is declared to subscribe to a pattern, and one that an operator has subscribed with a filter. */
export const topics: Feature = () => {
  const got: string[] = [];
  const topic = "orders.new";
  return {
    given: {
      declaration: { subscribes: "orders.#" },
      beside: {},
      concurrency: 5,
      handler: ({ id, payload, headers }) =>
        void got.push(`${id}: ${String(payload)} ${headers?.["region"]}`),
    },
    async run(front) {
      await front.topics.subscribe(BESIDE, topic, { filter: { header: "region", in: ["eu"] } });
      const preview = (region: string) => front.topics.preview(topic, { region });
      // A server applies declarations while it runs.
      await until(async () => (await preview("eu")).queues.length === 2);
      expect(await preview("us")).toEqual({ queues: [QUEUE], filtered: [BESIDE] });
      const publish = async (payload: number, id: string, region: string) => {
        const { copies } = await front.topics.publish(topic, payload, { id, headers: { region } });
        return copies.toSorted((one, other) => (one.queue < other.queue ? -1 : 1));
      };
      const copies = (created: boolean) => [QUEUE, BESIDE].map((queue) => ({ queue, created }));
      expect(await publish(1, "a", "eu")).toEqual(copies(true));
      expect(await publish(1, "a", "eu")).toEqual(copies(false));
      expect(await publish(2, "b", "us")).toEqual([{ queue: QUEUE, created: true }]);
      await work(front, () => got.length === 3);
      expect(got.toSorted()).toEqual(["a: 1 eu", "a: 1 eu", "b: 2 us"]);
    },
  };
};
