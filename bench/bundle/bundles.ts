/**
 * What of a bundle counts. `first`: what is loaded at once, if the bundler splits at `import()`. `one file`: all of it,
 * as wrangler makes it, which does not split.
 */
export type Part = "first" | "one file";

export interface Bundle {
  readonly name: string;
  /** The exports of the application, as a module at the root of the project. */
  readonly source: string;
  readonly part: Part;
  /** The most that DESIGN's budgets allow, gzipped bytes. */
  readonly goal?: number;
}

const producer = `export { Producer } from "./src/index.ts";`;
/** What a producer has loaded after its first task that is not plain. */
const fullProducer = `${producer} export * from "./src/kernel/enqueue/add.ts";`;
const queue = `export { Queue } from "./src/index.ts";`;
const consumer = `
  export { drain, Queue, sweep } from "./src/index.ts";
  export { upstash } from "./src/transports/upstash.ts";
`;
const cloudflare = `export { sluice, SluiceAlarm } from "./serverless/cloudflare.ts";`;
const everything = (file: string) => `export * from "${file}";`;
const operations = everything("./src/http/operations/index.ts");
const dashboard = everything("./src/dashboard/index.ts");
const schedules = `export { schedules } from "./src/open/schedules/index.ts";`;
const order = everything("./src/open/order/index.ts");
const flows = `export { flows } from "./src/http/flows/index.ts";`;
const topics = `export { topics } from "./src/http/topics/index.ts";`;
/** It needs the strict order. */
const qstash = `${order} export { qstash } from "./src/qstash/index.ts";`;
const endpoints = `export { endpoints } from "./src/http/endpoints/index.ts";`;
const debounce = `export { debounce } from "./src/features/debounce/index.ts";`;
/** All that a Worker may import. */
const parts = `
  ${dashboard}
  ${everything("./src/http/docs/index.ts")}
  ${everything("./src/open/deep-sweep/index.ts")}
  ${schedules}
  ${order}
  ${debounce}
  ${flows}
  ${topics}
`;

const client = everything("./src/client/index.ts");

export const bundles: readonly Bundle[] = [
  { name: "Producer", source: producer, part: "first", goal: 11_000 },
  { name: "Producer with the full script", source: fullProducer, part: "first", goal: 17_000 },
  { name: "Producer, in one file", source: producer, part: "one file" },
  { name: "Queue", source: queue, part: "first" },
  { name: "Queue, in one file", source: queue, part: "one file" },
  { name: "Queue, drain, sweep and upstash()", source: consumer, part: "first", goal: 50_000 },
  { name: "Queue, drain, sweep and upstash(), in one file", source: consumer, part: "one file" },
  { name: "createClient", source: client, part: "first", goal: 8_000 },
  { name: "createClient, in one file", source: client, part: "one file" },
  { name: "sluice() for Cloudflare", source: cloudflare, part: "one file", goal: 120_000 },
  { name: "the same with operations", source: cloudflare + operations, part: "one file" },
  { name: "the same with the dashboard", source: cloudflare + dashboard, part: "one file" },
  { name: "the same with schedules", source: cloudflare + schedules, part: "one file" },
  { name: "the same with order", source: cloudflare + order, part: "one file" },
  { name: "the same with flows", source: cloudflare + flows, part: "one file" },
  { name: "the same with topics", source: cloudflare + topics, part: "one file" },
  { name: "the same with debounce", source: cloudflare + debounce, part: "one file" },
  { name: "the same with endpoints", source: cloudflare + endpoints, part: "one file" },
  { name: "the same with qstash", source: cloudflare + qstash, part: "one file" },
  { name: "the same with all parts", source: cloudflare + parts, part: "one file" },
  { name: "openTelemetry", source: everything("./src/features/tracing/open-telemetry.ts"), part: "one file" },
  { name: "encryption", source: everything("./src/features/encryption/aes-gcm.ts"), part: "one file" },
  { name: "push", source: everything("./src/features/push/index.ts"), part: "one file" },
  { name: "offload", source: everything("./src/features/offload/index.ts"), part: "one file" },
];
