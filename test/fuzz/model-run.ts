import * as fc from "fast-check";
import type { Happened } from "../model/real.ts";
import { World } from "../model/world.ts";
import { type QueueSpace, readQueueSpace } from "../support/key-space.ts";
import type { Described, Route } from "./document.ts";
import { checkProperty, type Sending } from "./check-property.ts";
import { ReturnedValues } from "./returned-values.ts";
import { libraryAnswer } from "./model-answer.ts";
import { isModelled, modelled, type Modelled } from "./model-operation.ts";
import type { Answered, WorkerStack } from "./worker-stack.ts";
import { anyValid, checked, opening } from "./valid-run.ts";
import { type Plan, written } from "./valid-request.ts";

const START = 1_700_000_000_000;

/** Most steps of one sequence. */
const LENGTH = 100;

/** The name of the queue in the model. */
const NAME = "emails";

type Step = Plan | { readonly wait: number };

/**
 * Sends sequences of valid requests to one queue, with the model beside it. Throws if an answer, or what the
 * keys of the queue hold afterwards, differs from the model. The error has the seed and the sequence that is
 * left after shrinking.
 */
export async function runModelled(described: Described, stack: WorkerStack, sending: Sending): Promise<void> {
  const waits = fc.constantFrom(1, 300, 5_000, 61_000, 310_000, 3_700_000).map((wait) => ({ wait }));
  const step = fc.oneof<fc.WeightedArbitrary<Step>[]>(
    { weight: 1, arbitrary: waits },
    { weight: 7, arbitrary: anyValid(described, ({ operationId }) => isModelled(operationId)) },
  );
  const drawn = fc.array(step, { minLength: 1, maxLength: LENGTH, size: "max" });
  const sequence = fc.tuple(opening(described), drawn).map(([first, then]): Step[] => [...first, ...then]);
  let run = 0;
  try {
    await checkProperty(sequence, LENGTH, sending, async (steps) => {
      const one = new ModelledRun(described, stack, `${NAME}.${sending.seed}-${run++}`, sending.sent);
      await one.begin();
      for (const each of steps) await one.take(each);
    });
  } finally {
    stack.clock.now = undefined;
  }
}

/** With the body as the server reads it: JSON.stringify writes no -0. */
const asSent = (plan: Plan): Plan =>
  plan.body === undefined ? plan : { ...plan, body: JSON.parse(JSON.stringify(plan.body)) as unknown };

/** One sequence. The Worker remembers which queues it has registered, so each has a queue of its own. */
class ModelledRun {
  readonly #described: Described;
  readonly #stack: WorkerStack;
  readonly #queue: string;
  readonly #sent: (route: Route) => void;
  readonly #known = new ReturnedValues();
  readonly #world = new World(START);
  #steps = 0;
  #space: QueueSpace | undefined;

  constructor(described: Described, stack: WorkerStack, queue: string, sent: (route: Route) => void) {
    this.#described = described;
    this.#stack = stack;
    this.#queue = queue;
    this.#sent = sent;
  }

  async begin(): Promise<void> {
    await this.#stack.empty();
    this.#stack.clock.now = START;
  }

  async take(step: Step): Promise<void> {
    if ("wait" in step) {
      this.#world.now += step.wait;
      this.#stack.clock.now = this.#world.now;
      return;
    }
    const call = modelled(asSent(this.#ofRun(this.#known.filled(step))), this.#steps++);
    if (!call) return;
    const real = { now: 0, woken: 0, run: () => this.#run(call) };
    await this.#world.call(real, call.operation, 0, "none");
  }

  /** The same request for the queue of the run. */
  #ofRun(plan: Plan): Plan {
    const { queue } = plan.path;
    const body = plan.body as { queue?: string } | undefined;
    return {
      ...plan,
      ...(queue !== undefined && { path: { ...plan.path, queue: this.#queue } }),
      ...(body?.queue !== undefined && { body: { ...body, queue: this.#queue } }),
    };
  }

  async #run({ plan, operation }: Modelled): Promise<Happened> {
    const { redis, clock } = this.#stack;
    const registered = (await redis.zScore("sluice:queues", this.#queue)) !== null;
    const before = this.#space ?? (await readQueueSpace(redis, this.#queue));
    const answer = libraryAnswer(operation, await this.#send(plan));
    const tasks = operation.does === "list" ? await this.#allPages(plan, answer) : undefined;
    const after = await readQueueSpace(redis, this.#queue);
    this.#space = after;
    return { answer: tasks ?? answer, look: clock.looked, registered, before, after };
  }

  async #send(plan: Plan): Promise<Answered> {
    this.#sent(plan.route);
    const request = written(plan);
    const answer = checked(this.#described, plan.route, request, await this.#stack.send(request));
    this.#known.learn(plan, answer);
    // The model's queue has one name in all runs.
    return { ...answer, text: answer.text.replaceAll(`"${this.#queue}"`, `"${NAME}"`) };
  }

  async #allPages(plan: Plan, first: unknown): Promise<readonly unknown[]> {
    let page = first as { tasks: readonly unknown[]; cursor: string | null };
    const tasks = [...page.tasks];
    while (page.cursor !== null) {
      const next = await this.#send({ ...plan, query: { ...plan.query, cursor: page.cursor } });
      page = JSON.parse(next.text) as typeof page;
      tasks.push(...page.tasks);
    }
    return tasks;
  }
}
