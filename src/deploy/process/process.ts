import process from "node:process";
import { type Environment, readPort } from "../../config.ts";
import { milliseconds } from "../../kernel/options/duration.ts";
import { pick } from "../../pick.ts";
import { isPortInUse } from "../../port-in-use.ts";
import { onlyOptions, trueOrFalse, wholeNumber } from "../../kernel/options/validation.ts";
import type { Transport } from "../../kernel/transport.ts";
import { endsWithin, sleep } from "../../sleep.ts";
import { loadRedisClient } from "../../transports/resp-client.ts";
import { resp } from "../../transports/resp.ts";
import { upstash } from "../../transports/upstash.ts";
import { cronFailed, fetchFailed, graceOver, wakeFailed } from "../../log/lines.ts";
import { withCompressedFile } from "../compressed-file.ts";
import { untilClosing } from "./event-streams.ts";
import { onDemand } from "../on-demand.ts";
import { PendingWork } from "../pending-work.ts";
import { SERVICE_OPTIONS } from "../options.ts";
import { Deployment } from "../deployment.ts";
import type { AlarmKind } from "../alarms.ts";
import type { InvocationTools } from "../invocation.ts";
import { operatorOf } from "../../open/operator.ts";
import { fewerWakeFailures } from "./fewer-wake-failures.ts";
import { ownWorker } from "./own-worker.ts";
import { ProcessAlarms } from "./process-alarms.ts";
import { SideBySide } from "./side-by-side.ts";
import type { Listener, Runtime, ServeOptions, Server } from "./types.ts";

/** The time to settle the tasks of aborted handlers, before the server closes, ms. */
const ABORT_TIME = 2_000;

/** A server that closes may take so long to leave the lists of workers, ms. */
const SIGN_OFF_TIME = 1_000;

/** An alarm is set for what is due within a sweep's interval and this time, ms: later sweeps set the others. */
const SWEEP_OVERLAP = 60_000;

/**
 * How long the platform's cron waits for consumers, ms. If cron ended first, the platform might stop the
 * instance while they work.
 */
const CRON_WAIT = 50_000;

const OPTIONS = [
  ...SERVICE_OPTIONS,
  "env",
  "port",
  "hostname",
  "every",
  "grace",
  "worker",
  "signals",
] as const satisfies readonly (keyof ServeOptions)[];

/**
 * Starts a deployment in a long-running process. Any number of such processes can run at the same time.
 * @throws {SluiceError} `invalid_argument`, `not_installed`; and the runtime's error if it cannot listen
 */
export async function start<Env extends object>(
  runtime: Runtime,
  options: ServeOptions<Env>,
): Promise<Server> {
  onlyOptions(options, OPTIONS);
  const { hostname, signals = true, budget = "1h" } = options;
  const env = options.env ?? (process.env as Environment as Env);
  const port = wholeNumber(options.port ?? readPort(env as Environment) ?? 8787, "port", 0, 65_535);
  const every = milliseconds(options.every ?? "1m", "every", { min: 1_000, max: 86_400_000 });
  const grace = milliseconds(options.grace ?? runtime.grace, "grace", { max: 3_600_000 });
  const isNamed = options.worker === undefined ? undefined : trueOrFalse(options.worker, "worker");

  const [closing, ending] = [new AbortController(), new AbortController()];
  const pendingWork = new PendingWork();
  const ring = (kind: AlarmKind, queue: string) => {
    const handled = deployment.service(env).ring(kind, queue);
    pendingWork.add(handled.catch((error: unknown) => log(wakeFailed(queue, error))));
  };
  const alarms = new ProcessAlarms({ horizon: every + SWEEP_OVERLAP, ring });
  closing.signal.addEventListener("abort", () => alarms.close());
  const others = new SideBySide();
  const worker = ownWorker(runtime.host?.(), process.pid, every);
  let transport: (Transport & { close?(): Promise<void> }) | undefined;
  const namesWorker = () => isNamed ?? transport?.connected;
  const calm = fewerWakeFailures();
  const deployment = new Deployment<Env>(
    { ...pick(options, SERVICE_OPTIONS), budget },
    {
      transport: (redis) =>
        (transport = "redisUrl" in redis ? resp({ REDIS_URL: redis.redisUrl }) : upstash(redis)),
      onDemand,
      budget,
      log: calm,
      afterResponse: "any",
      waitUntil: pendingWork.add,
      coalesce: "in-flight",
      get drains() {
        return { closing: closing.signal, signal: ending.signal, ...(namesWorker() && { worker }) };
      },
      alarms: () => alarms,
      sharing: others.sharing,
      wake: (config, toRedis) => others.waker(env as Environment, config, toRedis),
    },
  );
  const log = calm(deployment.log);
  /** Hears the wakes of other processes from the first call on that finds the environment complete. */
  const hear = (): void => {
    const queues = deployment.service(env).consumedQueues;
    others.hear({ queues, start: (queue) => ring("wake", queue), alarms, log, signal: closing.signal });
  };
  if (!runtime.startsUnconfigured) deployment.service(env);

  const handle = async (request: Request): Promise<Response> => {
    try {
      return untilClosing(closing.signal, await deployment.fetch(request, env, pendingWork.add));
    } catch (error) {
      log(fetchFailed(error));
      return new Response("Internal Server Error", { status: 500 });
    }
  };
  const listening = options.dashboard
    ? async (request: Request) => withCompressedFile(request, await handle(request))
    : handle;
  const cron = async (): Promise<void> => {
    try {
      hear();
      await deployment.service(env).cron(every, pendingWork.add);
    } catch (error) {
      if (!closing.signal.aborted) throw error;
    }
  };
  /** Says that this process lives, so that the lists of workers also have it while it is idle. */
  const beat = async (): Promise<void> => {
    try {
      const service = deployment.service(env);
      if (namesWorker()) await service.beat(worker, closing.signal);
    } catch {
      // The environment is incomplete: the sweep says so.
    }
  };
  const platformCron = options.every === undefined ? runtime.cron : undefined;
  // Before any await: Deno Deploy looks for cron jobs only while the module loads.
  platformCron?.(async () => {
    const end = performance.now() + CRON_WAIT;
    await cron();
    await idle(end);
  }, closing.signal)?.catch((error: unknown) => log(cronFailed(error)));

  /** Waits for the consumers, and for alarms that ring before the end. */
  const idle = async (end: number): Promise<void> => {
    for (;;) {
      const inTime = await endsWithin(Math.max(end - performance.now(), 0), pendingWork.settled());
      const next = alarms.next;
      if (!inTime || next === undefined || performance.now() + next > end) return;
      await sleep(next, closing.signal);
    }
  };

  let listener: Listener;
  try {
    // A missing package must fail the start, not each request.
    if (transport?.close) await loadRedisClient();
    listener = await runtime.listen(listening, { port, hostname });
  } catch (error) {
    closing.abort();
    deployment.close();
    await transport?.close?.();
    throw withPort(error, port);
  }
  repeat(beat, every, closing.signal, pendingWork);
  const loggedCron = () => cron().catch((error: unknown) => log(cronFailed(error)));
  if (!platformCron) repeat(loggedCron, every, closing.signal, pendingWork);
  else {
    try {
      hear();
    } catch {
      // The environment is incomplete: responses say so.
    }
  }

  /**
   * Takes this process off the lists of workers, if Redis answers soon. Else it leaves them once it is gone. If it still
   * has tasks, as after a settle that failed, it stays, and its leases expire.
   */
  const leave = async (): Promise<void> => {
    const service = deployment.service(env);
    const signal = AbortSignal.timeout(SIGN_OFF_TIME);
    const signedOff = [...service.consumedQueues].map((queue) =>
      operatorOf(service.open(queue)).forgetWorker(worker, { signal }),
    );
    await endsWithin(SIGN_OFF_TIME, Promise.allSettled(signedOff));
  };

  const end = async () => {
    closing.abort();
    // The last requests may add work.
    const ended = listener.stop().then(() => pendingWork.settled());
    const inTime = await endsWithin(grace, ended);
    const deadline = performance.now() + ABORT_TIME;
    if (!inTime) {
      log(graceOver(grace));
      ending.abort();
      listener.drop?.();
      await endsWithin(ABORT_TIME, ended);
    } else if (namesWorker()) await leave().catch(() => {});
    deployment.close();
    if (transport?.close) await endsWithin(Math.max(0, deadline - performance.now()), transport.close());
  };
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => {
    for (const signal of SIGNALS) process.off(signal, endProcess);
    return (closed ??= end().finally(() => endedBySignals.delete(server)));
  };
  const endProcess = () => void close().finally(() => endedBySignals.size > 0 || process.exit());
  let own: InvocationTools<Env> | undefined;
  const ofProcess = () => (own ??= deployment.service(env).toolsOutside(pendingWork.add));
  const server: Server = {
    url: urlOf(listener.port, hostname),
    queue: (queue, given) => ofProcess().tools.queue(queue, given),
    schedules: (queue, given) => ofProcess().tools.schedules(queue, given),
    topic: (topic) => ofProcess().tools.topic(topic),
    operator: (queue) => operatorOf(ofProcess().open(queue)),
    close,
  };
  if (signals) {
    endedBySignals.add(server);
    for (const signal of SIGNALS) process.on(signal, endProcess);
  }
  return server;
}

/** The error of a server that cannot listen. If its port is in use, the message says how to choose another one. */
function withPort(error: unknown, port: number): unknown {
  if (isPortInUse(error)) {
    error.message = `port ${port} is in use (EADDRINUSE); set PORT or the option port to another one, or to 0 for any free one`;
  }
  return error;
}

/** The running servers of this process that signals close. The process ends with the last of them. */
const endedBySignals = new Set<Server>();

/** The signals that close the server. A second one during the close ends the process at once. */
const SIGNALS = ["SIGTERM", "SIGINT"] as const;

/** Runs work at once and then at each interval, unless the previous run is still going. */
function repeat(
  work: () => Promise<void>,
  every: number,
  signal: AbortSignal,
  pendingWork: PendingWork,
): void {
  let busy = false;
  const runOnce = () => {
    if (busy) return;
    busy = true;
    const ended = work().finally(() => (busy = false));
    pendingWork.add(ended);
  };
  runOnce();
  const timer = setInterval(runOnce, every);
  signal.addEventListener("abort", () => clearInterval(timer));
}

function urlOf(port: number, hostname = ""): string {
  if (["", "0.0.0.0", "::"].includes(hostname)) return `http://localhost:${port}`;
  return `http://${hostname.includes(":") ? `[${hostname}]` : hostname}:${port}`;
}
