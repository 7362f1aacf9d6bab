import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { startGateway } from "../../../src/local/index.ts";
import { firstTaskOf, printedOfFirstTask } from "../../documents/first-task-pages.ts";
import { secrets } from "../../http/served.ts";
import { startRedis } from "../../support/redis.ts";
import { acceptance, checksCommands, withDashboard } from "../acceptance.ts";
import { installedBy, Page, read } from "../page.ts";
import { end, Project } from "../project.ts";

export type Runtime = "node" | "deno" | "bun";

export interface ServerPlatform {
  readonly runtime: Runtime;
  /** The file that a user writes. */
  readonly main: string;
  readonly configuration: string;
  /** The commands that need the network, an account or Docker. */
  readonly remote: RegExp;
  /** What is in the environment so that a test can call the platform's cron, and its call. */
  readonly cron?: {
    readonly listen: () => Promise<Readonly<Record<string, string>>>;
    readonly call: () => Promise<void>;
    readonly close: () => Promise<void>;
  };
}

/** A platform whose server is a process, started as its page shows it. */
export function serverPlatform({ runtime, main, configuration, remote, cron }: ServerPlatform): void {
  const page = new Page(runtime);
  const example = `examples/${runtime}`;
  const starting = page.commands.find((line) => line.endsWith(` ${main}`)) ?? `echo no ${main}; false`;

  acceptance({
    name: runtime,
    page,
    code: [`${example}/${main}`],
    configuration: [`${example}/${configuration}`],
    compresses: true,
    async start({ env }) {
      const project = await Project.open({ folder: example, packages: page.installed });
      await withDashboard(project, main);
      if (cron === undefined) {
        await project.copy("test/platforms/process/minute.ts");
        await project.edit(main, ["import ", 'import "./minute.ts";\nimport ']);
      }
      await project.write(".env", page.settings(env));
      const server = await project.start(starting, await cron?.listen());
      const here = (line: string) =>
        line.replace("http://127.0.0.1:8787", server.url).replace("only-on-my-machine", secrets.cron);
      return {
        fetch: server.fetch,
        cron: cron?.call ?? (async () => server.kill("SIGUSR2")),
        type: (line) => project.run(here(line)),
        async stop() {
          try {
            await end(server);
          } finally {
            await cron?.close();
            await project.close();
          }
        },
      };
    },
  });

  checksCommands(page, new RegExp(` ${main}$`), remote);

  it(`prints what the page on ${runtime} says of the first task`, async () => {
    // Instead of the page's gateway, a process of its own.
    const gateway = await startGateway({ token: "local" });
    onTestFinished(() => gateway.close());
    const project = await Project.open({ packages: runtime === "node" ? ["@hono/node-server"] : [] });
    onTestFinished(() => project.close());
    await project.write(main, firstTaskOf(runtime));
    const settings = page.blocks("ini")[0] ?? "";
    await project.write(".env", settings.replace("http://127.0.0.1:8079", gateway.url));
    const server = await project.start(starting);
    const printed = await project.run(page.signUp.replace("http://127.0.0.1:8787", server.url));
    const { body } = JSON.parse(printed) as { body: object };
    const { request, program } = printedOfFirstTask();
    expect(Object.keys(body)).toEqual(Object.keys(JSON.parse(request) as object));
    await expect.poll(() => server.printed()).toContain(program);
    await end(server);
  });

  const containers = configuration === "Dockerfile" ? [example, `serverless/${runtime}`] : [];
  for (const folder of containers) {
    it(`begins in a container of ${folder} with a command that serves, and that SIGTERM reaches`, async () => {
      const dockerfile = read(join(folder, "Dockerfile"));
      const [, words = "[]"] = /^CMD (.*)$/m.exec(dockerfile) ?? [];
      const installs = Array.from(dockerfile.matchAll(/^RUN (.*sluice-queue.*)$/gm), ([, line = ""]) => line);
      const redis = await startRedis();
      onTestFinished(() => redis.stop());
      // An example installs what its own package.json lists.
      const packages = installs.length > 0 && { packages: installedBy(installs) };
      const project = await Project.open({ folder, ...packages });
      onTestFinished(() => project.close());
      const server = await project.start((JSON.parse(words) as string[]).join(" "), { REDIS_URL: redis.url });
      expect(await (await fetch(`${server.url}/health`)).json()).toEqual({ status: "ok" });
      await end(server);
    });
  }
}
