import { expect, it } from "vitest";
import type { JsonSchema } from "../../src/http/docs/openapi-document.ts";
import { openapi } from "../../src/http/docs/openapi.gen.ts";
import { Described } from "../fuzz/document.ts";
import { expectProblem, servedQueue } from "./served.ts";

// What the document says of each duration is what the server takes: the least, the most, and nothing beyond.

const { ask, path, tasks, enqueue, pull } = servedQueue();
const described = new Described(openapi);
const LONGEST = 3_650 * 86_400_000;

type Send = (value: unknown) => Promise<{ readonly status: number }>;

const ofTask =
  (field: string): Send =>
  (value) =>
    enqueue({ payload: 1, [field]: value });

const settled =
  (settlement: (value: unknown) => object): Send =>
  async (value) => {
    await enqueue({ payload: 1 });
    const { receipt } = (await pull()).body.tasks[0];
    const settlements = [{ receipt, ...settlement(value) }];
    return ask("POST", `${tasks()}/settle`, { json: { settlements } });
  };

const ofSchedule =
  (field: string): Send =>
  (value) =>
    ask("PUT", `${path()}/schedules/s`, { json: { every: "1h", payload: 1, [field]: value } });

const beating =
  (fields: (value: unknown) => object): Send =>
  (value) =>
    ask("POST", `${path()}/workers/heartbeat`, { json: { worker: { name: "w" }, ...fields(value) } });

const posted =
  (to: string, json: object = {}): Send =>
  (budget) =>
    ask("POST", to.startsWith("/") ? to : `${path()}/${to}`, { json: { ...json, budget } });

/** Each duration of a request, by its schema and field, and a request with it. */
const fields: Readonly<Record<string, Send>> = {
  "NewTask.delay": ofTask("delay"),
  "NewTask.lease": ofTask("lease"),
  "NewTask.resultTtl": ofTask("resultTtl"),
  "NewTask.deadTtl": ofTask("deadTtl"),
  "NewTask.unique": (unique) => enqueue({ payload: 1, id: "x", unique }),
  "NewTask.dedup.window": (window) => enqueue({ payload: 1, dedup: { key: "k", window } }),
  "Pull.lease": (lease) => pull({ lease }),
  "Pull.wait": async (wait) => {
    await enqueue({ payload: 1 });
    return pull({ wait });
  },
  "Settlement.complete.ttl": settled((ttl) => ({ outcome: "complete", ttl })),
  "Settlement.reject.ttl": settled((ttl) => ({ outcome: "reject", ttl })),
  "Settlement.requeue.delay": settled((delay) => ({ outcome: "requeue", delay })),
  "Settlement.requeue.backoff[]": settled((one) => ({ outcome: "requeue", backoff: [one] })),
  "Settlement.requeue.backoff.base": settled((base) => ({ outcome: "requeue", backoff: { base } })),
  "Settlement.requeue.backoff.most": settled((most) => ({ outcome: "requeue", backoff: { most } })),
  "Settlement.extend.lease": settled((lease) => ({ outcome: "extend", lease })),
  "Redrive.budget": posted("redrive"),
  "Purge.budget": posted("purge", { state: "pending" }),
  "QueueChanges.rate.per": (per) =>
    ask("PATCH", `${path()}/settings`, { json: { rate: { most: 1_000, per } } }),
  "GroupChanges.rate.per": (per) =>
    ask("PATCH", `${path()}/groups/g`, { json: { rate: { most: 1_000, per } } }),
  "NewSchedule.every": ofSchedule("every"),
  "NewSchedule.lease": ofSchedule("lease"),
  "NewSchedule.resultTtl": ofSchedule("resultTtl"),
  "NewSchedule.deadTtl": ofSchedule("deadTtl"),
  "Heartbeat.lease": beating((lease) => ({ lease })),
  "Sweep.budget": posted("/v1/sweep"),
  "DeepSweep.budget": posted("/v1/sweep", { deep: true }),
  "Worker.silentAfter": beating((silentAfter) => ({ worker: { name: "w", silentAfter } })),
  "getTask.wait": async (wait) => {
    await enqueue({ payload: 1, id: "x" });
    await ask("POST", `${tasks()}/x/cancel`);
    return ask("GET", `${tasks()}/x?wait=${String(wait)}`);
  },
};

/** Every duration in a schema, by its field, and how long it is at least and at most. */
function durationsOf(schema: JsonSchema, field: string): [string, JsonSchema][] {
  const meant = described.schema(schema);
  const [number, text] = meant.anyOf ?? [];
  if (number?.type === "integer" && text?.pattern?.includes("(?:")) return [[field, number]];
  const inner = Object.entries(meant.properties ?? {}).flatMap(([name, one]) =>
    // Schemas with a name of their own are checked by that name.
    ["Worker", "Pull", "NewTask", "Settlement"].some((each) => one.$ref?.endsWith(`/${each}`))
      ? []
      : durationsOf(one, `${field}.${name}`),
  );
  const forms = (meant.anyOf ?? meant.oneOf ?? []).flatMap((one) => {
    const outcome = one.properties?.["outcome"]?.const;
    return durationsOf(one, typeof outcome === "string" ? `${field}.${outcome}` : field);
  });
  const items = meant.items ? durationsOf(meant.items, `${field}[]`) : [];
  return [...inner, ...forms, ...items];
}

const bodies = ["NewTask", "Pull", "Settlement", "Redrive", "Purge", "QueueChanges", "GroupChanges"];
const more = ["NewSchedule", "Heartbeat", "Sweep", "DeepSweep", "Worker"];
const found = new Map([
  ...[...bodies, ...more].flatMap((name) => durationsOf({ $ref: `#/components/schemas/${name}` }, name)),
  ...durationsOf(parameter("getTask"), "getTask.wait"),
]);

function parameter(operationId: string): JsonSchema {
  const route = described.routes.find((one) => one.operationId === operationId);
  return route?.parameters.find(({ name }) => name === "wait")?.schema as JsonSchema;
}

it("every duration in the document is tried", () => {
  expect([...found.keys()].toSorted()).toEqual(Object.keys(fields).toSorted());
  expect(durationsOf(parameter("events"), "wait")).toEqual([
    ["wait", { type: "integer", minimum: 0, maximum: 300_000 }],
  ]);
});

it.each([...found])(
  "%s is as the document says: the least and the most, and nothing beyond",
  async (name, number) => {
    const send = fields[name] as Send;
    const { minimum = Number.NaN, maximum = Number.NaN } = number;
    expect(maximum).toBeLessThanOrEqual(LONGEST);
    for (const good of [
      minimum,
      maximum,
      `${minimum}ms`,
      `${maximum / 1_000}s`,
      `${(maximum - 500) / 1_000}s`,
    ])
      expect({ good, status: (await send(good)).status }).toEqual({ good, status: expect.toSatisfy(isOk) });
    const leaf = name.replace(/^.*[.[]/, "");
    for (const bad of [
      minimum - 1,
      maximum + 1,
      `${maximum + 1}ms`,
      `${minimum + 1}.5ms`,
      "5.0005s",
      ...(minimum > 0 ? [`${minimum - 1}ms`] : []),
    ]) {
      const { errors } = expectProblem((await send(bad)) as never, "invalid_request");
      // In a union it is unknown which form was meant.
      if (!name.includes("backoff"))
        expect(errors).toEqual([expect.objectContaining({ path: expect.stringContaining(leaf) })]);
    }
  },
);

const isOk = (status: number) => status === 200 || status === 201;
