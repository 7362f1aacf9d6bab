import { operatorOf } from "../../src/open/operator.ts";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Hono } from "hono";
import { expect, test } from "vitest";
import { Service } from "../../src/deploy/service.ts";
import { defineQueue, SluiceError, type Transport } from "../../src/index.ts";
import { optionsOfRequests } from "../../src/http/options-of-requests.ts";
import type { RequestContext, Variables } from "../../src/http/services.ts";
import { opening } from "../../src/open/opening.ts";
import type { TaskDefaults } from "../../src/kernel/options/types.ts";
import type { DefinedOptions } from "../../src/open/definition.ts";
import type { QueueOptions } from "../../src/open/options.ts";
import { openTelemetry } from "../../src/features/tracing/open-telemetry.ts";
import { memoryStore } from "../../src/testing/memory-store.ts";
import { schedules } from "../../src/open/schedules/index.ts";
import { order } from "../../src/open/order/index.ts";
import { linked } from "../../src/features/linked/index.ts";
import { offload as offloading } from "../../src/features/offload/offload.ts";
import { toConsole } from "../../src/log/logger.ts";
import { encrypting } from "../support/encrypting.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const transport = { send: async () => [] };

const defaults: Required<TaskDefaults> = {
  lease: "1m",
  maxAttempts: 3,
  resultTtl: "1h",
  deadTtl: "2h",
  delay: "1s",
  unique: "1d",
};
const schema = {
  "~standard": { version: 1, vendor: "test", validate: (value: unknown) => ({ value }) },
} as const;
const tracing = openTelemetry();
const encryption = encrypting();
const offload = offloading({ store: memoryStore() });
const onDeadLetter = () => {};
const wake = { wake: () => {} };

/** All options of a queue. A new one does not compile until it is here. */
const every: Required<QueueOptions> = {
  ...defaults,
  transport,
  prefix: "mine",
  encryption,
  partitions: 4,
  offload,
  wake,
  onDeadLetter,
  now: () => 1,
  schema,
  coalesce: "in-flight",
  tracing,
  maxBytes: 5_000_000,
  layer: (store) => store,
};

/** All options of a queue that its declaration can set. */
const declared = {
  ...defaults,
  schema,
  encryption,
  offload,
  maxBytes: 5_000_000,
  partitions: 4,
} satisfies Required<DefinedOptions<unknown, unknown>>;

const emails = defineQueue("emails", { ...defaults, schema, encryption, maxBytes: 5_000_000, partitions: 4 });

test("a declared queue has each option of its declaration", () => {
  expect(defineQueue("emails", declared).options).toEqual(declared);
  const made = { ...declared, encryption: () => encryption, offload: () => offload };
  expect(defineQueue("emails", made).options).toEqual(declared);
});

test("an open queue has each option of a queue, of the service, its declaration or the caller", () => {
  const { schema: _, ...shared } = every;
  expect(opening(shared)("emails", { schema }).options).toEqual(every);
  expect(opening({ transport })("emails", every).options).toEqual(every);
  const declared = { name: "emails", options: { ...defaults, schema, encryption, offload, partitions: 4 } };
  const open = opening({ transport, definitionOf: () => declared })("emails");
  expect((open.queue() as unknown as { options: QueueOptions }).options).toEqual({
    ...declared.options,
    transport,
  });
});

test("an operator and schedules have the options of the service and the declaration too", async () => {
  const sent: string[] = [];
  const noting: Transport = {
    send: async (commands) => {
      sent.push(JSON.stringify(commands));
      throw new SluiceError("redis_unreachable", "no Redis here");
    },
  };
  const declared = { name: "emails", options: { encryption } };
  const open = opening({ transport: noting, prefix: "mine", wake, definitionOf: () => declared, schedules })(
    "emails",
  );
  await expect(operatorOf(open).pause()).rejects.toThrow("no Redis here");
  await expect(operatorOf(open).redrive()).rejects.toThrow("no Redis here");
  await expect(open.schedules().put("daily", { every: "1d", payload: "plain" })).rejects.toThrow("no Redis");
  expect(sent).toHaveLength(3);
  for (const commands of sent) expect(commands).toContain("mine:{emails}:");
  // The window of a wake.
  expect(sent[1]).toContain('"5000"');
});

/** What the HTTP interface makes of the options of an app. */
async function optionsInRequest(options: Parameters<typeof optionsOfRequests>[0]) {
  let found: ReturnType<ReturnType<typeof optionsOfRequests>> | undefined;
  const app = new Hono<Variables>().get("/", (c) => {
    found = optionsOfRequests(options, toConsole, linked)(c as RequestContext);
    return c.body(null);
  });
  await app.request("/");
  if (!found) throw new Error("the route was not called");
  return found;
}

test("a queue of a request has each option of its app and its declaration, except what is the caller's", async () => {
  const found = await optionsInRequest({
    transport,
    prefix: "mine",
    wake,
    coalesce: "in-flight",
    onDeadLetter,
    offload: () => offload,
    tracing,
    definitionOf: () => emails,
  });
  const open = opening(found)("emails");
  const { options } = open.queue() as unknown as { options: QueueOptions };
  const { schema: _, maxBytes: __, now: ___, tracing: ____, layer: _____, ...others } = every;
  expect(options).toEqual({
    ...others,
    transport: linked(transport),
    encryption: null,
    wake: { ...wake, onError: expect.any(Function) },
    onDeadLetter: expect.any(Function),
  });
});

test("a queue of a deployment has each option of the deployment and its declaration", () => {
  const env = {
    UPSTASH_REDIS_REST_URL: "https://redis.test",
    UPSTASH_REDIS_REST_TOKEN: "t",
    SLUICE_PREFIX: "mine",
  };
  const service = new Service(
    env,
    { queues: [emails], order, tracing, offload: () => offload },
    { transport: () => transport, budget: "10s", afterResponse: "any", coalesce: "in-flight" },
  );
  const { now: _, wake: __, onDeadLetter: ___, layer: ____, ...declared } = every;
  const others = { ...declared, transport: linked(transport) };
  const { options } = service.open("emails").queue() as unknown as { options: QueueOptions };
  expect(options).toEqual(others);
  const own = service.tools().queue("emails") as unknown as { options: QueueOptions };
  expect(own.options).toEqual({ ...others, onDeadLetter: expect.any(Function) });
});

test("only `opening`, `operatorOf` and the part of schedules construct queues, operators and schedules", () => {
  const files = globSync(["{src,serverless}/**/*.{ts,tsx}"], { cwd: root }).filter(
    (file) => !["src/open/opening.ts", "src/open/operator.ts", "src/open/schedules/index.ts"].includes(file),
  );
  const found = files.filter((file) => {
    const code = readFileSync(join(root, file), "utf8").replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, "");
    return /\bnew (?:Queue|Schedules|\w*Operator)\b/.test(code);
  });
  expect(files.length).toBeGreaterThan(200);
  expect(found).toEqual([]);
});
