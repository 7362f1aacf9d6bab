// The nightly import: one task fetches the list of rows, adds a task for each chunk of it in front of the report, and the
// report reads what became of all chunks. `node examples/nightly-import/run.ts` runs it on the embedded store, behind a
// gateway that counts commands as Upstash does.

import { parseArgs } from "node:util";
import { drain, NonRetryableError, Queue, sweep } from "../../src/index.ts"; // elsewhere: "sluice-queue"
import { flow, flows, withFlows } from "../../src/http/flows/index.ts"; // elsewhere: "sluice-queue/flows"
import { dollars, startGateway } from "../../src/local/index.ts";
import { upstash } from "../../src/transports/upstash.ts"; // elsewhere: "sluice-queue/upstash"

const { values } = parseArgs({
  options: { chunks: { type: "string", default: "100" }, nights: { type: "string", default: "2" } },
});
const [chunks, nights] = [Number(values.chunks), Number(values.nights)];
const ROWS = 50;

const gateway = await startGateway();
const transport = upstash({ url: gateway.url, token: gateway.token });
const imports = withFlows(new Queue<{ night: number; from?: number }>("imports", { transport }));
const mails = withFlows(new Queue<{ night: number }>("mails", { transport }));

/** What the mails say, by night. */
const reports: string[] = [];

/** Fetches the list, or imports a chunk of it. Each seventh chunk of the second night cannot be read. */
const work = () =>
  drain(
    imports,
    async (task) => {
      const { night, from } = task.payload;
      if (from === undefined) {
        const items = Array.from({ length: chunks }, (_, i) => ({
          ref: `chunk-${i}`,
          queue: imports,
          payload: { night, from: i * ROWS },
        }));
        // The report waits for them, too. A second attempt of this handler adds nothing.
        await task.addBefore("report", items);
        return { rows: chunks * ROWS };
      }
      if (night === 2 && (from / ROWS) % 7 === 6) throw new NonRetryableError("the chunk is broken");
      return { rows: ROWS };
    },
    { concurrency: 20, batch: 100 },
  );

const report = () =>
  drain(mails, async (task) => {
    const { fetch, ...before } = await task.before();
    const { rows = 0 } = (fetch?.result ?? {}) as { rows?: number };
    const failed = Object.values(before).filter(({ state }) => state === "rejected").length;
    const imported = Object.values(before).length - failed;
    reports[task.payload.night - 1] =
      `night ${task.payload.night}: ${imported * ROWS} of ${rows} rows, ${failed} chunks failed`;
  });

gateway.resetUsage();
for (let night = 1; night <= nights; night++) {
  // A schedule would add it. With its id, a second one of the same night adds nothing.
  await flow(
    [
      { ref: "fetch", queue: imports, payload: { night } },
      { ref: "report", queue: mails, payload: { night }, after: { ref: "fetch", on: "ended" } },
    ],
    { id: `night-${night}` },
  );
  await work();
  await report();
}
await sweep(transport, { also: [flows] });

const { requests, commands } = gateway.usage();
const tasks = nights * (chunks + 2);
const a = (total: number, of: number) => (total / of).toFixed(2);
console.log(
  [
    ...reports,
    `On Upstash: ${a(requests, nights)} requests and ${a(commands, nights)} billed commands a night; ` +
      `${a(commands, tasks)} commands a task, $${dollars((commands * 1e6) / tasks).toFixed(2)} a million.`,
  ].join("\n"),
);
await gateway.close();
process.exit(reports.length === nights ? 0 : 1);
