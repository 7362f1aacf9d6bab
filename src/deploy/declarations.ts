import { applyDeclared } from "./declared/apply-queues.ts";
import { checkSchedules } from "./declared/check-schedules.ts";
import { type DeclaredChanges, takesAway } from "./declared/declared-changes.ts";
import { type DeclaredQueue, isDeclared, type QueueConsumer } from "./declared/define-queue.ts";
import { invalidArgument, messageOf } from "../errors.ts";
import { declarationApplied, declarationFailed } from "../log/lines.ts";
import type { AppOptions } from "../http/app-options.ts";
import type { DeploymentPart, ToApply } from "./deployment-part.ts";
import type { Open } from "../open/opening.ts";

/**
 * How often an instance compares its declarations with what was applied last, ms. Until then another deployment
 * of the same queue, such as the one that this one replaces, may have applied its own.
 */
const CHECK_EVERY = 600_000;

const without = (what: string, part: string) =>
  `must not have ${what} without the option ${part}: import { ${part} } from "sluice-queue/${part}", and sluice({ ${part} })`;

/** The parts of a deployment that declarations need. */
type PartsOfQueues = Pick<AppOptions, "order" | "schedules"> & { readonly parts: readonly DeploymentPart[] };

/** The declared queues among the checked consumers of a deployment. */
function declaredAmong(consumers: object): DeclaredQueue[] {
  return Array.isArray(consumers) ? consumers.map(({ queue }: QueueConsumer<never>) => queue) : [];
}

/** The declared queues of a deployment, whose settings and schedules its cron applies. */
export class Declarations {
  readonly #parts: PartsOfQueues;
  readonly #queues: ReadonlyMap<string, DeclaredQueue>;
  /** On the clock of `performance.now()`. */
  #checkAt = 0;

  /**
   * @param consumers those of the deployment, checked; the queues of declared ones are declared too
   * @param parts those of the deployment
   * @throws {SluiceError} `invalid_argument`; its path is that of the consumer, queue or schedule
   */
  constructor(consumers: object, queues: readonly DeclaredQueue[], parts: PartsOfQueues) {
    const byName = new Map<string, DeclaredQueue>();
    for (const { queue, path } of [...declared(consumers, queues), ...ofParts(parts)]) {
      if ((byName.get(queue.name) ?? queue) !== queue) {
        throw invalidArgument(path, `must not declare ${queue.name} a second time`);
      }
      if (queue.settings.order === "strict" && !parts.order) {
        throw invalidArgument(path, without('order: "strict"', "order"));
      }
      if (queue.subscribes !== undefined) checkSubscribes(queue, parts.parts, path);
      byName.set(queue.name, queue);
      if (Object.keys(queue.schedules).length === 0) continue;
      if (!parts.schedules) throw invalidArgument(path, without("schedules", "schedules"));
      checkSchedules(queue, parts.schedules, parts.order, `${queue.name}.`);
    }
    this.#queues = byName;
    this.#parts = parts;
  }

  /** The declared queues. */
  get all(): readonly DeclaredQueue[] {
    return [...this.#queues.values()];
  }

  /** The declared queue of that name. */
  named(queue: string): DeclaredQueue | undefined {
    return this.#queues.get(queue);
  }

  /**
   * Connects the own methods of what is declared with the deployment, for a process.
   * @param open opens its queues
   * @returns disconnects them
   * @throws {SluiceError} `invalid_argument`; none is connected then
   */
  connect(open: Open): () => void {
    const disconnects: (() => void)[] = [];
    const disconnect = () => disconnects.forEach((one) => one());
    try {
      for (const queue of this.#queues.values()) disconnects.push(queue.connect(open(queue).options));
      for (const part of this.#parts.parts) disconnects.push(...(part.connect?.(this.all, open) ?? []));
    } catch (error) {
      disconnect();
      throw error;
    }
    return disconnect;
  }

  /**
   * Applies what has changed. Logs a line for each queue that was applied or could not be. Never throws.
   */
  async apply(given: Omit<ToApply, "queues">): Promise<void> {
    const { transport, prefix, signal, log } = given;
    const { schedules, parts } = this.#parts;
    const queues = this.all;
    if (queues.length === 0 || performance.now() < this.#checkAt) return;
    try {
      const changes = new Map<string, DeclaredChanges>();
      const { applied, deferred, failed } = await applyDeclared(
        transport,
        queues,
        {
          prefix,
          signal,
          onChanges: (queue, its) => void changes.set(queue, its),
        },
        { schedules },
      );
      for (const queue of applied) {
        const its = changes.get(queue) ?? {};
        log(declarationApplied(queue, its, takesAway(its)));
      }
      for (const { queue, ...error } of failed) log(declarationFailed(queue, error, changes.get(queue)));
      for (const part of parts) await part.apply?.({ ...given, queues });
      if (deferred.length + failed.length === 0) this.#checkAt = performance.now() + CHECK_EVERY;
    } catch (error) {
      // The sweep after this fails too, and says why.
      if (!signal?.aborted) log(declarationFailed("all", messageOf(error)));
    }
  }
}

/** @throws {SluiceError} `invalid_argument` */
function checkSubscribes(queue: DeclaredQueue, parts: readonly DeploymentPart[], path: string): void {
  const check = parts.find((part) => part.checkSubscribes)?.checkSubscribes;
  if (!check) throw invalidArgument(path, without("subscribes", "topics"));
  check(queue);
}

/** The queues of features, each with its path. */
const ofParts = ({ parts }: PartsOfQueues) =>
  parts.flatMap((part) => {
    const consumed = part.consumers?.map(({ queue }) => queue) ?? [];
    return [...consumed, ...(part.queues ?? [])].map((queue) => ({ queue, path: queue.name }));
  });

/**
 * The declared queues, each with its path.
 * @throws {SluiceError} `invalid_argument`
 */
function* declared(
  consumers: object,
  queues: unknown,
): Generator<{ readonly queue: DeclaredQueue; readonly path: string }> {
  for (const [i, queue] of declaredAmong(consumers).entries()) yield { queue, path: `consumers[${i}]` };
  if (!Array.isArray(queues)) {
    throw invalidArgument("queues", "must be an array of queues that defineQueue made");
  }
  for (const [i, queue] of queues.entries()) {
    const path = `queues[${i}]`;
    if (!isDeclared(queue)) throw invalidArgument(path, "must be a queue that defineQueue made");
    if (!Array.isArray(consumers) && Object.hasOwn(consumers, queue.name)) {
      throw invalidArgument(
        path,
        `must not declare ${queue.name}, which has a consumer by its name: give that as the declared queue's consumer(handler)`,
      );
    }
    yield { queue, path };
  }
}
