// A deployment: the HTTP interface, cron each second, and the consumers of declared queues. Its style: `node` is
// serve() of Node; `lambda` a Lambda function, and `edge` one of Vercel, which this process invokes for each HTTP request
// and for cron. The last one works after its responses, and enqueues what is posted to `/lone`.

import { type LambdaHandler, sluice } from "../../../serverless/lambda.ts";
import { serve } from "../../../serverless/node.ts";
import { sluice as vercel } from "../../../serverless/vercel.ts";
import { listen } from "../../../src/deploy/process/node-listener.ts";
import { defineQueue, type NewTask } from "../../../src/index.ts";
import { contextOf, invoke } from "../../support/lambda.ts";
import { noteFetch } from "./noted-fetch.ts";
import { RunProcess } from "./run-process.ts";
import { BACKOFF, type Errand, LEASE, QUEUES, work } from "./work.ts";

/** How long an invocation of the function may take, ms. */
const TIMEOUT = 5_000;

/** What a line says if Redis, or the consumer to wake, was out of reach. */
const REACH = /redis_unreachable|gave no useful answer|did not answer|aborted|fetch failed/;

const runProcess = new RunProcess();
const { env, style, ending } = runProcess;
noteFetch(runProcess);
noteFailures();
const port = Number(new URL(env.CHAOS_SERVER).port);
const partitions = Number(env.CHAOS_PARTITIONS);
const { recalled: _, ...consumed } = QUEUES;
const consumers = Object.values(consumed).map((name) =>
  defineQueue<Errand>(name, {
    partitions,
    ...(name === QUEUES.ordered && { order: "strict" }),
  }).consumer((task) => work(task, runProcess), {
    lease: LEASE,
    batch: 8,
    concurrency: 4,
    backoff: BACKOFF,
  }),
);
const variables = {
  UPSTASH_REDIS_REST_URL: env.CHAOS_GATEWAY,
  UPSTASH_REDIS_REST_TOKEN: env.CHAOS_TOKEN,
  SLUICE_TOKENS: JSON.stringify([{ token: env.CHAOS_TOKEN, scopes: ["enqueue", "admin"], queues: "*" }]),
};
if (style === "node") {
  await serve({ env: variables, consumers, port, hostname: "127.0.0.1", every: "1s", grace: "4s" });
} else {
  const waking = {
    SLUICE_WAKE_URL: `${env.CHAOS_SERVER}/wake`,
    SLUICE_WAKE_SECRET: `whsec_${Buffer.from(env.CHAOS_TOKEN).toString("base64")}`,
  };
  Object.assign(process.env, variables, waking, { CRON_SECRET: env.CHAOS_TOKEN });
  await (style === "lambda" ? serveLambda(sluice({ consumers })) : serveEdge());
}

/** Writes down each failure that the deployment logs, except that Redis was out of reach. */
function noteFailures(): void {
  for (const level of ["warn", "error"] as const) {
    const log = console[level];
    console[level] = (...line) => {
      log(...line);
      const error = String(line[0]);
      if (/"(?:sweep|declared|drain|wake|cron)":/.test(error) && !REACH.test(error))
        runProcess.ledger.write({ what: "broken", error: `it logged ${error}` });
    };
  }
}

function serveLambda(handler: LambdaHandler): Promise<void> {
  return serveFunction(
    (request, track) => track(invoke(handler, request, TIMEOUT)),
    () => handler({ "detail-type": "Scheduled Event" }, contextOf(TIMEOUT)),
  );
}

function serveEdge(): Promise<void> {
  const { POST: handler } = vercel({
    consumers,
    budget: TIMEOUT,
    fetch: async (request, { queue }) => {
      const tasks = (await request.json()) as NewTask<Errand>[];
      return Response.json(await queue<Errand>(QUEUES.lone, { resultTtl: "1m" }).enqueueMany(tasks));
    },
  });
  const call = (request: Request, track: Track) =>
    track(handler(request, { waitUntil: (work) => void track(work).catch(console.error) }));
  const headers = { authorization: `Bearer ${env.CHAOS_TOKEN}` };
  return serveFunction(call, (track) =>
    call(new Request(`${env.CHAOS_SERVER}/v1/sweep`, { headers }), track),
  );
}

/** Takes note of what an invocation does until it ends. */
type Track = <T>(work: Promise<T>) => Promise<T>;

/** Invokes a function for each request to the port, and for cron. */
async function serveFunction(
  call: (request: Request, track: Track) => Promise<Response>,
  cron: (track: Track) => Promise<unknown>,
): Promise<void> {
  const underWay = new Set<Promise<unknown>>();
  const track: Track = (work) => {
    underWay.add(work);
    return work.finally(() => underWay.delete(work));
  };
  const fetch = (request: Request) =>
    call(request, track).catch((error: unknown) => {
      console.error(error);
      // As AWS does if a function throws.
      return new Response(null, { status: 502 });
    });
  const server = await listen(fetch, { port, hostname: "127.0.0.1" });
  const timer = setInterval(() => void track(cron(track)).catch(console.error), 1_000);
  ending.addEventListener("abort", () => {
    clearInterval(timer);
    void server.stop();
    void Promise.allSettled(underWay).then(() => process.exit(0));
  });
}
