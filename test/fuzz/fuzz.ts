import { runBroken } from "./broken-run.ts";
import { Described, type Route } from "./document.ts";
import { openWorkerStack, type WorkerStack } from "./worker-stack.ts";
import { runModelled } from "./model-run.ts";
import { runValid } from "./valid-run.ts";

export interface FuzzOptions {
  readonly seed: number;
  /** The least number of requests. */
  readonly requests: number;
  /** Called with a line for each part that is done. */
  readonly reported?: (line: string) => void;
}

export interface FuzzReport {
  readonly broken: number;
  /** The number of requests. */
  readonly valid: number;
  /** Requests that were compared with the model. */
  readonly modelled: number;
  /** How often each operation was called. */
  readonly operations: ReadonlyMap<string, number>;
  /** The memory of workerd after half of the requests and at the end, bytes. */
  readonly memory: readonly [half: number, end: number];
  readonly seconds: number;
}

/** Each kind of requests, and the function that sends it. */
const kinds = [
  { kind: "broken", share: 0.75, run: runBroken },
  { kind: "valid", share: 0.05, run: runValid },
  { kind: "modelled", share: 0.2, run: runModelled },
] as const;

/** Everything twice, so that memory is compared after the same work. */
const PARTS = 2;

/**
 * Sends requests made from the document that the Worker serves.
 * @throws if an answer differs from the document; the message has the seed and the shrunk request
 */
export async function fuzz({ seed, requests, reported = () => {} }: FuzzOptions): Promise<FuzzReport> {
  const begin = performance.now();
  const stack = await openWorkerStack();
  try {
    const described = await served(stack);
    const operations = new Map<string, number>();
    const counts = { broken: 0, valid: 0, modelled: 0 };
    const memory: number[] = [];
    for (let part = 0; part < PARTS; part++) {
      for (const { kind, share, run } of kinds) {
        const until = Math.ceil((requests * share * (part + 1)) / PARTS);
        const sent = ({ operationId }: Route) => {
          counts[kind]++;
          operations.set(operationId, (operations.get(operationId) ?? 0) + 1);
        };
        // The length of an array is random, too.
        for (let more = 0; counts[kind] < until; more++)
          await run(described, stack, {
            seed: seed + part + 1_000 * more,
            requests: until - counts[kind],
            sent,
            reported,
          });
      }
      memory.push(await stack.memory());
      const seconds = (performance.now() - begin) / 1_000;
      const soFar = Object.entries(counts).map(([kind, count]) => `${count} ${kind}`);
      reported(`${soFar.join(", ")}, ${seconds.toFixed(0)} s, ${megabytes(memory.at(-1))}`);
    }
    const [half = 0, end = 0] = memory;
    return { ...counts, operations, memory: [half, end], seconds: (performance.now() - begin) / 1_000 };
  } finally {
    await stack.close();
  }
}

const megabytes = (bytes = 0) => `${(bytes / 1e6).toFixed(0)} MB`;

async function served({ send }: WorkerStack): Promise<Described> {
  const { text } = await send({ method: "GET", path: "/openapi.json", headers: {} });
  return new Described(JSON.parse(text));
}
