import { access } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { freePort } from "../../../src/local/stack/port.ts";
import { acceptance, checksCommands, withDashboard } from "../acceptance.ts";
import { Page, shownOf } from "../page.ts";
import { Project } from "../project.ts";

const page = new Page("cloudflare");
const configuration = "examples/cloudflare/wrangler.toml";

async function openProject(): Promise<Project> {
  const project = await Project.open({
    folder: "examples/cloudflare",
    tools: { from: "tools/workerd", commands: ["wrangler"] },
    env: {
      CLOUDFLARE_CF_FETCH_ENABLED: "false",
      WRANGLER_SEND_METRICS: "false",
      WRANGLER_SEND_ERROR_REPORTS: "false",
    },
  });
  await project.write("wrangler.toml", shownOf(configuration));
  return project;
}

acceptance({
  name: "a Worker in `wrangler dev`",
  page,
  code: ["examples/cloudflare/worker.ts"],
  configuration: [configuration],
  async start({ env }) {
    const project = await openProject();
    await withDashboard(project, "worker.ts", "dashboard");
    await project.edit("worker.ts", [
      "import { sluice }",
      'import { dashboard } from "sluice-queue/dashboard";\nimport { sluice }',
    ]);
    await project.write(".dev.vars", page.settings(env));
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const server = await project.start(`${page.command("npx wrangler dev")} --port ${port}`, {}, url);
    return {
      fetch: server.fetch,
      cron: () => fetch(`${url}/cdn-cgi/handler/scheduled`),
      type: (line) => project.run(line.replace("http://127.0.0.1:8787", url)),
      stop: () => project.close(),
    };
  },
});

it("shows what would be deployed to Cloudflare", async () => {
  const project = await openProject();
  onTestFinished(() => project.close());
  const command = page.command("npx wrangler deploy --dry-run");
  expect(await project.run(command)).toContain("--dry-run: exiting now");
  await access(join(project.path, "build/worker.js"));
});

checksCommands(
  page,
  /^npx wrangler (?:dev|deploy --dry-run)/,
  /^(npm install|npx wrangler (deploy|secret|tail)|curl "?https:)/,
);
