import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { Place } from "../acceptance.ts";
import { Folder, freePorts } from "../newcomer.ts";
import {
  blocksOf,
  commandsOf,
  deadLetterCommandsOf,
  quickStart,
  type StartedQuickStart,
} from "../quick-start.ts";
import { type Project, startProject } from "./project.ts";

const page = "docs/platforms/vercel.md";
const code = "examples/vercel/api/welcome.ts";
const configuration = "examples/vercel/vercel.json";

/** The commands of the page, in its order. */
const typed = commandsOf(page);
const command = (start: string) => typed.find((line) => line.startsWith(start)) ?? `echo no ${start}; false`;

/** As on the page, except that the project's runtime replaces `vercel dev`, which needs an account. */
async function start({ redis, env }: Place, runtime: Project["runtime"]): Promise<StartedQuickStart> {
  const folder = await Folder.open({
    example: "examples/vercel",
    tools: "test/platforms/vercel",
    env: { REDIS_URL: redis.url },
  });
  await folder.write("package.json", "{}");
  await folder.run(command("npm pkg set"));
  const entry = join(folder.path, "api/welcome.ts");
  if (runtime === "edge")
    await appendFile(entry, blocksOf(page, "ts").find((block) => block.includes("runtime:")) ?? "");
  const [redisPort] = await freePorts(1);
  const upstash = `http://127.0.0.1:${redisPort}`;
  await folder.start(`${command("npx sluice gateway")} --port ${redisPort}`, upstash);
  const exported = typed.filter((line) => line.startsWith("export ")).join("; ");
  const printed = await folder.run(`${exported}; env`);
  const settings = Object.fromEntries(printed.split("\n").map((line) => line.split(/=(.*)/s, 2)));
  const { UPSTASH_REDIS_REST_TOKEN, CRON_SECRET } = settings as Record<string, string>;
  const project = await startProject({
    configuration,
    entry,
    runtime,
    env: {
      UPSTASH_REDIS_REST_URL: upstash,
      UPSTASH_REDIS_REST_TOKEN: UPSTASH_REDIS_REST_TOKEN ?? "",
      CRON_SECRET: CRON_SECRET ?? "",
      MAIL_URL: env["MAIL_URL"] ?? "",
    },
  });
  const here = (line: string) => folder.run(line.replace("http://127.0.0.1:3000", project.url));
  const signUp = command('curl "http://127.0.0.1:3000/signup');
  const sweep = command("curl http://127.0.0.1:3000/v1/sweep");
  return {
    // The page's request, to another address.
    async fetch({ url }) {
      const path = url.slice(new URL(url).origin.length);
      const { status, body } = JSON.parse(await here(signUp.replace("/signup?to=a@example.com", path)));
      return Response.json(body, { status });
    },
    async cron() {
      await project.cron();
      expect(JSON.parse(await here(sweep))).toMatchObject({ status: 200, body: { failed: [] } });
    },
    type: (line) => folder.run(`${exported}; UPSTASH_REDIS_REST_URL=${upstash} ${line}`),
    async stop() {
      await project.stop();
      await folder.close();
    },
  };
}

for (const runtime of ["nodejs", "edge"] as const) {
  quickStart(`Vercel, in the ${runtime} runtime`, {
    page,
    code: [code],
    configuration: [configuration],
    start: (place) => start(place, runtime),
  });
}

it("needs an account or the network for all other commands about Vercel", () => {
  const tested = /^(npm pkg set|npx sluice gateway|export |curl "?http:\/\/127)/;
  const remote =
    /^(npm install|npx vercel |printf .* \| npx vercel env|curl "?https:|while sleep 60; do curl)/;
  const dead = deadLetterCommandsOf(page);
  const others = typed.filter((line) => !dead.includes(line));
  expect(others.filter((line) => !tested.test(line) && !remote.test(line))).toEqual([]);
});
