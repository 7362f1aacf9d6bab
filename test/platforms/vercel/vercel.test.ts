import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { openapi } from "../../../src/http/docs/openapi.gen.ts";
import { asker, secrets } from "../../http/served.ts";
import { acceptance, checksCommands, type StartedExample, withDashboard } from "../acceptance.ts";
import { expectLongWorkDone } from "../long-work.ts";
import { Page } from "../page.ts";
import { openPlace, type Place } from "../place.ts";
import { Project } from "../project.ts";
import { exportsOf, forDocument, unused } from "../shipped.ts";
import { type FunctionRuntime, startFunction } from "./function.ts";

const page = new Page("vercel");
const code = "examples/vercel/api/welcome.ts";
const runtimes = ["nodejs", "edge"] as const;

/** As on the page, except that `vercel dev`, which needs an account, is replaced. */
async function start({ env }: Place, runtime: FunctionRuntime): Promise<StartedExample> {
  const project = await Project.open({ folder: "examples/vercel" });
  await project.run(page.command("npm pkg set"));
  await withDashboard(project, "api/welcome.ts");
  const entry = join(project.path, "api/welcome.ts");
  if (runtime === "edge") await appendFile(entry, 'export const config = { runtime: "edge" };');
  const served = await startFunction({ configuration: "examples/vercel/vercel.json", entry, runtime, env });
  const exported = page.commands
    .filter((line) => line.startsWith("export "))
    .join("; ")
    .replace("http://127.0.0.1:8079", env["UPSTASH_REDIS_REST_URL"] ?? "")
    .replace("=local", `=${env["UPSTASH_REDIS_REST_TOKEN"]}`);
  return {
    fetch: served.fetch,
    cron: served.cron,
    type: (line) => {
      const own = line
        .replace("http://127.0.0.1:3000", served.url)
        .replace("only-on-my-machine", secrets.cron);
      return project.run(`${exported}; ${own}`);
    },
    async stop() {
      await served.stop();
      await project.close();
    },
  };
}

for (const runtime of runtimes) {
  acceptance({
    name: `a Vercel Function in the ${runtime} runtime`,
    page,
    code: [code],
    configuration: ["examples/vercel/vercel.json"],
    start: (place) => start(place, runtime),
  });
}

checksCommands(
  page,
  /^npm pkg set|^export /,
  /^(npm install|npx vercel |printf .* \| npx vercel env|curl "?https:)/,
);

const configuration = "serverless/vercel/vercel.json";

describe.each(runtimes)("a Vercel Function with a wake address in the %s runtime", (runtime) => {
  it("goes on in further invocations if the work takes longer than one may, and wakes none for others' queues", async () => {
    const place = await openPlace();
    onTestFinished(() => place.close());
    const entry = "test/platforms/vercel/chain.ts";
    const served = await startFunction({ configuration, entry, runtime, env: place.env });
    onTestFinished(() => served.stop());
    await expectLongWorkDone(served);
    const ask = asker(served.fetch);
    await ask("POST", "/v1/queues/pulled/tasks", { json: { payload: 1 } });
    // No consumer of this function works on that queue.
    expect((await ask("POST", "/v1/sweep")).body).toMatchObject({ failed: [], woken: 0 });
  });
});

it("the shipped function is the service", async () => {
  const entry = "serverless/vercel/api/sluice.ts";
  const served = await startFunction({ configuration, entry, runtime: "nodejs", env: unused });
  onTestFinished(() => served.stop());
  expect(await (await served.fetch(forDocument())).json()).toEqual(openapi);
  const methods = ["DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"];
  expect(Object.keys(await exportsOf<object>(entry, "vercel")).toSorted()).toEqual(methods);
});
