import { afterEach, beforeEach, vi } from "vitest";
import { Service, type Platform, type ServiceOptions } from "../../../serverless/deployment/service.ts";
import type { DeadLetter, EnqueueOptions } from "../../../src/index.ts";
import { MARKER } from "../../support/encrypting.ts";
import type { Rig } from "../../support/rig.ts";

const TOKEN = "all-0123456789abcdef";

/** The environment of the deployments. */
export const env = {
  UPSTASH_REDIS_REST_URL: "https://redis.test",
  UPSTASH_REDIS_REST_TOKEN: "t",
  SLUICE_TOKENS: JSON.stringify([{ token: TOKEN, scopes: ["enqueue", "consume", "admin"], queues: "*" }]),
};

/** Tasks that become dead letters in a deployment, and what it logs and reports to its hook. */
export function useDeployment(rig: Rig) {
  const lines: { out: unknown[]; err: Readonly<Record<string, unknown>>[] } = { out: [], err: [] };
  const letters: DeadLetter[] = [];
  beforeEach(() => {
    for (const list of [lines.out, lines.err, letters]) list.splice(0);
    vi.spyOn(console, "log").mockImplementation((line) => lines.out.push(JSON.parse(String(line))));
    vi.spyOn(console, "error").mockImplementation((line) => lines.err.push(JSON.parse(String(line))));
  });
  afterEach(() => void vi.restoreAllMocks());

  const queue = () => rig.queue({ now: undefined });

  function deployment(options: ServiceOptions = {}, platform: Partial<Platform> = {}) {
    const service = new Service(
      env,
      { onDeadLetter: (letter) => void letters.push(letter), ...options },
      { transport: () => rig.transport, budget: "10s", afterResponse: "bounded", ...platform },
    );
    const after: Promise<unknown>[] = [];
    const request = (path: string, json?: unknown) =>
      new Request(`https://sluice.test${path}`, {
        method: json === undefined ? "GET" : "POST",
        headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" },
        ...(json !== undefined && { body: JSON.stringify(json) }),
      });
    return {
      cron: () => service.cron(),
      /** A request of a platform with `waitUntil`. */
      call: (path: string, json?: unknown) =>
        service.fetch(request(path, json), (promise) => void after.push(promise)),
      /** A request of a platform without. */
      callAlone: (path: string, json?: unknown) => service.fetch(request(path, json)),
      /** Waits for what runs after responses. */
      after: () => Promise.all(after),
    };
  }

  /** Enqueues a task with one attempt. */
  const enqueue = (id: string, options: EnqueueOptions = {}) =>
    queue().enqueue(MARKER, { id, maxAttempts: 1, ...options });

  return {
    lines,
    letters,
    queue,
    deployment,
    enqueue,
    /** Leases tasks on their only attempt, and lets their leases expire. */
    async expire(...ids: string[]) {
      for (const id of ids) await enqueue(id);
      const tasks = await queue().dequeue({ max: ids.length, lease: 1 });
      const last = Math.max(...tasks.map(({ deadlineAt }) => deadlineAt));
      await vi.waitUntil(() => Date.now() > last + 1);
    },
    /** Leases a task, and returns its receipt. */
    async receiptOf(id: string) {
      await enqueue(id);
      return (await queue().dequeue())[0]?.receipt ?? "";
    },
  };
}

/** A consumer of the queue whose handler throws. */
export const failing = (thrown: () => unknown) => ({
  emails: () => {
    throw thrown();
  },
});
