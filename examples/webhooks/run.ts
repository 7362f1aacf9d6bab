// The webhooks example: a producer, short-lived consumers, receivers with different behaviours, and at the
// end an account of every event. `npm start` runs it on the local stack. README.md describes how to run it
// elsewhere.

import { once } from "node:events";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import type { QueueCounts } from "../../src/index.ts";
import { account, notAccepted, type TaskState } from "./account.ts";
import { Consumers } from "./consumers.ts";
import { crash } from "./crash.ts";
import { Deliveries, isAccepted } from "./deliveries.ts";
import type { Endpoint } from "./deliver.ts";
import { tenants } from "./endpoints.ts";
import { eventsFile, readEvents } from "./events.ts";
import { startProgram, succeeds } from "./programs.ts";
import { bill, report, type Usage } from "./report.ts";
import { type Picture, View } from "./view.ts";
import { keepStatistics, webhooksOf } from "./webhooks.ts";

const consumerSlots = 3;
const consumerSeconds = 6;
/** The share of the events that is delivered before a consumer is killed. */
const killAfter = 0.2;
/** How often the view asks for the counts, ms: each answer costs 10 to 14 commands. */
const lookEvery = 2_000;
/** How long without any progress until the example gives up, ms. */
const patience = 60_000;

const { values } = parseArgs({ options: { events: { type: "string" } } });
const events = readEvents(eventsFile, values.events === undefined ? undefined : Number(values.events));
const queue = webhooksOf("SLUICE_ADMIN_TOKEN");
const deliveriesFile = join(
  process.env["WEBHOOKS_FOLDER"] ?? mkdtempSync(join(tmpdir(), "webhooks-")),
  "deliveries.jsonl",
);
writeFileSync(deliveriesFile, "");
const deliveries = new Deliveries(deliveriesFile);
const view = new View();
const startedAt = Date.now();
let enqueued = 0;
let looks = 0;
let deadLetters = 0;

/** Shows a line of the Worker's log; of the many dead letters only the first one. */
function showLog(line: string): void {
  if (!line.includes('"deadLetter":true')) return view.say(line);
  if (deadLetters++ === 0) {
    view.say(`${line}\n(Each dead letter has such a line. The others are only counted here.)`);
  }
}

process.on("message", ({ log }: { log?: string }) => log !== undefined && showLog(log));
process.once("uncaughtException", ({ message }) => {
  view.end();
  console.error(`webhooks: ${message}`);
  process.exit(1);
});
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => process.exit(130));

view.say(`Webhooks of ${events.length.toLocaleString("en-US")} events, for ${tenants.length} receivers.`);
const usageBefore = await readUsage();
// Before the first task: a producer reads this setting only once a minute.
await keepStatistics();

const receivers = startProgram("receivers.ts", { DELIVERIES_FILE: deliveriesFile });
const [{ endpoints }] = (await Promise.race([
  once(receivers.process, "message"),
  succeeds("the receivers", receivers),
])) as [{ endpoints: Record<string, Endpoint> }];

const producer = startProgram("producer.ts", { EVENTS: String(events.length) });
producer.process.on("message", (message: { enqueued: number; duplicates: number }) => {
  enqueued += message.enqueued;
  if (message.duplicates > 0) view.say(`${message.duplicates} events had been enqueued before`);
});

const consumers = new Consumers({
  ENDPOINTS: JSON.stringify(endpoints),
  CONSUMER_SECONDS: String(consumerSeconds),
});
const failures = Promise.all([consumers.start(consumerSlots), succeeds("the producer", producer)]);

const over = new AbortController();
const crashed = crashInTheMiddle();

await Promise.race([untilDone(), failures.then(() => new Promise(() => {}))]);
over.abort();
const killed = await crashed;
await consumers.stop();
receivers.process.kill();
deliveries.read();
view.end();

const usage = difference(await readUsage(), usageBefore);
const result = account(
  events,
  deliveries.all,
  await statesOf(notAccepted(events, deliveries.all)),
  killed?.run,
);
console.log(`\n${report(result)}\n`);
if (usage) console.log(`  ${bill(usage, events.length, looks)}\n`);
if (!killed) console.log("  No consumer could be killed in mid-batch: there were too few events.\n");
console.log(
  result.complete
    ? "Every event is accounted for."
    : `${result.unaccounted.length} events are unaccounted for, ${result.unexpected.length} requests were unexpected.`,
);
process.exit(result.complete ? 0 : 1);

async function crashInTheMiddle() {
  while (!over.signal.aborted && delivered() < events.length * killAfter) {
    await sleep(50);
    deliveries.read();
  }
  const what = await crash(consumers, deliveries, queue, () => !over.signal.aborted);
  if (what)
    view.say(
      `Killed ${what.run}: at least ${what.unsettled.length} webhooks delivered, and not yet settled.`,
    );
  return what;
}

/** Polls the queue until nothing is left to do, and shows the counts. */
async function untilDone(): Promise<void> {
  let lastMove = Date.now();
  let lastSeen = "";
  for (;;) {
    // Read before the counts, so that these events are in the counts or have ended.
    const enqueuedBefore = enqueued;
    const counts = await queue.counts();
    looks += 1;
    deliveries.read();
    view.show(picture(counts, enqueuedBefore));
    const { pending, delayed, working } = counts;
    if (enqueued === events.length && pending + delayed + working === 0) return;
    // The age of the oldest task grows by itself.
    const seen = JSON.stringify([enqueued, { ...counts, oldestAge: null }, deliveries.all.length]);
    if (seen !== lastSeen) lastMove = Date.now();
    lastSeen = seen;
    if (Date.now() - lastMove > patience) return view.say("No progress for a minute: giving up.");
    await sleep(lookEvery);
  }
}

function delivered(): number {
  return new Set(deliveries.all.filter(isAccepted).map(({ event }) => event)).size;
}

function picture(counts: QueueCounts, enqueuedBefore: number): Picture {
  const { all } = deliveries;
  const { pending, delayed, working, rejected } = counts;
  const recent = all.filter(({ at }) => at > Date.now() - 3_000);
  return {
    seconds: (Date.now() - startedAt) / 1000,
    events: events.length,
    enqueued: enqueuedBefore,
    pending,
    delayed,
    working,
    deadLetters: rejected,
    // Each event counts once, so that the numbers add up. An accepted event may still be working.
    completed: Math.max(0, enqueuedBefore - pending - delayed - working - rejected),
    rate: Math.round(recent.length / 3),
    runs: consumers.started,
    running: consumers.running.length,
    killed: consumers.killed,
    receivers: tenants.map((tenant) => {
      const own = all.filter(({ receiver }) => receiver === tenant.name);
      const accepted = own.filter(isAccepted).length;
      return { tenant, accepted, refused: own.length - accepted };
    }),
  };
}

/** Gets the states of tasks, 20 at a time. */
async function statesOf(ids: readonly string[]): Promise<Map<string, TaskState>> {
  const states = new Map<string, TaskState>();
  for (let first = 0; first < ids.length; first += 20) {
    const some = ids.slice(first, first + 20);
    const found = await Promise.all(some.map((id) => queue.get(id)));
    for (const [i, id] of some.entries()) states.set(id, found[i]);
  }
  return states;
}

/** The counts of the local gateway; undefined with another database. */
async function readUsage(): Promise<Usage | undefined> {
  const { UPSTASH_REDIS_REST_URL: url, UPSTASH_REDIS_REST_TOKEN: token } = process.env;
  if (!url || !token) return undefined;
  const response = await fetch(`${url}/-/usage`, { headers: { authorization: `Bearer ${token}` } });
  return response.ok ? ((await response.json()) as Usage) : undefined;
}

function difference(after: Usage | undefined, before: Usage | undefined): Usage | undefined {
  return (
    after &&
    before && {
      requests: after.requests - before.requests,
      commands: after.commands - before.commands,
      dollars: after.dollars - before.dollars,
    }
  );
}
