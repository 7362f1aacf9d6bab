import { afterAll, beforeAll, expect, test } from "vitest";
import { RealPartitions } from "../../proofs/model/partitions/real.ts";
import { runPartitionsModel } from "../../proofs/model/partitions/run.ts";
import { Way } from "../../proofs/model/way.ts";
import { PythonClient } from "./model-client.ts";

/** The instances for which Python makes the calls that it offers. The library makes all others. */
const BY_PYTHON = [1, 2, 3];

let way: Way;
let clients: PythonClient[];
beforeAll(async () => {
  way = await Way.start();
  clients = await Promise.all(BY_PYTHON.map(() => PythonClient.start(way)));
});
afterAll(async () => {
  for (const client of clients) client.stop();
  await way.stop();
});

const CALLS = 1_500;
/** The same calls each time, so that a failure comes from a change of the code. */
const SEED = 20_261_128;

test(
  "every call of either client on a queue whose partitions change is answered as the model says",
  { timeout: 600_000 },
  async () => {
    const others = new Map(clients.map((client, i) => [BY_PYTHON[i] ?? 0, client]));
    const real = new RealPartitions(way, others);
    expect(await runPartitionsModel(real, { calls: CALLS, seed: SEED })).toBeGreaterThanOrEqual(CALLS);
    const made = new Set(clients.flatMap(({ calls }) => [...calls.keys()]));
    expect([...made].toSorted()).toEqual(["cancel", "dequeue", "enqueue", "get", "settle", "sweep"]);
  },
);
