import { readFileSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { asker, type Ask } from "../../http/served.ts";
import { startWorker } from "../../../tools/workerd/harness.ts";
import { useWorker } from "./rig.ts";

// A Worker with the Durable Object SluiceAlarm starts what is due at its time. Its cron never runs here.

/** How late a task may start, ms: usually some hundredths of a second. */
const PROMPT = 30_000;

const rig = useWorker("test/platforms/cloudflare/alarm.toml");
const ask: Ask = (...args) => rig.ask(...args);

const tasks = "/v1/queues/due/tasks";

/** Waits until a task has completed, and returns when it was enqueued, requeued and begun, by Redis's clock. */
async function timesOf(id: string) {
  const found = async () => (await ask("GET", `${tasks}/${id}`)).body;
  await expect.poll(async () => (await found()).state, { timeout: 60_000 }).toBe("completed");
  const { enqueuedAt, requeuedAt, transitions } = await found();
  const begun = (transitions as { to: string; at: number }[]).filter(({ to }) => to === "working");
  return { enqueuedAt, requeuedAt, begun: begun.map(({ at }) => at) };
}

const expectPrompt = (due: number, begun: number | undefined) => {
  expect((begun ?? 0) - due).toBeGreaterThanOrEqual(0);
  expect((begun ?? 0) - due).toBeLessThan(PROMPT);
};

test("delayed tasks start when they are due, several and one after the other", async () => {
  const delays = [6, 2, 4, 4];
  const ids: string[] = [];
  for (const seconds of delays) {
    const { status, body } = await ask("POST", tasks, { json: { payload: 1, delay: `${seconds}s` } });
    expect(status).toBe(201);
    ids.push(body.id);
  }
  for (const [i, seconds] of delays.entries()) {
    const { enqueuedAt, begun } = await timesOf(ids[i] ?? "");
    expectPrompt(enqueuedAt + seconds * 1_000, begun[0]);
  }
});

test("a failed task is tried again when its backoff is over", async () => {
  await ask("POST", tasks, { json: { payload: "flaky", id: "flaky" } });
  const { requeuedAt, begun } = await timesOf("flaky");
  expect(begun).toHaveLength(2);
  expectPrompt(requeuedAt + 7_000, begun[1]);
});

test("an occurrence of a schedule is enqueued at its time", async () => {
  const from = Date.now() + 3_000;
  const json = { every: "1d", from, payload: 1 };
  expect((await ask("PUT", "/v1/queues/due/schedules/nine", { json })).status).toBe(201);
  expectPrompt(from, (await timesOf(`nine.${from}`)).begun[0]);
});

test("a dead letter that is redriven starts after the response", async () => {
  const { body } = await ask("POST", tasks, { json: { payload: "flaky", id: "dead", maxAttempts: 1 } });
  expect(body.created).toBe(true);
  await expect.poll(async () => (await ask("GET", `${tasks}/dead`)).body.state).toBe("rejected");
  await ask("POST", "/v1/queues/due/redrive", { json: { ids: ["dead"] } });
  expect((await timesOf("dead")).begun).toHaveLength(2);
});

test("the object and the RPC method have no path", async () => {
  for (const path of ["/ringSluice", "/v1/ringSluice"]) {
    expect((await ask("POST", path, { json: { queues: ["due"] } })).status).toBe(404);
  }
});

test("a producer in a Worker of its own shares the object of the Worker with the consumers", async () => {
  const config = "test/platforms/cloudflare/producer.toml";
  const others = ["test/platforms/cloudflare/alarm.toml"];
  const producer = await startWorker(config, rig.place.env, others);
  onTestFinished(() => producer.server.close());
  const json = { payload: 1, id: "from-elsewhere", delay: "3s" };
  expect((await asker(producer.fetch)("POST", tasks, { json })).status).toBe(201);
  const { enqueuedAt, begun } = await timesOf("from-elsewhere");
  expectPrompt(enqueuedAt + 3_000, begun[0]);
});

test("the configuration is the one that the page on Cloudflare has", () => {
  const read = (path: string) => readFileSync(new URL(path, import.meta.url), "utf8");
  const blocks = [...read("../../../docs/platforms/cloudflare-wakes.md").matchAll(/```toml\n([\s\S]*?)```/g)];
  const ofAlarm = blocks.map(([, block = ""]) => block).filter((block) => block.includes("SLUICE_ALARM"));
  expect(ofAlarm).toHaveLength(2);
  expect(read("alarm.toml")).toContain(ofAlarm[0]);
  expect(read("producer.toml").replace('script_name = "alarm"', 'script_name = "welcome"')).toContain(
    ofAlarm[1],
  );
});
