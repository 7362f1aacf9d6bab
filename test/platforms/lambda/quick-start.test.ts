import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { Place } from "../acceptance.ts";
import { lambdaFolder, startOffline } from "./offline.ts";
import { freePorts } from "../newcomer.ts";
import { commandsOf, deadLetterCommandsOf, quickStart, type StartedQuickStart } from "../quick-start.ts";

const page = "docs/platforms/lambda.md";

/** The commands of the page, in its order. */
const typed = commandsOf(page);
const command = (start: string) => typed.find((line) => line.startsWith(start)) ?? `echo no ${start}; false`;

async function start({ redis, env }: Place): Promise<StartedQuickStart> {
  const folder = await lambdaFolder("examples/lambda");
  const [redisPort] = await freePorts(1);
  const upstash = `http://127.0.0.1:${redisPort}`;
  await folder.writeEnv({
    UPSTASH_REDIS_REST_URL: upstash,
    UPSTASH_REDIS_REST_TOKEN: "local",
    MAIL_URL: env["MAIL_URL"] ?? "",
  });
  await folder.run(command('echo "SLUICE_WAKE_SECRET'));
  await folder.start(`REDIS_URL=${redis.url} ${command("npx sluice gateway")} --port ${redisPort}`, upstash);
  await folder.run(command("npx esbuild"));
  const lambda = await startOffline(folder, "welcome-dev-app", command("SLUICE_WAKE_URL"));
  const here = (line: string) => folder.run(lambda.here(line));
  return {
    stop: lambda.stop,
    type: (line) => folder.run(line),
    cron: () => here(command("curl http://127.0.0.1:3002/")),
    async fetch({ url }) {
      const path = url.slice(new URL(url).origin.length);
      const reported = await here(command('curl "http').replace("/signup?to=a@example.com", path));
      const { status, body } = JSON.parse(reported) as { status: number; body: unknown };
      return Response.json(body, { status });
    },
  };
}

quickStart("AWS Lambda", {
  page,
  code: ["examples/lambda/handler.ts"],
  configuration: ["examples/lambda/serverless.yml"],
  start,
});

it("shows what would be uploaded to AWS: the bundle alone, cron, and a function that knows its own address", async () => {
  const folder = await lambdaFolder("examples/lambda");
  try {
    const names = ["UPSTASH_REDIS_REST_URL", "UPSTASH_REDIS_REST_TOKEN", "SLUICE_WAKE_SECRET", "MAIL_URL"];
    await folder.writeEnv(Object.fromEntries(names.map((name) => [name, "https://somewhere.example.com"])));
    await folder.run(command("npx esbuild"));
    await folder.run(command("npx osls package"));
    const packed = (name: string) => readFile(join(folder.path, ".serverless", name));
    expect(namesIn(await packed("welcome.zip"))).toEqual(["build/handler.mjs"]);
    const template = JSON.parse((await packed("cloudformation-template-update-stack.json")).toString()) as {
      Resources: Record<string, { Properties: unknown }>;
    };
    expect(template.Resources["AppLambdaFunction"]?.Properties).toMatchObject({
      Environment: {
        Variables: {
          SLUICE_WAKE_URL: {
            "Fn::Sub": "https://${HttpApi}.execute-api.${AWS::Region}.${AWS::URLSuffix}/wake",
          },
        },
      },
    });
    expect(template.Resources["AppEventsRuleSchedule1"]?.Properties).toMatchObject({
      ScheduleExpression: "rate(1 minute)",
    });
  } finally {
    await folder.close();
  }
});

/** The names in a zip's directory. */
function namesIn(zip: Buffer): string[] {
  const names: string[] = [];
  for (let at = -1; (at = zip.indexOf("PK\x01\x02", at + 1, "latin1")) >= 0;) {
    names.push(zip.toString("utf8", at + 46, at + 46 + zip.readUInt16LE(at + 28)));
  }
  return names;
}

it("needs an account or the network for all other commands", () => {
  const tested =
    /^(echo "SLUICE_WAKE_SECRET|npx sluice gateway|npx esbuild|SLUICE_WAKE_URL=\S+ npx osls offline|npx osls package|curl "?http:\/\/127)/;
  const remote = /^(npm install|npx osls (deploy|logs)|curl "?https:)/;
  const dead = deadLetterCommandsOf(page);
  const others = typed.filter((line) => !dead.includes(line));
  expect(others.filter((line) => !tested.test(line) && !remote.test(line))).toEqual([]);
});
