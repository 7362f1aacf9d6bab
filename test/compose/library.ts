import { linked } from "../../src/features/linked/index.ts";
import { batch, flow, Flows, flows, withFlows } from "../../src/http/flows/index.ts";
import { Endpoints } from "../../src/http/endpoints/index.ts";
import { type Topic, Topics } from "../../src/http/topics/index.ts";
import { applyQueues, drain, findTasks, Operator, Queue, queueHealth, sweep } from "../../src/index.ts";
import { QUEUE } from "../support/rig.ts";
import {
  addTo,
  batchOf,
  declaredOf,
  eventsIn,
  oneAtATime,
  type StartFront,
  subscribeDeclared,
  type TopicsFront,
  storedIn,
  withItsFlow,
  withNoFlow,
  withQueues,
} from "./front.ts";

/** What a program does with topics. */
export const topicsOf = (
  topics: Pick<Topics, "subscribe"> & { topic(name: string): Published },
): TopicsFront => ({
  publish: (topic, payload, own) => topics.topic(topic).publish(payload, own),
  preview: (topic, headers) => topics.topic(topic).preview({ headers }),
  subscribe: (queue, topic, own) => topics.subscribe(queue, topic, own),
});

type Published = Pick<Topic, "publish" | "preview">;

/** A program that makes its own queues, and drains and sweeps them. */
export const library: StartFront = async (rig, given) => {
  const { handler, concurrency, prefix, tracing, beside } = given;
  const all = [...declaredOf(given).values()];
  const transport = all.some(({ settings }) => settings.order) ? linked(rig.transport) : rig.transport;
  const { failed } = await applyQueues(transport, all, { prefix });
  if (failed.length > 0) throw new Error(JSON.stringify(failed));
  const wake = { wake: (name: string) => void consumers.get(name)?.start() };
  const queues = new Map<string, Queue>(
    all.map((one) => [one.name, new Queue(one, { transport, prefix, tracing, wake })]),
  );
  const queueOf = (name: string) => queues.get(name) as Queue;
  const ofFlows = (name: string) => withFlows(queueOf(name), { queues: [...queues.values()] });
  const read = (name: string) => (beside ? ofFlows(name) : queueOf(name));
  const limits = { budget: "1m", concurrency } as const;
  const drained = (name: string) =>
    beside
      ? drain(ofFlows(name), (task) => handler(withItsFlow(task, queueOf)), limits)
      : drain(queueOf(name), (task) => handler(withNoFlow(task)), limits);
  const consumers = new Map(Array.from(queues.keys(), (name) => [name, oneAtATime(() => drained(name))]));
  const options = { transport, prefix, wake };
  const operator = new Operator(QUEUE, options);
  const operated = new Flows(options);
  const topics = topicsOf(new Topics({ ...options, definitionOf: (name) => declaredOf(given).get(name) }));
  await subscribeDeclared(given, topics);
  return {
    add: (tasks) => addTo(queueOf(QUEUE), tasks),
    async run() {
      await sweep(transport, { prefix, wake, ...(beside && { also: [flows] }) });
      for (const one of consumers.values()) await one.start();
    },
    get: (id) => read(QUEUE).get(id),
    counts: (name = QUEUE) => read(name).counts(),
    async blocked(name) {
      const { tasks } = await new Operator(name, options).list({ state: "blocked" });
      return tasks.map(({ id }) => id);
    },
    pause: (time, group) =>
      group === undefined
        ? operator.pause({ for: time })
        : operator.configureGroup(group, { paused: { for: time } }),
    flows: {
      add: (items, own) => flow(withQueues(items, queueOf), own),
      batch: (tasks, callbacks) => batch(...batchOf(tasks, callbacks, queueOf)),
      get: (id) => operated.get(id),
      cancel: (id) => operated.cancel(id),
      redrive: (id) => operated.redrive(id),
    },
    topics,
    endpoints: new Endpoints(QUEUE, options),
    findings: async () => (await queueHealth(transport, { prefix })).findings,
    find: async (text) => (await findTasks(transport, { text, prefix })).tasks,
    async bulk(action, ids) {
      if (action === "cancel") return operator.cancelMany(ids);
      return action === "delete" ? operator.removeMany(ids) : operator.redrive({ ids });
    },
    events: () => eventsIn(rig),
    stored: () => storedIn(rig),
    async stop() {
      for (const one of consumers.values()) await one.ended();
    },
  };
};
