import { afterAll, beforeAll, describe, expect, it, onTestFinished, test } from "vitest";
import { secrets } from "../../http/served.ts";
import { acceptance, checksCommands } from "../acceptance.ts";
import { Page, read, shownOf } from "../page.ts";
import { openMailServer, openPlace } from "../place.ts";
import type { Project } from "../project.ts";
import { mailCode, openApplication, startApplication } from "./application.ts";

const page = new Page("nextjs");
const example = "examples/next";
const route = "app/api/queue/[[...path]]/route.ts";
const signUp = "app/signup/route.ts";
const mailService = mailCode();
const EDGE = '\nexport const runtime = "edge";\n';

const builds = [
  { bundler: "turbopack", runtime: "nodejs", other: "edge" },
  { bundler: "webpack", runtime: "edge", other: "nodejs" },
] as const;

/** The dashboard of an application whose own code knows its users. */
const staff = `import { cookies } from "next/headers";
import { sluice } from "sluice-queue/next";

export const { handlers } = sluice({
  dashboard: {
    async authorize() {
      if ((await cookies()).get("staff")?.value === "ada") return { scopes: ["view"], queues: "*" };
      return Response.redirect("https://app.test/login");
    },
  },
});
`;

/**
 * Builds the example, without any setting and without the network, and with the type check of Next.js. Its routes run
 * in one runtime; copies of them below `/other`, and a page, in the other one.
 */
async function build({ bundler, runtime, other }: (typeof builds)[number]): Promise<Project> {
  const project = await openApplication();
  await project.edit("lib/queue.ts", ["[sendWelcome] }", "[sendWelcome], dashboard: true }"]);
  await project.write("lib/staff.ts", staff);
  for (const file of [route, signUp]) {
    const code = await project.read(file);
    const copy = code.replace('pathname !== "/signup" || ', "");
    await project.write(file, code + (runtime === "edge" ? EDGE : ""));
    await project.write(file.replace("app/", "app/other/"), copy + (other === "edge" ? EDGE : ""));
  }
  const staffRoute = (await project.read(route)).replace("lib/queue", "lib/staff");
  await project.write("app/staff/[[...path]]/route.ts", staffRoute);
  const form = await project.read("app/page.tsx");
  const inOther = form.replace("./form", "../../form") + (other === "edge" ? EDGE : "");
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
    code: ["lib/queue.ts", route, signUp].map((file) => `${example}/${file}`),
    mailCode: mailService,
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
    expect(await submit("/", { to: "action@example.com" })).toContain("A mail is on its way.");
    await sent("action@example.com");
    expect(await submit("/other/form", { to: "other@example.com" })).toContain("A mail is on its way.");
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

  it("lets the users of the application into the dashboard, whom its own code knows by the cookies of the request", async () => {
    const place = await openPlace();
    const { url, stop } = await startApplication(project, page, "next start", place.env);
    onTestFinished(async () => {
      await stop();
      await place.close();
    });
    const statuses = (headers: Record<string, string>) =>
      Promise.all(
        ["/dashboard/api/v1/queues", "/v1/queues"].map(
          async (path) => (await fetch(`${url}/staff${path}`, { headers })).status,
        ),
      );
    expect(await statuses({ cookie: "staff=ada" })).toEqual([200, 401]);
    expect(await statuses({ authorization: `Bearer ${secrets.all}` })).toEqual([401, 200]);
    const visit = (headers: Record<string, string>) =>
      fetch(`${url}/staff/dashboard`, { headers, redirect: "manual" });
    expect((await visit({ cookie: "staff=ada" })).status).toBe(200);
    expect((await visit({})).headers.get("location")).toBe("https://app.test/login");
  });

  it("refuses a client component that imports the queue, and says how it reaches it", async () => {
    const wrong = await openApplication();
    onTestFinished(() => wrong.close());
    const component = `"use client";\nimport { queue } from "@/lib/queue";\nexport default () => typeof queue;\n`;
    await wrong.write("app/client/page.tsx", component);
    const printed = await wrong.run(`next build --${chosen.bundler} 2>&1 || true`);
    expect(printed).toContain("'server-only' cannot be imported from a Client Component module");
    for (const file of ["sluice-queue/dist/next-browser.js", "lib/queue.ts", "app/client/page.tsx"])
      expect(printed).toContain(file);
  });
});

test("the pages have the server action of the example, and its cron of next dev", () => {
  const shown = [...page.files, ...page.sharedFiles];
  for (const file of ["app/actions.ts", "instrumentation.ts"])
    expect(shown).toContainEqual([file, shownOf(`${example}/${file}`)]);
});

/** Calls the server action of the page with a payload that the schema refuses, and without a Redis. */
const actions = `import { testDeployment } from "sluice-queue/testing";
import { expect, test, vi } from "vitest";
import { signUp } from "@/app/actions";
import { handlers } from "@/lib/queue";

const submit = (to: string) => {
  const form = new FormData();
  form.set("to", to);
  return signUp("", form);
};

test("without a Redis that answers", async () => {
  const error = vi.spyOn(console, "error").mockImplementation(() => {});
  vi.stubEnv("UPSTASH_REDIS_REST_URL", "http://127.0.0.1:1");
  vi.stubEnv("UPSTASH_REDIS_REST_TOKEN", "local");
  expect(await submit("ada@example.com")).toBe("Please try again later.");
  expect(error.mock.calls).toMatchObject([[{ name: "SluiceError", code: "aborted" }]]);
});

test("with an address, a name, and what is no text", async () => {
  const deployment = testDeployment(handlers, { env: { MAIL_URL: "https://mail.test" } });
  expect(await submit("ada@example.com")).toBe("A mail is on its way.");
  expect(await submit("Ada Ö. & Söhne @")).toBe("A mail is on its way.");
  expect(await submit("ada")).toBe("Invalid: to must have an @");
  expect(deployment.enqueued("emails").map(({ id }) => id)).toEqual([
    "welcome-ada%40example.com",
    "welcome-Ada%20%C3%96.%20%26%20S%C3%B6hne%20%40",
  ]);
});
`;

const schema = `const schema = {
  "~standard": {
    version: 1 as const,
    vendor: "application",
    validate: (value: unknown) =>
      (value as { to: string }).to.includes("@")
        ? { value: value as { to: string } }
        : { issues: [{ message: "to must have an @" }] },
  },
};

`;

test("the server action of the page shows why a payload is invalid, and that Redis does not answer", async () => {
  const project = await openApplication();
  onTestFinished(() => project.close());
  await project.edit(
    "lib/queue.ts",
    ["// A mail may take", `${schema}// A mail may take`],
    ['defineQueue<{ to: string }>("emails", { ', 'defineQueue("emails", { schema, '],
  );
  const config = 'export default { resolve: { alias: { "@": import.meta.dirname } } };\n';
  await project.write("vitest.config.mts", config);
  await project.write("actions.test.ts", actions);
  expect(await project.run("vitest run --no-color 2>&1")).toMatch(/Tests +2 passed \(2\)/);
});

test("tests of an application run as the page of tests says", async () => {
  const project = await openApplication();
  onTestFinished(() => project.close());
  const [, section = ""] = /\n## Next\.js\n([\s\S]*?)\n## /.exec(read("docs/testing.md")) ?? [];
  const files = Array.from(section.matchAll(/^`([\w.]+)`.*:\n\n<!--.*-->\n```ts\n([\s\S]*?\n)```$/gm));
  expect(files.map(([, name]) => name)).toEqual(["vitest.config.mts", "signup.test.ts"]);
  for (const [, name = "", text = ""] of files) await project.write(name, text);
  expect(await project.run("vitest run --no-color 2>&1")).toMatch(/Tests +1 passed \(1\)/);
});

test("`next dev` runs the first task, as the page says, and what instrumentation.ts repeats", async () => {
  const [project, place] = await Promise.all([openApplication(), openPlace()]);
  onTestFinished(async () => {
    await project.close();
    await place.close();
  });
  const firstTask = page.files.slice(0, 4);
  expect(firstTask.map(([file]) => file)).toEqual(["lib/queue.ts", route, signUp, ".env.local"]);
  for (const [file, text] of firstTask) await project.write(file, `${text}\n`);
  // A second in place of a minute, and a task that nothing but cron starts.
  const start =
    'export async function register() {\n  await queue(emails).enqueue({ to: "start@example.com" });';
  const [, instrumentation = ""] = page.sharedFiles.find(([file]) => file === "instrumentation.ts") ?? [];
  await project.write(
    "instrumentation.ts",
    `import { emails, queue } from "@/lib/queue";\n${instrumentation}\n`,
  );
  await project.edit("instrumentation.ts", ["export function register() {", start], ["60_000", "1_000"]);
  const { type, printed } = await startApplication(project, page, page.command("npx next dev"), place.env);
  expect(JSON.parse(await type(page.signUp))).toMatchObject({ status: 200, body: { created: true } });
  for (const to of ["start", "a"]) await expect.poll(printed).toContain(`a mail to ${to}@example.com\n`);
  await expect.poll(printed).toMatch(/^\{"drain":"emails","completed":\d,/m);
  expect(JSON.parse(await type(page.sweep ?? ""))).toMatchObject({ status: 200, body: { failed: [] } });
  expect(await type(page.command("npx sluice doctor"))).toContain('"CRON_SECRET is set"');
});

checksCommands(page, /^npx (?:next dev|sluice doctor)/, /^npm install /);
