import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { freePort } from "../../../src/local/stack/port.ts";
import { secrets } from "../../http/served.ts";
import { type Page, sharedMailCode } from "../page.ts";
import { type Place } from "../place.ts";
import { Project } from "../project.ts";

/** Where the catch-all route of the example is. */
const ROUTE = "/api/queue";

/** The folder of an application, as `create-next-app` makes it, with the example. It downloads nothing. */
export async function openApplication(): Promise<Project> {
  const project = await Project.open({
    folder: "examples/next",
    tools: [
      {
        from: "test/platforms/next",
        packages: ["next", "react", "react-dom", "typescript", "@types/node", "@types/react"],
        commands: ["next"],
      },
      { from: ".", packages: ["vitest"], commands: ["vitest"] },
    ],
    env: { NEXT_TELEMETRY_DISABLED: "1" },
  });
  // The packages are links to folders of the repository, which Turbopack follows only below its root.
  const config = { turbopack: { root: "/" }, outputFileTracingRoot: "/", experimental: { cpus: 1 } };
  await project.write("next.config.mjs", `export default ${JSON.stringify(config)};\n`);
  return project;
}

/** Starts an application, with the settings of the page, and returns what calls it. */
export async function startApplication(project: Project, page: Page, command: string, env: Place["env"]) {
  await project.write(".env.local", page.settings(env));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const server = await project.start(`${command} --port ${port}`, {}, url);
  const vercel = JSON.parse(await readFile(join(project.path, "vercel.json"), "utf8")) as {
    readonly crons: readonly { readonly path: string }[];
  };
  return {
    url,
    printed: server.printed,
    /** Requests to the HTTP interface reach the catch-all route. */
    fetch(request: Request) {
      const { pathname, search } = new URL(request.url);
      const path = pathname === "/signup" ? pathname : ROUTE + pathname;
      const { method, headers, body } = request;
      return fetch(url + path + search, { method, headers, body, duplex: "half" } as RequestInit);
    },
    /** As Vercel's cron calls it. */
    async cron() {
      for (const { path } of vercel.crons) {
        const response = await fetch(url + path, { headers: { authorization: `Bearer ${secrets.cron}` } });
        if (!response.ok) throw new Error(`cron: HTTP ${response.status} ${await response.text()}`);
        await response.body?.cancel();
      }
    },
    type(line: string) {
      return project.run(
        line.replace("http://localhost:3000", url).replace("only-on-my-machine", secrets.cron),
      );
    },
    /** Sends the form of a page, as a browser without scripts does. Returns the page that answers. */
    async submit(path: string, fields: Readonly<Record<string, string>>) {
      const page = await (await fetch(url + path)).text();
      const hidden = page.matchAll(/<input type="hidden" name="([^"]+)"(?: value="([^"]*)")?/g);
      const body = new FormData();
      for (const [, name = "", value = ""] of hidden) body.set(name, value.replaceAll("&quot;", '"'));
      for (const [name, value] of Object.entries(fields)) body.set(name, value);
      return await (await fetch(url + path, { method: "POST", body, headers: { origin: url } })).text();
    },
    async stop() {
      server.kill("SIGTERM");
      await server.ended;
    },
  };
}

/** The mail service of all platforms in the files of the example: the deployment, and `fetch` as a route. */
export function mailCode(): string[] {
  const FETCH = /\n\n( {2}\/\/ The producer.*)\n {2}async fetch\(.*\) \{\n([\s\S]*?)\n {2}\},\n\}\);/;
  const [, comment = "", body = ""] = FETCH.exec(sharedMailCode) ?? [];
  const deployment = sharedMailCode
    .replace(/^import \{ sluice \}.*$/m, 'import { sluice } from "sluice-queue/next";')
    .replace("\nconst emails", "\nexport const emails")
    .replace(/^export default sluice/m, "export const { handlers, queue } = sluice")
    .replace(FETCH, "\n});")
    .replace("({\n  consumers: [sendWelcome],\n})", "({ consumers: [sendWelcome] })");
  const route = `import { emails, queue } from "@/lib/queue";

${comment.trim()}
export async function GET(request: Request) {
${body.replaceAll(/^ {2}/gm, "")}
}`;
  return [deployment, route];
}
