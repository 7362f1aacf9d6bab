import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import type { Place } from "../acceptance.ts";
import { root } from "../installed.ts";
import {
  blocksOf,
  commandsOf,
  deadLetterCommandsOf,
  installedBy,
  quickStart,
  type StartedQuickStart,
} from "../quick-start.ts";
import { startGateway } from "../../../src/local/index.ts";
import { startRedis } from "../../support/redis.ts";
import { firstTaskOf, printedOf } from "../../documents/first-task-pages.ts";
import { end } from "./deployed.ts";
import { Project, type Runtime } from "./project.ts";

export interface ServerQuickStart {
  readonly runtime: Runtime;
  /** The file that a user writes. */
  readonly main: string;
  readonly configuration: readonly string[];
  /** The commands that need the network, an account or Docker. */
  readonly remote: RegExp;
}

/** The quick start of a page whose server is a process, typed as the page shows it. */
export function serverQuickStart({ runtime, main, configuration, remote }: ServerQuickStart): void {
  const page = `docs/platforms/${runtime}.md`;
  const example = `examples/${runtime}`;
  const typed = commandsOf(page);
  const starting = typed.find((line) => line.endsWith(` ${main}`)) ?? `echo ${page} starts nothing; false`;
  const [signUp = "", sweep = "", ...more] = typed.filter((line) => line.startsWith('curl "http://127'));

  async function start({ redis, env }: Place): Promise<StartedQuickStart> {
    const project = await Project.open(example, installedBy(typed));
    // All variables of the page, except those that the Redis over TCP replaces.
    const settings = blocksOf(page, "ini").join("\n");
    const own = settings
      .replaceAll(/^(?:UPSTASH|SLUICE_WAKE)_.*$/gm, "")
      .replace(/(?<=^REDIS_URL=).*/m, redis.url)
      .replace(/(?<=^MAIL_URL=).*/m, env["MAIL_URL"] ?? "");
    await project.write(".env", own);
    const server = await project.start(starting);
    const type = async (line: string) =>
      JSON.parse(await project.run(line.replace("http://127.0.0.1:8787", server.url))) as {
        status: number;
        body: unknown;
      };
    return {
      async fetch({ url }) {
        const path = url.slice(new URL(url).origin.length);
        const { status, body } = await type(signUp.replace("/signup?to=a@example.com", path));
        return Response.json(body, { status });
      },
      cron: async () => expect(await type(sweep)).toMatchObject({ status: 200, body: { failed: [] } }),
      type: (line) => project.run(line),
      async stop() {
        try {
          await end(server);
        } finally {
          await project.close();
        }
      },
    };
  }

  quickStart(runtime, {
    page,
    code: [`${example}/${main}`],
    configuration: configuration.map((file) => `${example}/${file}`),
    start,
  });

  it(`needs the network, an account or Docker for all other commands about ${runtime}`, () => {
    expect(more).toEqual([]);
    const tested = [starting, signUp, sweep, ...deadLetterCommandsOf(page)];
    const ofFirstTask = / gateway --embedded --token local$/;
    expect(
      typed.filter((line) => !tested.includes(line) && !ofFirstTask.test(line) && !remote.test(line)),
    ).toEqual([]);
  });

  it(`prints what the page on ${runtime} says of the first task`, async () => {
    const command = (found: RegExp) => typed.find((line) => found.test(line)) ?? `echo no ${found}; false`;
    // Instead of the page's gateway, a process of its own.
    expect(command(/gateway/)).toMatch(/sluice gateway --embedded --token local$/);
    const gateway = await startGateway({ token: "local" });
    const project = await Project.open(undefined, runtime === "node" ? ["@hono/node-server"] : []);
    try {
      await project.write(main, firstTaskOf(runtime));
      const settings = blocksOf(page, "ini")[0] ?? "";
      await project.write(".env", settings.replace("http://127.0.0.1:8079", gateway.url));
      const server = await project.start(command(new RegExp(` ${main}$`)));
      const signUp = command(/^curl "http:\/\/127/).replace("http://127.0.0.1:8787", server.url);
      const { body } = JSON.parse(await project.run(signUp)) as { body: unknown };
      const { request, program } = printedOf(runtime);
      expect(Object.keys(body as object)).toEqual(Object.keys(JSON.parse(request) as object));
      await expect.poll(() => server.printed()).toContain(program);
      await end(server);
    } finally {
      await project.close();
    }
  });

  const isInContainer = configuration.includes("Dockerfile");
  const folders = isInContainer ? [example, `serverless/${runtime}`] : [];
  for (const folder of folders) {
    it(`begins in a container of ${folder} with a command that serves, and that SIGTERM reaches`, async () => {
      const dockerfile = readFileSync(join(root, folder, "Dockerfile"), "utf8");
      const [, words = "[]"] = /^CMD (.*)$/m.exec(dockerfile) ?? [];
      const installs = Array.from(dockerfile.matchAll(/^RUN (.*sluice-queue.*)$/gm), ([, line = ""]) => line);
      const redis = await startRedis();
      onTestFinished(() => redis.stop());
      // An example installs what its own package.json lists.
      const project = await Project.open(folder, installs.length > 0 ? installedBy(installs) : undefined);
      onTestFinished(() => project.close());
      const command = (JSON.parse(words) as string[]).join(" ");
      const server = await project.start(command, { REDIS_URL: redis.url });
      expect(await (await fetch(`${server.url}/health`)).json()).toEqual({ status: "ok" });
      await end(server);
    });
  }
}
