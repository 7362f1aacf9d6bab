import process from "node:process";
import { messageOf } from "../../src/errors.ts";
import { type Environment, readPort } from "../../src/config.ts";
import { milliseconds, type Duration } from "../../src/queue/core/duration.ts";
import { onlyOptions, wholeNumber } from "../../src/queue/core/validation.ts";
import type { Transport } from "../../src/queue/redis/transport.ts";
import { loadRedisClient } from "../../src/transport/resp-client.ts";
import { resp } from "../../src/transport/resp.ts";
import { upstash } from "../../src/transport/upstash.ts";
import { Deployment, type ServiceOptions } from "../deployment/service.ts";
import { PendingWork, endsWithin } from "./pending-work.ts";

/** What a server is told: what a deployment does, and how its process lives. */
export interface ServeOptions<Env extends object = Environment> extends ServiceOptions<Env> {
  /** How long one drain may last, and with it one handler. @default "1h" */
  readonly budget?: Duration | undefined;
  /** @default the environment of the process */
  readonly env?: Env | undefined;
  /** 0 is any free one. @default `PORT`, else 8787 */
  readonly port?: number | undefined;
  /** The address to listen at. @default all of them */
  readonly hostname?: string | undefined;
  /** How often it does what cron does elsewhere, at least "1s"; never twice at once. @default "1m" */
  readonly every?: Duration | undefined;
  /**
   * How long handlers and requests under way may go on when it closes; then handlers are told to stop, and two seconds
   * later it has closed, whatever still runs. @default what the platform gives, less those two seconds
   */
  readonly grace?: Duration | undefined;
  /** SIGTERM and SIGINT close it and end the process. @default true */
  readonly signals?: boolean | undefined;
}

export interface Server {
  /** Where it answers, such as `http://localhost:8787`. */
  readonly url: string;
  /**
   * Takes no more requests and tasks, hands back the tasks that it has not begun, lets run what runs for as long as the
   * grace says, and closes the connection to Redis. Calling it again waits for the same end.
   */
  close(): Promise<void>;
}

/** What listens for requests. */
export interface Listener {
  readonly port: number;
  /** Lets nobody in any more; resolves when those that are in have their answers. */
  stop(): Promise<unknown>;
  /** Drops those that are in, where it can. */
  drop?(): unknown;
}

/** What differs from runtime to runtime. */
export interface Runtime {
  readonly listen: (
    fetch: (request: Request) => Promise<Response>,
    at: { readonly port: number; readonly hostname: string | undefined },
  ) => Promise<Listener>;
  readonly grace: Duration;
  /** Calls every minute, until the signal aborts. @default an interval does, the first time at once */
  readonly cron?: ((work: () => Promise<void>, signal: AbortSignal) => void) | undefined;
  /** Begins also with an environment that is not complete, and says so in its answers. @default false */
  readonly patient?: boolean | undefined;
}

/** From when handlers are told to stop until the server has closed, ms: time to settle what they leave. */
const LAST = 2_000;

/** How long the platform's cron waits for consumers, ms, so that it does not stop an idle instance that works. */
const CRON_WAITS = 50_000;

const OPTIONS = [
  "consumers",
  "fetch",
  "budget",
  "env",
  "port",
  "hostname",
  "every",
  "grace",
  "signals",
] as const satisfies readonly (keyof ServeOptions)[];

/**
 * Starts a deployment in a process that lives on. Any number of such processes may stand side by side.
 * @throws {SluiceError} `invalid_argument`, `not_installed`; what the runtime throws where it cannot listen
 */
export async function start<Env extends object>(
  runtime: Runtime,
  options: ServeOptions<Env>,
): Promise<Server> {
  onlyOptions(options, OPTIONS);
  const { hostname, signals = true, consumers, fetch: own, budget = "1h" } = options;
  const env = options.env ?? (process.env as Environment as Env);
  const port = wholeNumber(options.port ?? readPort(env as Environment) ?? 8787, "port", 0, 65_535);
  const every = milliseconds(options.every ?? "1m", "every", { min: 1_000, max: 86_400_000 });
  const grace = milliseconds(options.grace ?? runtime.grace, "grace", { max: 3_600_000 });

  const [closing, ending] = [new AbortController(), new AbortController()];
  const pendingWork = new PendingWork();
  let transport: (Transport & { close?(): Promise<void> }) | undefined;
  const deployment = new Deployment<Env>({ consumers, fetch: own, budget }, () => ({
    transport: (redis) => (transport = "redisUrl" in redis ? resp(redis.redisUrl) : upstash(redis)),
    budget,
    afterResponse: "any",
    coalesce: "in-flight",
    ending: { closing: closing.signal, signal: ending.signal },
  }));
  if (!runtime.patient) deployment.service(env);

  const answer = (request: Request): Promise<Response> =>
    deployment.fetch(request, env, pendingWork.add).catch((error: unknown) => {
      console.error(error);
      return new Response("Internal Server Error", { status: 500 });
    });
  const cron = async (): Promise<void> => {
    try {
      await deployment.service(env).cron(every, pendingWork.add);
    } catch (error) {
      if (!closing.signal.aborted) throw error;
    }
  };
  const platformCron = options.every === undefined ? runtime.cron : undefined;
  // Before anything is awaited: who looks for what is scheduled looks no later.
  platformCron?.(async () => {
    await cron();
    await endsWithin(CRON_WAITS, pendingWork.settled());
  }, closing.signal);

  let listener: Listener;
  try {
    // So that a package that is missing ends the start, not each request.
    if (transport?.close) await loadRedisClient();
    listener = await runtime.listen(answer, { port, hostname });
  } catch (error) {
    closing.abort();
    await transport?.close?.();
    throw error;
  }
  if (!platformCron) repeat(cron, every, closing.signal, pendingWork);

  const end = async () => {
    closing.abort();
    const ended = Promise.all([listener.stop(), pendingWork.settled()]);
    const inTime = await endsWithin(grace, ended);
    const last = performance.now() + LAST;
    if (!inTime) {
      ending.abort();
      listener.drop?.();
      await endsWithin(LAST, ended);
    }
    if (transport?.close) await endsWithin(Math.max(0, last - performance.now()), transport.close());
  };
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => {
    for (const signal of SIGNALS) process.off(signal, endProcess);
    return (closed ??= end());
  };
  const endProcess = () => void close().finally(() => process.exit());
  if (signals) for (const signal of SIGNALS) process.on(signal, endProcess);

  return { url: urlOf(listener.port, hostname), close };
}

/** What asks a process to end. Of a second one, while it closes, it dies. */
const SIGNALS = ["SIGTERM", "SIGINT"] as const;

/** At once, and from then on every so often, but not while the last time goes on. */
function repeat(
  work: () => Promise<void>,
  every: number,
  signal: AbortSignal,
  pendingWork: PendingWork,
): void {
  let busy = false;
  const turn = () => {
    if (busy) return;
    busy = true;
    const ended = work()
      .catch((error: unknown) => console.error(JSON.stringify({ cron: messageOf(error) })))
      .finally(() => (busy = false));
    pendingWork.add(ended);
  };
  turn();
  const timer = setInterval(turn, every);
  signal.addEventListener("abort", () => clearInterval(timer));
}

function urlOf(port: number, hostname = ""): string {
  if (["", "0.0.0.0", "::"].includes(hostname)) return `http://localhost:${port}`;
  return `http://${hostname.includes(":") ? `[${hostname}]` : hostname}:${port}`;
}
