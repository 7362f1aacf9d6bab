import { milliseconds } from "../queue/core/duration.ts";
import { onlyOptions } from "../queue/core/validation.ts";
import type { ListQueuesOptions, QueuePage } from "../queue/sweep/registry.ts";
import type { SweepOptions, SweepReport } from "../queue/sweep/sweep.ts";
import { jsonOf } from "./body.ts";
import { Connection, type ConnectionOptions } from "./connection.ts";
import { ClientQueue } from "./queue.ts";
import { type ClientQueueOptions } from "./new-task.ts";

export interface Client {
  /**
   * A queue. It sends no request.
   * @param options defaults for tasks and dequeues, as for a `Queue`
   * @param name `^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,127}$`
   * @throws {SluiceError} `invalid_argument`
   */
  queue<In = unknown, Out = In>(name: string, options?: ClientQueueOptions<In, Out>): ClientQueue<In, Out>;

  /**
   * Lists a page of the registered queues for which the token has the scope `admin`, in no order. If the
   * registry changes between pages, a queue may appear twice; no queue that stays registered is missing.
   * @throws {SluiceError}
   */
  listQueues(
    options?: Pick<ListQueuesOptions, "cursor" | "size" | "signal">,
  ): Promise<Omit<QueuePage, "now">>;

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
 * Redis. It needs only `fetch` and WebCrypto. A request without a useful answer is sent again, which has no
 * second effect.
 * @param options.url the server's URL, without `/v1`
 * @param options.token one of the server's bearer tokens
 * @param options.retry.deadline for all copies of a request. Default: "10s"
 * @param options.retry.tryTimeout for one copy. Default: "5s"
 * @throws {SluiceError} `invalid_argument` if the URL or the token is missing or invalid
 * @example createClient({ url: env.SLUICE_URL, token: env.SLUICE_TOKEN }).queue<Email>("emails")
 */
export function createClient(options: ConnectionOptions): Client {
  const connection = new Connection(options);
  return {
    queue: (name, queueOptions = {}) => new ClientQueue(connection, name, queueOptions),

    async listQueues(page = {}) {
      onlyOptions(page, ["cursor", "size", "signal"]);
      const { signal, ...given } = page;
      const wanted = Object.entries(given).filter(([, value]) => value !== undefined);
      const query = new URLSearchParams(wanted.map(([name, value]) => [name, String(value)]));
      const path = `/v1/queues?${query}`;
      return connection.request<Omit<QueuePage, "now">>({
        method: "GET",
        path,
        has: "queues",
        options: { signal },
      });
    },

    async sweep({ budget = "20s", ...request } = {}) {
      onlyOptions(request, ["signal"]);
      const wait = milliseconds(budget, "budget");
      const body = () => jsonOf({ budget }, "options");
      return connection.request<SweepReport>({
        method: "POST",
        path: "/v1/sweep",
        body,
        wait,
        has: "promoted",
        options: request,
      });
    },
  };
}
