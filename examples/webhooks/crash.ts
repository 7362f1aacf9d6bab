import { setTimeout as sleep } from "node:timers/promises";
import type { ConsumerRun, Consumers } from "./consumers.ts";
import { type Deliveries, isAccepted } from "./deliveries.ts";
import type { Webhooks } from "./webhooks.ts";

export interface Crash {
  readonly run: string;
  /** Events that it had delivered but not settled; there may be more. */
  readonly unsettled: readonly string[];
}

/** The fewest unsettled events for a useful crash. */
const enough = 3;
/** Of how many events at most it asks the queue: each question has a price. */
const asked = 2 * enough;

/**
 * Kills a consumer at the worst moment: receivers have accepted some of its batch, and the queue does not
 * know it yet. To be sure, it halts the process and asks the queue before it kills the process.
 * @param goOn whether to keep trying
 */
export async function crash(
  consumers: Consumers,
  deliveries: Deliveries,
  queue: Webhooks,
  goOn: () => boolean,
): Promise<Crash | undefined> {
  while (goOn()) {
    await sleep(20);
    deliveries.read();
    for (const run of consumers.running) {
      if (acceptedOf(run, deliveries, Date.now() - 100).length < enough) continue;
      run.process.kill("SIGSTOP");
      try {
        // By then, requests that it had already sent are done.
        await sleep(300);
        deliveries.read();
        const unsettled = await stillWorking(
          acceptedOf(run, deliveries, Date.now() - 1_000).slice(-asked),
          queue,
        );
        if (unsettled.length >= enough && consumers.running.includes(run)) {
          consumers.kill(run);
          return { run: run.name, unsettled };
        }
      } finally {
        run.process.kill("SIGCONT");
      }
    }
  }
  return undefined;
}

function acceptedOf(run: ConsumerRun, { all }: Deliveries, since: number): string[] {
  const recent = all.slice(-200).filter(({ by, at }) => by === run.name && at >= since);
  return recent.filter(isAccepted).map(({ event }) => event);
}

async function stillWorking(events: readonly string[], queue: Webhooks): Promise<string[]> {
  const states = await Promise.all(events.map((event) => queue.get(event)));
  return events.filter((_, at) => states[at]?.state === "working");
}
