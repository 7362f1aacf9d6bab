// A process of test/long/growth/main.ts: consumers, each with a connection and a file of its own. In its file each
// writes down the number of each task that it has completed.

import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Queue, type Settlement } from "../../../src/index.ts";
import { resp } from "../../../src/transports/resp.ts";
import { BATCH, consumerFile, QUEUE, type GrowthPayload } from "./work.ts";

const [, , url = "", folder = "", first = "0", count = "1"] = process.argv;
const retry = { deadline: 60_000, tryTimeout: 5_000 };
const over = new AbortController();
process.on("message", () => over.abort());
process.on("disconnect", () => process.exit(1));

async function consume(number: number): Promise<void> {
  const transport = resp({ url, retry });
  const queue = new Queue<GrowthPayload>(QUEUE, { transport, partitions: 8 });
  const file = createWriteStream(join(folder, consumerFile(number)));
  let done: readonly { readonly settlement: Settlement; readonly n: number }[] = [];
  while (!over.signal.aborted || done.length > 0) {
    const settlements = done.map(({ settlement }) => settlement);
    try {
      const { settled, tasks } = await queue.settleAndDequeue(settlements, {
        max: over.signal.aborted ? 1 : BATCH,
      });
      const completed = done.filter((_, i) => settled[i]?.ok);
      if (completed.length > 0) file.write(`${completed.map(({ n }) => n).join("\n")}\n`);
      done = tasks.map(({ receipt, payload }) => ({
        settlement: { receipt, outcome: "complete", ttl: 0 },
        n: payload.n,
      }));
      if (tasks.length === 0) await sleep(200);
    } catch (error) {
      // The settlements are sent again: a copy gets the same answer.
      console.error(`consumer ${number}: ${String(error)}`);
      await sleep(500);
    }
  }
  await new Promise<void>((resolve) => file.end(resolve));
  await transport.close();
}

await Promise.all(Array.from({ length: Number(count) }, (_, i) => consume(Number(first) + i)));
process.exit(0);
