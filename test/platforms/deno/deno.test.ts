import { expect, it } from "vitest";
import { acceptance, type Deployed, type Place } from "../acceptance.ts";
import { CronCaller } from "../process/deno-cron.ts";
import { end, openDeployment } from "../process/deployed.ts";
import { endsInOrder } from "../process/ending.ts";
import { startRedis } from "../../support/redis.ts";
import { forDocument } from "../shipped.ts";
import { Project } from "../process/project.ts";
import { openapi } from "../../../src/http/docs/openapi.gen.ts";

const command = "deno run --allow-net --allow-env --unstable-cron main.ts";
const cron = new CronCaller();

async function deploy({ env }: Place): Promise<Deployed> {
  const [project, leading] = [await openDeployment("deno"), await cron.listen()];
  const server = await project.start(command, { ...env, ...leading });
  return {
    fetch: (request) => server.fetch(request),
    cron: () => cron.call("sluice"),
    async stop() {
      try {
        await end(server);
      } finally {
        await cron.close();
        await project.close();
      }
    },
  };
}

acceptance("Deno", deploy, { compresses: true });

it("says on Deno Deploy what is missing, and still has its cron", async () => {
  const caller = new CronCaller();
  const [project, leading] = [await openDeployment("deno"), await caller.listen()];
  try {
    const server = await project.start(command, { ...leading, DENO_DEPLOY: "1" });
    const response = await fetch(`${server.url}/health`);
    const problem = { code: "misconfigured", detail: expect.stringContaining("UPSTASH_REDIS_REST_URL") };
    expect([response.status, await response.json()]).toMatchObject([503, problem]);
    expect(caller.registered).toEqual(["sluice * * * * *"]);
    await expect(caller.call("sluice")).rejects.toThrow("the cron sluice failed");
    await end(server);
  } finally {
    await caller.close();
    await project.close();
  }
});

it("registers one cron with Deno, every minute", () => {
  expect(cron.registered).toEqual(["sluice * * * * *"]);
});

endsInOrder("deno", command);

it("the shipped program is the service", async () => {
  const [project, redis] = [await Project.open("serverless/deno"), await startRedis()];
  try {
    const command = "deno run --allow-net --allow-env main.ts";
    const server = await project.start(command, { REDIS_URL: redis.url });
    expect(await (await server.fetch(forDocument())).json()).toEqual(openapi);
    expect(server.printed()).toBe(`Sluice answers at http://localhost:${new URL(server.url).port}\n`);
    await end(server);
  } finally {
    await project.close();
    await redis.stop();
  }
});
