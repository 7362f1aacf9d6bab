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
   * A queue. Its options are what it fixes for its tasks and dequeues, as those of a `Queue` do.
   * @param name `^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,127}$`
   * @throws {SluiceError} `invalid_argument`
   */
  queue<In = unknown, Out = In>(name: string, options?: ClientQueueOptions<In, Out>): ClientQueue<In, Out>;

  /**
   * A page of the registered queues for which the token has the scope `admin`, in no order. A queue may come twice
   * where the registry changes between pages; none that stays is missed.
   * @throws {SluiceError}
   */
  listQueues(
    options?: Pick<ListQueuesOptions, "cursor" | "size" | "signal">,
  ): Promise<Omit<QueuePage, "now">>;

  /**
   * Sweeps every queue for which the token has the scope `admin`, or all of them with the cron secret as token.
   * @param options.budget when the server stops and says `more`, at most "60s". Default "20s"
   * @throws {SluiceError}
   */
  sweep(options?: Pick<SweepOptions, "budget" | "signal">): Promise<SweepReport>;
}

/**
 * Reaches Sluice's HTTP interface, for producers and consumers that hold a token and not the database. Needs nothing
 * but `fetch` and WebCrypto. Whatever gets no useful answer is sent again, which has no second effect.
 * @throws {SluiceError} `invalid_argument` where the URL or the token is missing or of no use
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
