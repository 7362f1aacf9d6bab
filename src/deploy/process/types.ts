import type { Environment } from "../../config.ts";
import type { Duration } from "../../kernel/options/duration.ts";
import type { QueueOrName } from "../../open/definition.ts";
import type { Operator } from "../../open/operator.ts";
import type { DeploymentTools, ServiceOptions } from "../service.ts";

/** Options of a server: those of a deployment, and those of its process. */
export interface ServeOptions<Env extends object = Environment> extends ServiceOptions<Env> {
  /** How long one drain, and so one handler, may run. @default "1h" */
  readonly budget?: Duration | undefined;
  /** @default the environment of the process */
  readonly env?: Env | undefined;
  /** The port to listen on; 0 for any free port. @default `PORT`, else 8787 */
  readonly port?: number | undefined;
  /** The address to listen on. @default all addresses */
  readonly hostname?: string | undefined;
  /** The interval of cron: the sweep and the consumers. At least "1s"; runs do not overlap. @default "1m" */
  readonly every?: Duration | undefined;
  /**
   * How long handlers and requests may still run when the server closes. Then handlers are aborted, and the
   * server closes two seconds later, even if work is still running. @default the platform's limit, less these
   * two seconds
   */
  readonly grace?: Duration | undefined;
  /**
   * Whether consumers that have no `worker` of their own name this process as theirs: its machine and its id, as in
   * `web-1:4711`. `sluice workers` then shows which process has which tasks. It costs commands of Redis with each
   * dequeue and settle.
   * @default true with `REDIS_URL`; false over HTTP, where commands are paid for
   */
  readonly worker?: boolean | undefined;
  /** SIGTERM and SIGINT close the server and end the process. @default true */
  readonly signals?: boolean | undefined;
}

/** `queue`, `schedules` and `topic` are those of the {@link DeploymentTools}: an enqueue starts the queue's consumer here. */
export interface Server extends Pick<DeploymentTools, "queue" | "schedules" | "topic"> {
  /**
   * The same, with what parts add to them.
   * @example await endpoints.in(server.tools).send({ type: "orders.paid", payload: { order: 17 } })
   */
  readonly tools: Omit<DeploymentTools, "env">;
  /**
   * Operates a queue over the deployment's own connection, by its declaration or its name. A redrive starts the queue's
   * consumer here.
   * @example await deployment.operator(emails).redrive({ endedSince: Date.now() - 3_600_000 })
   */
  operator(this: void, queue: QueueOrName<unknown, unknown>): Operator;
  /** The URL of the server, such as `http://localhost:8787`. */
  readonly url: string;
  /**
   * Closes the server: accepts no more requests and tasks, hands back tasks that are not started, waits up to
   * `grace` for running work, leaves the lists of workers, and closes the connection to Redis. A second call waits for
   * the same end.
   */
  close(): Promise<void>;
}

/** A running HTTP server. */
export interface Listener {
  readonly port: number;
  /** Accepts no more connections. Resolves when all open requests have their responses. */
  stop(): Promise<unknown>;
  /** Closes open connections, if the runtime supports it. */
  drop?(): unknown;
}

/** What differs between runtimes. */
export interface Runtime {
  readonly listen: (
    fetch: (request: Request) => Promise<Response>,
    at: { readonly port: number; readonly hostname: string | undefined },
  ) => Promise<Listener>;
  readonly grace: Duration;
  /** Returns the name of the machine. @default unknown */
  readonly host?: (() => string) | undefined;
  /**
   * The runtime's own cron: calls `work` every minute until the signal aborts. What it returns rejects if that fails.
   * @default a timer of this process, which also calls `work` at the start
   */
  readonly cron?:
    | ((work: () => Promise<void>, signal: AbortSignal) => Promise<unknown> | undefined)
    | undefined;
  /**
   * Whether the server starts even if the environment is incomplete or invalid. Responses then name the
   * variable.
   * @default false
   */
  readonly startsUnconfigured?: boolean | undefined;
}
