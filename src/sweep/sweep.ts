import { deadlineOf } from "../kernel/options/duration.ts";
import { onlyOptions, optionalFunction, queueName } from "../kernel/options/validation.ts";
import { type Transport, withPrefix } from "../kernel/transport.ts";
import type { SweepPart } from "./part.ts";
import { readRegistered, readRegistry } from "./registry.ts";
import { SweepPass } from "./sweep-pass.ts";
import { SWEEP_OPTIONS, type SweepOptions, type SweepReport } from "./types.ts";

/**
 * Walks through the registry, and sweeps each queue and partition in it: promotes due tasks, reclaims expired leases,
 * removes expired records. All else is done by parts.
 * @param parts of the features that take part, in their order
 * @throws {SluiceError} `invalid_argument`, or if Redis cannot be reached. A fault of one queue is in the report instead
 */
export async function plainSweep(
  transport: Transport,
  given: SweepOptions,
  parts: readonly SweepPart[],
): Promise<SweepReport> {
  onlyOptions(given, SWEEP_OPTIONS);
  const options = withPrefix(transport, given);
  optionalFunction(options.onDeadLetter, "onDeadLetter");
  const { prefix, signal, now } = options;
  const only = options.queue === undefined ? undefined : queueName(options.queue, "queue");
  const deadline = deadlineOf(options.budget);
  const pass = new SweepPass(transport, { ...options, only, deadline }, parts);
  let cursor: string | undefined;
  try {
    do {
      const page = await (only === undefined
        ? readRegistry(transport, { prefix, signal, now, cursor, size: 1_000 })
        : readRegistered(transport, only, { prefix, signal, now }));
      await pass.sweepPage(page);
      cursor = page.cursor ?? undefined;
    } while (cursor !== undefined && performance.now() < deadline);
  } finally {
    // Also if the sweep throws: Redis counts what it has asked for as done.
    await pass.end();
  }
  pass.more ||= cursor !== undefined;
  return pass.finish();
}
