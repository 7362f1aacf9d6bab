import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { listen } from "../../../src/deploy/process/node-listener.ts";
import { resp } from "../../../src/transports/resp.ts";
import { Queue } from "../../../src/index.ts";
import { secrets, tokens } from "../../http/served.ts";
import { startRedis, type TestRedis } from "../../support/redis.ts";
import { wakeSecret } from "../place.ts";
import { end, Project, type ServerProcess } from "../project.ts";
import type { Runtime } from "./server.ts";

/** The tasks that have begun and ended, as their handlers report. */
async function openLedger() {
  const reported: Record<"begun" | "ended", string[]> = { begun: [], ended: [] };
  const answer = async ({ url }: Request) => {
    const [, what, id = ""] = new URL(url).pathname.split("/");
    reported[what as "begun"].push(id);
    return new Response();
  };
  const { port, stop } = await listen(answer, { port: 0, hostname: "127.0.0.1" });
  return { ...reported, url: `http://127.0.0.1:${port}/`, close: stop };
}

/** How a server ends when it is asked to, whatever it is doing; with Redis over TCP. */
export function endsInOrder(runtime: Runtime, command: string): void {
  describe(`${runtime}, asked to end`, () => {
    let project: Project;
    let redis: TestRedis;
    let ledger: Awaited<ReturnType<typeof openLedger>>;
    let queue: Queue<{ ms: number; stops?: boolean }>;
    let transport: ReturnType<typeof resp>;
    let test = 0;

    beforeAll(async () => {
      project = await Project.open();
      await project.copy("test/platforms/process/slow.ts");
      await project.write(
        "main.ts",
        `import process from "node:process";
         import { serve } from "sluice-queue/${runtime}";
         import { slow } from "./slow.ts";
         await serve(slow(process.env));`,
      );
      redis = await startRedis();
      transport = resp(redis.url);
    });
    beforeEach(async () => {
      ledger = await openLedger();
      test++;
      queue = new Queue("work", { transport, prefix: `test-${test}` });
    });
    afterEach(() => ledger.close());
    afterAll(async () => {
      await project.close();
      await transport.close();
      await redis.stop();
    });

    const start = (env: Record<string, string> = {}): Promise<ServerProcess> =>
      project.start(command, {
        REDIS_URL: redis.url,
        SLUICE_PREFIX: `test-${test}`,
        SLUICE_TOKENS: JSON.stringify(tokens),
        LEDGER_URL: ledger.url,
        ...env,
      });
    const enqueue = async (server: ServerProcess, work: readonly object[]) => {
      const response = await fetch(`${server.url}/v1/queues/work/tasks`, {
        method: "POST",
        headers: { authorization: `Bearer ${secrets.all}`, "content-type": "application/json" },
        body: JSON.stringify({ tasks: work.map((payload, i) => ({ payload, id: `t${i}` })) }),
      });
      expect(response.status).toBe(201);
    };
    const ids = (count: number) => Array.from({ length: count }, (_, i) => `t${i}`).toSorted();
    const begun = (least: number) =>
      expect.poll(() => ledger.begun.length, { timeout: 20_000 }).toBeGreaterThanOrEqual(least);

    it("finishes the tasks that it has begun and hands back the rest to another server: each task is done once", async () => {
      const first = await start();
      await enqueue(
        first,
        Array.from({ length: 40 }, () => ({ ms: 200 })),
      );
      await begun(5);
      await end(first);
      expect(ledger.ended.toSorted()).toEqual(ledger.begun.toSorted());
      const left = ids(40).filter((id) => !ledger.ended.includes(id));
      expect(left.length).toBeGreaterThan(0);
      expect(await queue.counts()).toMatchObject({ pending: left.length, working: 0, delayed: 0 });

      const second = await start();
      await expect.poll(() => ledger.ended.length, { timeout: 20_000 }).toBe(40);
      await end(second);
      expect(ledger.begun.toSorted()).toEqual(ids(40));
      expect(ledger.ended.toSorted()).toEqual(ids(40));
      for (const id of ids(40)) {
        expect(await queue.get(id)).toMatchObject({ state: "completed", charged: 1 });
      }
    });

    it("leaves its work to another server, which it wakes if it has its address", async () => {
      // Only that wake starts the other server: it does not sweep, and hears nothing through Redis.
      const patient = {
        SLUICE_WAKE_SECRET: wakeSecret,
        SLUICE_WAKE_PUBSUB: "off",
        EVERY: "1h",
        GRACE: "7s",
      };
      const other = await start(patient);
      const one = await start({ ...patient, SLUICE_WAKE_URL: `${other.url}/wake` });
      await enqueue(
        one,
        Array.from({ length: 8 }, () => ({ ms: 1_000 })),
      );
      await begun(3);
      await end(one);
      expect(one.printed()).toMatch(/"drain":"work","completed":3,.*"handedBack":0,.*"ended":"aborted"/);
      await expect.poll(() => ledger.ended.length, { timeout: 20_000 }).toBe(8);
      await end(other);
      expect([ledger.begun.toSorted(), ledger.ended.toSorted()]).toEqual([ids(8), ids(8)]);
    });

    it("stops handlers when the grace is over, and ends even if they do not stop", async () => {
      const server = await start({ GRACE: "200ms" });
      await enqueue(server, [
        { ms: 60_000, stops: true },
        { ms: 60_000, stops: false },
      ]);
      await begun(2);
      const unanswered = fetch(`${server.url}/never`).catch(() => "dropped");
      await end(server);
      expect(await unanswered).toBe("dropped");
      for (const id of ids(2)) {
        expect(await queue.get(id)).toMatchObject({
          state: "delayed",
          charged: 1,
          error: { name: "StoppedError" },
        });
      }
      expect(ledger.ended).toEqual([]);
    });

    it("answers the requests that are under way, and accepts no others", async () => {
      const server = await start();
      const late = fetch(`${server.url}/late`);
      await new Promise((resolve) => setTimeout(resolve, 100));
      const ended = end(server);
      expect(await (await late).text()).toBe("late");
      await ended;
      await expect(fetch(server.url)).rejects.toThrow("fetch failed");
    });

    it("dies at once of a second signal", async () => {
      const server = await start();
      await enqueue(server, [{ ms: 60_000 }]);
      await begun(1);
      server.kill("SIGTERM");
      await expect.poll(() => fetch(server.url).catch(() => "gone"), { timeout: 10_000 }).toBe("gone");
      server.kill("SIGTERM");
      expect(await server.ended).toMatchObject({ description: "was ended by SIGTERM" });
    });
  });
}
