import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startRedis, type TestRedis } from "../support/redis.ts";
import { end } from "./process/deployed.ts";
import { Project, root } from "./process/project.ts";
import { serverQuickStart } from "./process/quick-start.ts";
import { installedBy } from "./quick-start.ts";

serverQuickStart({
  runtime: "node",
  main: "server.ts",
  configuration: ["Dockerfile"],
  remote: /^(npm (init|install)|docker )/,
});

describe("a container", () => {
  let redis: TestRedis;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());

  it.each(["examples/node", "serverless/node", "examples/bun", "serverless/bun"])(
    "of %s begins with a command that serves, and that SIGTERM reaches",
    async (folder) => {
      const dockerfile = readFileSync(join(root, folder, "Dockerfile"), "utf8");
      const [, words = "[]"] = /^CMD (.*)$/m.exec(dockerfile) ?? [];
      const installs = Array.from(dockerfile.matchAll(/^RUN (.*sluice-queue.*)$/gm), ([, line = ""]) => line);
      // An example installs what its own package.json lists.
      const project = await Project.open(
        folder,
        installs.length > 0 ? { packages: installedBy(installs) } : {},
      );
      try {
        const command = (JSON.parse(words) as string[]).join(" ");
        const server = await project.start(command, { REDIS_URL: redis.url });
        expect(await (await fetch(`${server.url}/health`)).json()).toEqual({ status: "ok" });
        await end(server);
      } finally {
        await project.close();
      }
    },
  );
});
