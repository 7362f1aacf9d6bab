import { expect, it, onTestFinished } from "vitest";
import { openapi } from "../../../src/http/docs/openapi.gen.ts";
import { startRedis } from "../../support/redis.ts";
import { CronCaller } from "../process/deno-cron.ts";
import { serverPlatform } from "../process/server.ts";
import { end, Project } from "../project.ts";
import { forDocument } from "../shipped.ts";

const cron = new CronCaller();

serverPlatform({
  runtime: "deno",
  main: "main.ts",
  configuration: "deno.json",
  remote: /^(deno (add|deploy) |curl "?https:)/,
  cron: { listen: () => cron.listen(), call: () => cron.call("sluice"), close: () => cron.close() },
});

it("registers one cron with Deno, every minute", () => {
  expect(cron.registered).toEqual(["sluice * * * * *"]);
});

async function openProject(folder: string): Promise<Project> {
  const project = await Project.open({ folder });
  onTestFinished(() => project.close());
  return project;
}

it("says on Deno Deploy what is missing, and still has its cron", async () => {
  const caller = new CronCaller();
  onTestFinished(() => caller.close());
  const project = await openProject("examples/deno");
  const env = { ...(await caller.listen()), DENO_DEPLOY: "1" };
  const server = await project.start("deno run --allow-net --allow-env main.ts", env);
  const response = await fetch(`${server.url}/health`);
  const problem = { code: "misconfigured", detail: expect.stringContaining("UPSTASH_REDIS_REST_URL") };
  expect([response.status, await response.json()]).toMatchObject([503, problem]);
  expect(caller.registered).toEqual(["sluice * * * * *"]);
  await expect(caller.call("sluice")).rejects.toThrow("the cron sluice failed");
  await end(server);
});

it("runs tests without any permission", async () => {
  const project = await openProject("examples/deno");
  const program = `import { testQueue } from "sluice-queue/testing";
    Deno.test("works", async () => {
      const queue = testQueue("emails");
      await queue.enqueue({ to: "a@example.com" });
      const { completed } = await queue.work(() => {});
      if (completed !== 1) throw new Error("not completed");
    });`;
  await project.write("queue.test.ts", program);
  expect(await project.run("NO_COLOR=1 deno test queue.test.ts")).toContain("ok | 1 passed | 0 failed");
});

it("passes Deno's own type check: the example, and the service alone, which is the service", async () => {
  const example = await openProject("examples/deno");
  await example.run("deno check main.ts");
  const typo = `import { serve } from "sluice-queue/deno"; await serve({ consumer: {} });`;
  await example.write("typo.ts", typo);
  await expect(example.run("deno check typo.ts")).rejects.toMatchObject({
    stderr: expect.stringContaining("'consumer' does not exist") as string,
  });

  const alone = await openProject("serverless/deno");
  await alone.run("deno check main.ts");
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  const server = await alone.start("deno run --allow-net --allow-env main.ts", { REDIS_URL: redis.url });
  expect(await (await server.fetch(forDocument())).json()).toEqual(openapi);
  expect(server.printed()).toBe(`Sluice answers at http://localhost:${new URL(server.url).port}\n`);
  await end(server);
});
