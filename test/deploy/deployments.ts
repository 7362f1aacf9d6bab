import { afterEach, beforeEach, vi } from "vitest";
import type { AlarmKind } from "../../src/deploy/alarms.ts";
import { onDemand } from "../../src/deploy/on-demand.ts";
import { Service, type Platform, type ServiceOptions } from "../../src/deploy/service.ts";
import { Queue, type DeadLetter, type EnqueueOptions } from "../../src/index.ts";
import { MARKER } from "../support/encrypting.ts";
import type { Rig } from "../support/rig.ts";
import { scriptsAt } from "../support/scripts-clock.ts";
import { useSimulatedTime } from "../support/simulated-time.ts";

const TOKEN = "all-0123456789abcdef";

/** The environment of the deployments. */
export const env = {
  UPSTASH_REDIS_REST_URL: "https://redis.test",
  UPSTASH_REDIS_REST_TOKEN: "t",
  SLUICE_TOKENS: JSON.stringify([{ token: TOKEN, scopes: ["enqueue", "consume", "admin"], queues: "*" }]),
  MAIL_URL: "m",
};

/** The secret of wakes. */
export const SLUICE_WAKE_SECRET = `whsec_${btoa("a secret of at least 24 bytes")}`;

/** A binding that accepts each wake, and the wakes that it got. */
export function wakeBinding() {
  const woken: unknown[] = [];
  const wakeFetch = async (request: Request) => {
    woken.push(((await request.json()) as { data: unknown }).data);
    return new Response(null, { status: 202 });
  };
  return { woken, wakeFetch };
}

/** Deployments over the Redis of a rig, in simulated time, and what they log and report. */
export function useDeployments(rig: Rig) {
  const time = useSimulatedTime(rig);
  beforeEach(() => void (rig.transport = scriptsAt(rig.transport, () => rig.now)));
  const lines: { out: unknown[]; err: Readonly<Record<string, unknown>>[] } = { out: [], err: [] };
  const letters: DeadLetter[] = [];
  /** The alarms that were set: kind, queue, and the time from then, h. */
  const alarms: [AlarmKind, string, number][] = [];
  beforeEach(() => {
    for (const list of [lines.out, lines.err, letters, alarms]) list.splice(0);
    vi.spyOn(console, "info").mockImplementation((line) => lines.out.push(JSON.parse(String(line))));
    for (const level of ["warn", "error"] as const) {
      vi.spyOn(console, level).mockImplementation((line) => lines.err.push(JSON.parse(String(line))));
    }
  });
  afterEach(() => void vi.restoreAllMocks());

  const queue = (name = "emails") => new Queue(name, { transport: rig.transport });

  function deployment<Env extends object = typeof env>(
    options: ServiceOptions<Env> = {},
    platform: Partial<Platform> = {},
    more: Readonly<Record<string, string>> = {},
  ) {
    const service = new Service<Env>(
      { ...env, ...more } as Env,
      { onDeadLetter: (letter) => void letters.push(letter), ...options },
      { transport: () => rig.transport, onDemand, budget: "10s", afterResponse: "bounded", ...platform },
    );
    const after: Promise<unknown>[] = [];
    const request = (path: string, json?: unknown, method = json === undefined ? "GET" : "POST") =>
      new Request(`https://sluice.test${path}`, {
        method,
        headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
        ...(json !== undefined && { body: JSON.stringify(json) }),
      });
    return {
      service,
      cron: () => service.cron(),
      ring: (kind: AlarmKind, name = "emails") => service.ring(kind, name),
      /** A request of a platform with `waitUntil`. */
      call: (path = "/", json?: unknown, method?: string) =>
        service.fetch(request(path, json, method), (promise) => void after.push(promise)),
      /** A request of a platform without. */
      callAlone: (path = "/", json?: unknown) => service.fetch(request(path, json)),
      /** Waits for what runs after responses. */
      async ended() {
        for (let i = 0; i < after.length; i++) await after[i];
      },
    };
  }

  /** Enqueues a task with one attempt. */
  const enqueue = (id: string, options: EnqueueOptions = {}) =>
    queue().enqueue(MARKER, { id, maxAttempts: 1, ...options });

  return {
    /** The same promise, until which no time passes. */
    during: <T>(promise: Promise<T>) => time.during(promise),
    lines,
    letters,
    alarms,
    /** Of a platform with alarms. */
    withAlarms: {
      alarms: () => ({
        set: (kind: AlarmKind, name: string, ms: number) =>
          void alarms.push([kind, name, Math.round(ms / 3_600_000)]),
      }),
    },
    queue,
    deployment,
    enqueue,
    /** Leases tasks on their only attempt, and lets their leases expire. */
    async expire(...ids: string[]) {
      for (const id of ids) await enqueue(id);
      await queue().dequeue({ max: ids.length, lease: 1 });
      rig.now += 1;
    },
    /** Leases a task, and returns its receipt. */
    async receiptOf(id: string) {
      await enqueue(id);
      return (await queue().dequeue())[0]?.receipt ?? "";
    },
    /** Waits until a queue has no more work. */
    idle: (name = "emails") =>
      vi.waitUntil(
        async () => {
          const { pending, delayed, working } = await queue(name).counts();
          return pending + delayed + working === 0;
        },
        { timeout: 60_000, interval: 5 },
      ),
  };
}

/** A consumer of the queue whose handler throws. */
export const failing = (thrown: () => unknown) => ({
  emails: () => {
    throw thrown();
  },
});
