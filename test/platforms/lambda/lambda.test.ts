import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openapi } from "../../../src/http/docs/openapi.gen.ts";
import { freePort } from "../../../src/local/stack/port.ts";
import { byUrl } from "../../serving/lambda-events.ts";
import { acceptance, checksCommands, withDashboard } from "../acceptance.ts";
import { Page } from "../page.ts";
import { Project } from "../project.ts";
import { exportsOf } from "../shipped.ts";

const page = new Page("lambda");
const example = "examples/lambda";

/** A folder with the tools that the page installs. */
const openProject = (folder: string) =>
  Project.open({
    folder,
    tools: {
      from: "test/platforms/lambda",
      packages: ["serverless-offline"],
      commands: ["esbuild", "osls"],
    },
  });

acceptance({
  name: "a Lambda function",
  page,
  code: [`${example}/handler.ts`],
  configuration: [`${example}/serverless.yml`],
  compresses: true,
  async start({ env }) {
    const project = await openProject(example);
    await withDashboard(project, "handler.ts");
    await project.edit(
      "serverless.yml",
      [
        "    MAIL_URL: ",
        "    SLUICE_TOKENS: ${env:SLUICE_TOKENS}\n    CRON_SECRET: ${env:CRON_SECRET}\n    MAIL_URL: ",
      ],
      // The test calls its cron.
      ["rate(1 minute)", "cron(0 0 1 1 ? *)"],
    );
    await project.write(".env", page.settings(env));
    await project.run(page.command("npx esbuild"));
    const [http, functions] = [await freePort(), await freePort()];
    const url = `http://127.0.0.1:${http}`;
    const here = (line: string) =>
      line.replace("http://127.0.0.1:3000", url).replace(":3002/", `:${functions}/`);
    const command = `${here(page.command("SLUICE_WAKE_URL"))} --httpPort ${http} --lambdaPort ${functions}`;
    const server = await project.start(command, {}, url);
    return {
      fetch: server.fetch,
      cron: () => project.run(here(page.cron ?? "false")),
      type: (line) => project.run(here(line)),
      stop: () => project.close(),
    };
  },
});

test("what would be uploaded to AWS: the bundle alone, cron, and a function that knows its own address", async () => {
  const project = await openProject(example);
  onTestFinished(() => project.close());
  await project.run(page.command('echo "SLUICE_WAKE_SECRET'));
  const names = ["UPSTASH_REDIS_REST_URL", "UPSTASH_REDIS_REST_TOKEN", "SLUICE_WAKE_SECRET", "MAIL_URL"];
  await project.write(
    ".env",
    page.settings(Object.fromEntries(names.map((name) => [name, "https://x.example"]))),
  );
  await project.run(page.command("npx esbuild"));
  await project.run(page.command("npx osls package"));
  const packed = (name: string) => readFile(join(project.path, ".serverless", name));
  expect(namesIn(await packed("welcome.zip"))).toEqual(["build/handler.mjs"]);
  const template = JSON.parse((await packed("cloudformation-template-update-stack.json")).toString()) as {
    Resources: Record<string, { Properties: unknown }>;
  };
  const url = "https://${HttpApi}.execute-api.${AWS::Region}.${AWS::URLSuffix}/wake";
  expect(template.Resources["AppLambdaFunction"]?.Properties).toMatchObject({
    Environment: { Variables: { SLUICE_WAKE_URL: { "Fn::Sub": url } } },
  });
  expect(template.Resources["AppEventsRuleSchedule1"]?.Properties).toMatchObject({
    ScheduleExpression: "rate(1 minute)",
  });
});

/** The names in a zip's directory. */
function namesIn(zip: Buffer): string[] {
  const names: string[] = [];
  for (let at = -1; (at = zip.indexOf("PK\x01\x02", at + 1, "latin1")) >= 0;) {
    names.push(zip.toString("utf8", at + 46, at + 46 + zip.readUInt16LE(at + 28)));
  }
  return names;
}

checksCommands(
  page,
  /^(?:echo "SLUICE_WAKE_SECRET|npx esbuild|SLUICE_WAKE_URL=\S+ npx osls offline|npx osls package)/,
  /^(npm install|npx osls (deploy|logs))/,
);

test("the shipped handler is the service, and its configuration packs it alone", async () => {
  interface Shipped {
    handler(event: object, context: object): Promise<{ body: string }>;
  }
  const { handler } = await exportsOf<Shipped>("serverless/lambda/handler.ts", "lambda");
  const { body } = await handler(byUrl({ path: "/openapi.json" }), {
    getRemainingTimeInMillis: () => 29_000,
  });
  expect(JSON.parse(body)).toEqual(openapi);
  const project = await openProject("serverless/lambda");
  onTestFinished(() => project.close());
  const names = ["UPSTASH_REDIS_REST_URL", "UPSTASH_REDIS_REST_TOKEN", "SLUICE_TOKENS"];
  await project.write(".env", names.map((name) => `${name}=x\n`).join(""));
  await project.run(
    "npx esbuild handler.ts --bundle --platform=node --format=esm --outfile=build/handler.mjs",
  );
  await project.run("npx osls package");
  expect(namesIn(await readFile(join(project.path, ".serverless/sluice.zip")))).toEqual([
    "build/handler.mjs",
  ]);
});
