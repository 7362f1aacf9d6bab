import { milliseconds } from "../kernel/options/duration.ts";
import type { QueueCounts } from "../kernel/tasks/counts.ts";
import type { RequestOptions } from "../kernel/options/types.ts";
import type { ListQueuesOptions, QueuePage, RegisteredQueue } from "../sweep/registry.ts";
import type { QueueOrName } from "../open/definition.ts";
import type { SweepOptions, SweepReport } from "../open/sweep-with.ts";
import { fieldsJson, splitOptions } from "./json.ts";
import { Connection, type ConnectionOptions } from "./connection.ts";
import { ClientQueue } from "./queue.ts";
import { type ClientQueueOptions } from "./new-task.ts";

/** A page of queues. */
export interface ListedQueues extends Pick<QueuePage, "cursor"> {
  readonly queues: readonly (RegisteredQueue & {
    /** If counts were asked for; null if they cannot be read. */
    readonly counts?: Omit<QueueCounts, "queue"> | null | undefined;
  })[];
}

export interface Client {
  /**
   * Returns a queue, without a request.
   * @param queue its name, `^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,127}$`, or a queue that `defineQueue` made
   * @param options defaults for tasks and dequeues, as for a `Queue`; those of a declared queue are theirs
   * @throws {SluiceError} `invalid_argument`
   */
  queue<In = unknown, Out = In>(
    queue: QueueOrName<In, Out>,
    options?: ClientQueueOptions<In, Out>,
  ): ClientQueue<In, Out>;

  /**
   * Lists a page of the registered queues for which the token has the scope `admin`, in no particular order.
   * If the registry changes between pages, a queue may appear twice. A queue that stays registered is never
   * left out.
   * @param options.counts whether to count the tasks of each queue: one request more to Redis, of 11 to 13
   *   commands a queue, and 3 more if its next task is cancelled. Default: false
   * @throws {SluiceError}
   */
  listQueues(
    options?: Pick<ListQueuesOptions, "cursor" | "size" | "signal"> & {
      readonly counts?: boolean | undefined;
    },
  ): Promise<ListedQueues>;

  /**
   * Sweeps each queue for which the token has the scope `admin`, or all queues if the token is the cron
   * secret.
   * @param options.budget how long the server may work, at most "60s"; then it replies with `more`. Default:
   *   "20s"
   * @throws {SluiceError}
   */
  sweep(options?: Pick<SweepOptions, "budget" | "signal">): Promise<SweepReport>;
}

/**
 * Makes a client of Sluice's HTTP interface, for producers and consumers with a token and without access to
 * Redis. It needs only `fetch` and WebCrypto. The client resends a request that gets no useful answer; a
 * resend has no second effect.
 * @param options.url the server's URL, without `/v1`
 * @param options.token one of the server's bearer tokens
 * @param options.retry.deadline longest time for all copies of a request. Default: "10s"
 * @param options.retry.tryTimeout longest time for one copy. Default: "5s"
 * @param options.tracing `openTelemetry()` of `sluice-queue/opentelemetry`. Default: no traces
 * @throws {SluiceError} `invalid_argument` if the URL or the token is missing or invalid
 * @example createClient({ url: env.SLUICE_URL, token: env.SLUICE_TOKEN }).queue<Email>("emails")
 */
export function createClient(options: ConnectionOptions): Client {
  const connection = new Connection(options);
  return {
    queue: (name, queueOptions = {}) => new ClientQueue(connection, name, queueOptions),

    async listQueues(options = {}) {
      const { request, fields } = splitOptions(options);
      return connection.request<ListedQueues>({
        method: "GET",
        path: "/v1/queues",
        query: fields,
        replyField: "queues",
        options: request,
      });
    },

    async sweep({ budget = "20s", ...options } = {}) {
      const { request, fields } = splitOptions<RequestOptions>(options);
      const wait = milliseconds(budget, "budget");
      const body = await fieldsJson({ ...fields, budget });
      return connection.request<SweepReport>({
        method: "POST",
        path: "/v1/sweep",
        body,
        wait,
        replyField: "promoted",
        options: request,
      });
    },
  };
}
