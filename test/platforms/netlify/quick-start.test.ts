import { access } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { Place } from "../acceptance.ts";
import { netlifyFolder, startNetlify } from "./local.ts";
import { freePorts } from "../newcomer.ts";
import { commandsOf, deadLetterCommandsOf, quickStart, type StartedQuickStart } from "../quick-start.ts";

const page = "docs/platforms/netlify.md";
const example = "examples/netlify";

/** The commands of the page, in its order. */
const typed = commandsOf(page);
const command = (start: string) => typed.find((line) => line.startsWith(start)) ?? `echo no ${start}; false`;

async function start({ redis, env }: Place): Promise<StartedQuickStart> {
  const folder = await netlifyFolder(example);
  const [redisPort] = await freePorts(1);
  const upstash = `http://127.0.0.1:${redisPort}`;
  await folder.writeEnv({
    UPSTASH_REDIS_REST_URL: upstash,
    UPSTASH_REDIS_REST_TOKEN: "local",
    MAIL_URL: env["MAIL_URL"] ?? "",
  });
  await folder.start(`REDIS_URL=${redis.url} ${command("npx sluice gateway")} --port ${redisPort}`, upstash);
  const netlify = await startNetlify(folder, command("npx netlify dev"));
  return {
    stop: netlify.stop,
    type: (line) => folder.run(line),
    cron: () => folder.run(`${command("npx netlify functions:invoke cron")} --port ${netlify.port}`),
    async fetch({ url }) {
      const path = url.slice(new URL(url).origin.length);
      const here = command('curl "http').replace(/http:.*(?=")/, netlify.url + path);
      const { status, body } = JSON.parse(await folder.run(here)) as { status: number; body: unknown };
      return Response.json(body, { status });
    },
  };
}

quickStart("Netlify", {
  page,
  code: ["welcome", "cron"].map((name) => `${example}/netlify/functions/${name}.mts`),
  configuration: [`${example}/netlify.toml`],
  start,
});

it("builds what would be deployed to Netlify", async () => {
  const folder = await netlifyFolder(example);
  try {
    await folder.run(command("npx netlify build"));
    for (const name of ["welcome.zip", "cron.zip"]) {
      await access(join(folder.path, ".netlify/functions", name));
    }
  } finally {
    await folder.close();
  }
});

it("needs an account or the network for all other commands", () => {
  const tested = /^npx (sluice gateway|netlify (dev|build|functions:invoke))|^curl "http:\/\/localhost/;
  const remote =
    /^(npm install|npx netlify (login|init|env:set|deploy)|curl "?https:|while sleep 60; do npx netlify)/;
  const dead = deadLetterCommandsOf(page);
  const others = typed.filter((line) => !dead.includes(line));
  expect(others.filter((line) => !tested.test(line) && !remote.test(line))).toEqual([]);
});
