import type { Arbitrary } from "fast-check";
import * as fc from "fast-check";
import { faultsOfAnswer, isUnhealthy } from "./answer.ts";
import type { Described, Route } from "./document.ts";
import { inQueues, isOfFlow } from "./flow-bodies.ts";
import { type Bounds, runSequences } from "../../proofs/model/sequences.ts";
import { ReturnedValues } from "./returned-values.ts";
import type { Answered, Sent, Stack } from "./stack.ts";
import { type Plan, queues, validRequest, written } from "./valid-request.ts";

/** How often an operation is drawn, relative to those with 1. */
const weights: Readonly<Record<string, number>> = {
  enqueue: 14,
  pull: 12,
  settle: 12,
  cancelTask: 4,
  getTask: 4,
  sweep: 3,
  redrive: 2,
  heartbeat: 2,
  failWorker: 2,
};

/** Most requests of one sequence; each begins with an empty Redis. */
const LENGTH = 80;

/** The beginning of half of all sequences: a queue that keeps statistics and reports events. */
function opening(described: Described): Arbitrary<readonly Plan[]> {
  const configure = described.routes.find(({ operationId }) => operationId === "configureQueue");
  if (!configure) throw new Error("the document has no operation configureQueue");
  const settings = fc.constantFrom(
    { statistics: true },
    { events: true },
    { statistics: true, events: true },
  );
  const plans = settings.map((body): Plan[] =>
    queues.map((queue) => ({ route: configure, path: { queue }, query: {}, headers: {}, body })),
  );
  return fc.oneof(fc.constant([]), plans);
}

/**
 * Sends sequences of valid requests. Throws if an answer is not one that the document promises. The error has
 * the seed and the sequence that is left after shrinking.
 * @returns how many it sent, and the operations that got none
 */
export async function runValid(described: Described, stack: Stack, bounds: Bounds) {
  const any = fc.oneof(
    ...described.routes.map((route) => ({
      weight: weights[route.operationId] ?? 1,
      arbitrary: validRequest(described, route),
    })),
  );
  const plans = fc.array(any, { minLength: 1, maxLength: LENGTH, size: "max" });
  const sequence = fc.tuple(opening(described), plans).map((parts) => parts.flat());
  const uncalled = new Set(described.routes.map(({ operationId }) => operationId));
  let [run, valid] = [0, 0];
  await runSequences(
    sequence,
    () => valid,
    bounds,
    async (drawn) => {
      run++;
      await stack.empty();
      const known = new ReturnedValues();
      const partitioned = new Set<string>();
      for (const plan of drawn) {
        const filled = known.filled(inRun(plan, String(run)));
        valid++;
        uncalled.delete(plan.route.operationId);
        const request = written(filled);
        const isPartitioned = partitioned.has(filled.path["queue"] ?? "");
        const answer = checked(described, plan.route, request, await stack.send(request), isPartitioned);
        known.learn(filled, answer);
        if (answer.status < 400 && getsPartitions(filled)) partitioned.add(filled.path["queue"] ?? "");
      }
    },
  );
  return { valid, uncalled: [...uncalled] };
}

/** The server remembers for a minute which queues it has registered: each run has queues of its own. */
function inRun(plan: Plan, run: string): Plan {
  const ofRun = (queue: string) => `${queue.slice(0, 100)}.${run}`;
  const { queue, flow } = plan.path;
  const [name, home] = flow?.split("@") ?? [];
  return {
    ...plan,
    path: {
      ...plan.path,
      ...(queue !== undefined && { queue: ofRun(queue) }),
      ...(home !== undefined && { flow: `${name}@${ofRun(home)}` }),
    },
    body: isOfFlow(plan.route) ? inQueues(plan.body, ofRun) : ofQueue(plan.body, ofRun),
  };
}

function ofQueue(body: unknown, of: (queue: string) => string): unknown {
  const { queue } = (body ?? {}) as { queue?: unknown };
  return typeof queue === "string" ? { ...(body as object), queue: of(queue) } : body;
}

/** Whether the request changes how many partitions its queue has. */
function getsPartitions({ route, body }: Plan): boolean {
  if (route.operationId === "resizeQueue") return true;
  return route.operationId === "declareQueue" && Object.hasOwn(body as object, "partitions");
}

/** In a queue with partitions, a task's id and its key must be in one place. */
const MISPLACED = /must have (?:the id of the task in braces.*|\{.*\} in it: )in a queue with partitions/;

/**
 * The answer to a valid request, if it is as the document says.
 * @param isPartitioned whether an earlier request gave the queue partitions
 * @throws if it is not
 */
function checked(
  described: Described,
  route: Route,
  request: Sent,
  answer: Answered,
  isPartitioned: boolean,
): Answered {
  const faults = faultsOfAnswer(described, route, answer);
  // Codes that depend on the state of the queue, and not on the request.
  const refusals = [404, 409, 429];
  const isMisplaced = isPartitioned && MISPLACED.test(answer.text);
  if (answer.status >= 400 && !refusals.includes(answer.status) && !isMisplaced && !isUnhealthy(answer))
    faults.push("the request is refused");
  if (faults.length === 0) return answer;
  const asked = `${request.method} ${request.path} ${JSON.stringify(String(request.body ?? ""))}`;
  throw new Error(`${faults.join("; ")}\n${asked}\nwas answered with ${answer.status} ${answer.text}`);
}
