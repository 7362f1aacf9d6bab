// Saves a page again and again, and counts how often it is indexed. `node examples/search/run.ts` runs the Worker on the
// embedded store, whose clock it moves, behind a gateway that counts commands as Upstash does.

import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { EmbeddedDatabase, dollars, startGateway } from "../../src/local/index.ts";
import app from "./worker.ts";

const EDITS = 10;
const SAVES = 10;

// The Worker logs each run of its consumer.
console.info = () => {};

const indexed: string[] = [];
const search = createServer(({ url = "" }, response) => {
  indexed.push(url);
  response.end();
}).listen(0, "127.0.0.1");
await once(search, "listening");

let now = Date.now();
const gateway = await startGateway({ database: new EmbeddedDatabase({ now: () => now }) });
const env = {
  UPSTASH_REDIS_REST_URL: gateway.url,
  UPSTASH_REDIS_REST_TOKEN: gateway.token,
  SEARCH_URL: `http://127.0.0.1:${(search.address() as AddressInfo).port}`,
};

/** What the platform does: starts the Worker, and waits for its work after the response. */
async function invoke(run: (context: { waitUntil(work: Promise<unknown>): void }) => unknown) {
  const after: Promise<unknown>[] = [];
  await run({ waitUntil: (work) => void after.push(work) });
  await Promise.all(after);
}
const save = (page: string) =>
  invoke((context) =>
    app.fetch(new Request(`https://search.example.com/pages/${page}`, { method: "PUT" }), env, context),
  );
const cron = () => app.scheduled({}, env);

/** Saves the page ten times, a second apart. Cron comes when it has not changed for five seconds. */
async function edit() {
  for (let i = 0; i < SAVES; i++) {
    await save("home");
    now += 1_000;
  }
  now += 4_000;
  await cron();
}

// The first request of an instance costs more.
await edit();
indexed.length = 0;
gateway.resetUsage();
for (let i = 0; i < EDITS; i++) await edit();
const { requests, commands } = gateway.usage();
gateway.resetUsage();
await cron();
const idle = gateway.usage();

const a = (total: number, ofIdle: number) => (total - EDITS * ofIdle) / EDITS;
const each = a(commands, idle.commands);
console.log(
  [
    `A page was edited ${EDITS} times and saved ${EDITS * SAVES} times, and indexed ${indexed.length} times.`,
    `On Upstash, without idle cron: ${a(requests, idle.requests)} requests and ${each} billed commands an edit, $${dollars(each * 1e6).toFixed(2)} a million.`,
  ].join("\n"),
);
await gateway.close();
search.close();
