import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { openapi } from "../../../src/http/docs/openapi.gen.ts";
import { freePort } from "../../../src/local/stack/port.ts";
import { acceptance, checksCommands, withDashboard } from "../acceptance.ts";
import { Page, read } from "../page.ts";
import { openMailServer, openPlace } from "../place.ts";
import { Project } from "../project.ts";
import { exportsOf, forDocument } from "../shipped.ts";

const page = new Page("netlify");
const example = "examples/netlify";

/** A folder with the tool that the page installs, and the Deno that the tool downloads if needed. */
const openProject = (folder: string) =>
  Project.open({
    folder,
    tools: { from: "test/platforms/netlify", commands: ["netlify", "deno"] },
    env: { BROWSER: "none" },
  });

/** Serves the folder's functions on a port of its own. Cron is the function `cron`. */
async function serve(project: Project, command: string) {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const server = await project.start(`${command} --port ${port}`, {}, url);
  // It listens before it has loaded the functions.
  while (!(await fetch(`${url}/health`)).ok) await sleep(100);
  return {
    fetch: server.fetch,
    async cron() {
      const response = await fetch(`${url}/.netlify/functions/cron`, { method: "POST" });
      if (!response.ok) throw new Error(`cron: HTTP ${response.status} ${await response.text()}`);
      await response.body?.cancel();
    },
    type(line: string) {
      const own = line.replace("http://localhost:8888", url);
      return project.run(own.replace(/^npx netlify functions:invoke.*/, `$& --port ${port}`));
    },
    stop: () => project.close(),
  };
}

acceptance({
  name: "Netlify Functions, unpacked from the zips of a build",
  page,
  code: ["welcome", "cron"].map((name) => `${example}/netlify/functions/${name}.mts`),
  configuration: [`${example}/netlify.toml`],
  async start({ env }) {
    const project = await openProject(example);
    await withDashboard(project, "netlify/functions/welcome.mts");
    await project.write(".env", page.settings(env));
    await project.run(page.command("npx netlify build"));
    // In place of `netlify dev`, which asks a function again, for other paths, if it answers 403 or 404.
    const built = "NETLIFY_FUNCTIONS_SERVE_LOAD_DIST_FUNCTIONS=true npx netlify functions:serve --offline";
    return serve(project, built);
  },
});

test("`netlify dev` serves the functions, as the page says", async () => {
  const [project, place, mailServer] = [
    await openProject(example),
    await openPlace(),
    await openMailServer(),
  ];
  onTestFinished(async () => {
    await project.close();
    await mailServer.close();
    await place.close();
  });
  await project.write(".env", page.settings({ ...place.env, MAIL_URL: mailServer.url }));
  const { type } = await serve(project, page.command("npx netlify dev"));
  expect(JSON.parse(await type(page.signUp))).toMatchObject({ status: 201, body: { created: true } });
  await expect.poll(mailServer.mails, { timeout: 20_000 }).toMatchObject([{ to: "a@example.com" }]);
});

test("the shipped functions are the service, at every path, and its cron", async () => {
  interface Shipped {
    default(request: Request, context: object): Promise<Response>;
    readonly config: object;
  }
  const shipped = (name: string) =>
    exportsOf<Shipped>(`serverless/netlify/netlify/functions/${name}.mts`, "netlify");
  const { default: answer, config } = await shipped("sluice");
  expect(await (await answer(forDocument(), { waitUntil: () => {} })).json()).toEqual(openapi);
  expect(config).toEqual({ path: "/*" });
  expect((await shipped("cron")).default).toBeTypeOf("function");
  expect(read("serverless/netlify/netlify.toml")).toContain(read(`${example}/netlify.toml`));
});

checksCommands(
  page,
  /^npx netlify (?:dev|build)/,
  /^(npm install|npx netlify (login|init|env:set|deploy)|curl "?https:)/,
);
