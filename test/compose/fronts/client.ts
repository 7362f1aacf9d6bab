import { createClient } from "../../../src/client/index.ts";
import { defineQueue, drain } from "../../../src/index.ts";
import { secrets } from "../../http/served.ts";
import { QUEUE } from "../../support/rig.ts";
import { addTo, oneAtATime, type StartFront, storedIn } from "../front.ts";
import { server } from "./server.ts";

/** A program with the client of the HTTP interface, whose queue is declared in both. */
export const client: StartFront = async (rig, given) => {
  const { declaration, handler, concurrency, tracing } = given;
  const consumer = oneAtATime(() => drain(queue, handler, { budget: "1m", concurrency }));
  const { app, ask } = await server(rig, given, () => void consumer.start());
  const fetch = async (url: string, init: RequestInit) => app.fetch(new Request(url, init));
  const queue = createClient({ url: "https://sluice.test", token: secrets.all, fetch, tracing }).queue(
    defineQueue(QUEUE, declaration),
  );
  return {
    add: (tasks) => addTo(queue, tasks),
    async run() {
      await ask("POST", "/v1/sweep", { json: {} });
      await consumer.start();
    },
    get: (id) => queue.get(id),
    counts: () => queue.counts(),
    stored: () => storedIn(rig),
    stop: consumer.ended,
  };
};
