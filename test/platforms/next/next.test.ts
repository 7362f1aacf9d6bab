import { afterAll, beforeAll, describe, expect, it, onTestFinished, test } from "vitest";
import { secrets } from "../../http/served.ts";
import { acceptance, checksCommands, withDashboard } from "../acceptance.ts";
import { Page } from "../page.ts";
import { openMailServer, openPlace } from "../place.ts";
import type { Project } from "../project.ts";
import { mailCode, openApplication, startApplication } from "./application.ts";

const page = new Page("nextjs");
const example = "examples/next";
const route = "app/api/queue/[[...path]]/route.ts";
const signUp = "app/signup/route.ts";
const EDGE = '\nexport const runtime = "edge";\n';

const builds = [
  { bundler: "turbopack", runtime: "nodejs", other: "edge" },
  { bundler: "webpack", runtime: "edge", other: "nodejs" },
] as const;

/**
 * Builds the example, without any setting and without the network, and with the type check of Next.js. Its routes run
 * in one runtime; copies of them below `/other`, and a page, in the other one.
 */
async function build({ bundler, runtime, other }: (typeof builds)[number]): Promise<Project> {
  const project = await openApplication();
  await withDashboard(project, "lib/queue.ts");
  const read = (file: string) => project.read(file);
  for (const file of [route, signUp]) {
    const code = await read(file);
    const copy = code.replace('pathname !== "/signup" || ', "");
    await project.write(file, code + (runtime === "edge" ? EDGE : ""));
    await project.write(file.replace("app/", "app/other/"), copy + (other === "edge" ? EDGE : ""));
  }
  const form = await read("app/page.tsx");
  const inOther = form.replace("./actions", "../../actions") + (other === "edge" ? EDGE : "");
  await project.write("app/other/form/page.tsx", inOther);
  // Next.js accepts these handlers, too.
  const handlers = 'import { sluice } from "sluice-queue/vercel";\nexport const { GET, POST } = sluice();\n';
  await project.write("app/vercel/route.ts", handlers);
  // `next build` evaluates a module that keeps a queue.
  await project.edit("app/actions.ts", [
    "\nexport async function signUp",
    "\nconst mails = queue(emails);\n\nexport async function signUp",
  ]);
  await project.edit("app/actions.ts", ["await queue(emails)", "await mails"]);
  await project.run(`next build --${bundler}`);
  return project;
}

describe.each(builds)("built by $bundler, in the $runtime runtime", (chosen) => {
  let project: Project;
  beforeAll(async () => void (project = await build(chosen)), 600_000);
  afterAll(() => project?.close());

  acceptance({
    name: "the example of the page",
    page,
    code: ["lib/queue.ts", route, signUp, "app/actions.ts"].map((file) => `${example}/${file}`),
    mailCode: mailCode(),
    configuration: [`${example}/vercel.json`],
    start: ({ env }) => startApplication(project, page, "next start", env),
  });

  it(`enqueues in server actions, and in the ${chosen.other} runtime`, async () => {
    const [place, mailServer] = await Promise.all([openPlace(), openMailServer()]);
    const env = { ...place.env, MAIL_URL: mailServer.url };
    const application = await startApplication(project, page, "next start", env);
    onTestFinished(async () => {
      await application.stop();
      await mailServer.close();
      await place.close();
    });
    const { url, submit } = application;
    const sent = (to: string) =>
      expect.poll(() => mailServer.mails().filter((mail) => mail.to === to).length).toBe(1);
    expect(await submit("/", { to: "action@example.com" })).toBe(200);
    await sent("action@example.com");
    expect(await submit("/other/form", { to: "other@example.com" })).toBe(200);
    await sent("other@example.com");
    expect((await fetch(`${url}/other/signup?to=copy@example.com`)).status).toBe(201);
    await sent("copy@example.com");
    const sweep = (headers = {}) => fetch(`${url}/other/api/queue/v1/sweep`, { headers });
    expect((await sweep()).status).toBe(401);
    const swept = await sweep({ authorization: `Bearer ${secrets.cron}` });
    expect([swept.status, await swept.json()]).toMatchObject([200, { failed: [] }]);
    const dashboard = await fetch(`${url}/other/api/queue/dashboard`);
    expect([dashboard.status, dashboard.headers.get("content-type")]).toEqual([
      200,
      "text/html; charset=utf-8",
    ]);
    expect(mailServer.mails()).toHaveLength(3);
  });
});

const instrumentation = `import { cron, emails, queue } from "@/lib/queue";

export async function register() {
  await queue(emails).enqueue({ to: "start@example.com" });
  setInterval(cron, 500);
}
`;

test("`next dev` runs the first task, as the page says, and cron of instrumentation.ts", async () => {
  const [project, place] = await Promise.all([openApplication(), openPlace()]);
  onTestFinished(async () => {
    await project.close();
    await place.close();
  });
  expect(page.files.map(([file]) => file)).toEqual(["lib/queue.ts", route, signUp, ".env.local"]);
  for (const [file, text] of page.files) await project.write(file, `${text}\n`);
  await project.edit("lib/queue.ts", ["{ handlers, queue }", "{ handlers, queue, cron }"]);
  await project.write("instrumentation.ts", instrumentation);
  const { type, printed } = await startApplication(project, page, page.command("npx next dev"), place.env);
  expect(JSON.parse(await type(page.signUp))).toMatchObject({ status: 200, body: { created: true } });
  for (const to of ["start", "a"]) await expect.poll(printed).toContain(`a mail to ${to}@example.com\n`);
  await expect.poll(printed).toMatch(/^\{"drain":"emails","completed":\d,/m);
  expect(JSON.parse(await type(page.sweep ?? ""))).toMatchObject({ status: 200, body: { failed: [] } });
});

checksCommands(page, /^npx next dev/, /^npm install /);
