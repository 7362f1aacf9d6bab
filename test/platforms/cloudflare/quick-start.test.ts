import { access } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { Place } from "../acceptance.ts";
import { Folder, freePorts } from "../newcomer.ts";
import {
  commandsOf,
  deadLetterCommandsOf,
  quickStart,
  shownOf,
  type StartedQuickStart,
} from "../quick-start.ts";

const page = "docs/platforms/cloudflare.md";
const configuration = "examples/cloudflare/wrangler.toml";

/** The commands of the page, in its order. */
const typed = commandsOf(page);
const command = (start: string) => typed.find((line) => line.startsWith(start)) ?? `echo no ${start}; false`;

async function openFolder(env: Readonly<Record<string, string>> = {}): Promise<Folder> {
  // No output, and no environment from outside.
  const quiet = {
    CLOUDFLARE_CF_FETCH_ENABLED: "false",
    WRANGLER_SEND_METRICS: "false",
    WRANGLER_SEND_ERROR_REPORTS: "false",
  };
  const folder = await Folder.open({
    example: "examples/cloudflare",
    tools: "tools/workerd",
    commands: ["wrangler"],
    env: { ...quiet, ...env },
  });
  await folder.write("wrangler.toml", shownOf(configuration));
  return folder;
}

async function start({ redis, env }: Place): Promise<StartedQuickStart> {
  const folder = await openFolder({ REDIS_URL: redis.url });
  const [redisPort, port] = await freePorts(2);
  const [upstash, worker] = [`http://127.0.0.1:${redisPort}`, `http://127.0.0.1:${port}`];
  const secrets = {
    UPSTASH_REDIS_REST_URL: upstash,
    UPSTASH_REDIS_REST_TOKEN: "local",
    MAIL_URL: env["MAIL_URL"],
  };
  const lines = Object.entries(secrets).map((entry) => entry.join("="));
  await folder.write(".dev.vars", lines.join("\n"));
  await folder.start(`${command("npx sluice gateway")} --port ${redisPort}`, upstash);
  await folder.start(`${command("npx wrangler dev")} --port ${port}`, `${worker}/health`);
  const here = (line: string) => folder.run(line.replace("http://127.0.0.1:8787", worker));
  const signUp = command('curl "http://127.0.0.1:8787/signup');
  return {
    // The page's request, to another address.
    async fetch({ url }) {
      const path = url.slice(new URL(url).origin.length);
      const { status, body } = JSON.parse(await here(signUp.replace("/signup?to=a@example.com", path)));
      return Response.json(body, { status });
    },
    cron: () => here(command('curl "http://127.0.0.1:8787/cdn-cgi/handler/scheduled')),
    type: (line) => folder.run(line),
    stop: () => folder.close(),
  };
}

quickStart("Cloudflare Workers", {
  page,
  code: ["examples/cloudflare/worker.ts"],
  configuration: [configuration],
  start,
});

it("shows what would be deployed to Cloudflare", async () => {
  const folder = await openFolder();
  try {
    expect(await folder.run(command("npx wrangler deploy --dry-run"))).toContain("--dry-run: exiting now");
    await access(join(folder.path, "build/worker.js"));
  } finally {
    await folder.close();
  }
});

it("needs an account or the network for all other commands", () => {
  const tested =
    /^(npx sluice (gateway|token)|npx wrangler dev|npx wrangler deploy --dry-run|curl "http:\/\/127)/;
  const remote =
    /^(npm install|npx wrangler (deploy|secret|tail)|curl "?https:|echo .* (\| npx wrangler secret|>> \.dev\.vars$)|while curl )/;
  const dead = deadLetterCommandsOf(page);
  const others = typed.filter((line) => !dead.includes(line));
  expect(others.filter((line) => !tested.test(line) && !remote.test(line))).toEqual([]);
});
