import { expect, test } from "vitest";
import { openapi } from "../../src/http/docs/openapi.gen.ts";
import { problems } from "../../src/http/problems/codes.ts";
import { accessRows } from "../http/access-rows.ts";
import { textOf } from "./code.ts";
import { examplesOf, testCommands } from "./commands.ts";
import { useDeployed } from "./scene.ts";

const page = textOf("docs/http.md");

/** The routes of the OpenAPI document, such as `GET /v1/queues/{queue}`. */
const routes = Object.entries(openapi.paths).flatMap(([path, methods]) =>
  Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
);

test("each route of the OpenAPI document has a curl line, and each curl line is of such a route", () => {
  expect(routes.length).toBeGreaterThan(35);
  const requested = examplesOf("docs/http.md").map(({ command }) => {
    const [, path = ""] = /"\$SLUICE_URL([^"?]*)/.exec(command) ?? [];
    const [, method = / -d /.test(command) ? "POST" : "GET"] = /-X (\w+)/.exec(command) ?? [];
    const found = routes.filter((route) => isOf(route, method, path));
    // `…/tasks/pull` is of a route of its own, and not the task `pull`.
    return found.find((route) => !route.endsWith("}")) ?? found[0] ?? `unknown: ${method} ${path}`;
  });
  expect([...new Set(requested)].toSorted()).toEqual(routes.toSorted());
});

function isOf(route: string, method: string, path: string): boolean {
  const [expected = "", template = ""] = route.split(" ");
  const pattern = template.replaceAll(/\{\w+\}/g, "[^/]+");
  return method === expected && new RegExp(`^${pattern}$`).test(path);
}

test("each route is named once, with the scopes that open it", () => {
  const named = Array.from(page.matchAll(/^`([A-Z]+ \/\S*)`, (.*)$/gm), ([, route = "", scopes = ""]) =>
    [route, ...Array.from(scopes.matchAll(/`(\w+)`/g), ([, scope]) => scope)].join(" "),
  );
  const expected = Object.entries(accessRows)
    .filter(([route]) => route !== "GET /")
    .map(([route, { scopes }]) => {
      // The access rows name the parameters as the app does, and the page as the OpenAPI document does.
      const names = scopes.map((scope) => (scope === "cron" ? "CRON_SECRET" : scope));
      return [route.replaceAll(/:(\w+)/g, "{$1}"), ...names].join(" ");
    });
  expect(named.toSorted()).toEqual(expected.toSorted());
});

test("the table of errors has each code with its status", () => {
  const rows = Array.from(page.matchAll(/^\| (\d{3}) \| `(\w+)` \|/gm), ([, ...cells]) => cells.join(" "));
  const codes = Object.entries(problems).map(([code, { status }]) => `${status} ${code}`);
  expect(rows.toSorted()).toEqual(codes.toSorted());
});

const deployed = useDeployed();

testCommands("docs/http.md", {
  async run(command) {
    if (!command.includes("/events")) return deployed.run(command);
    // So that the stream of events has some.
    const timer = setInterval(() => void deployed.queue().enqueue(null), 200);
    return deployed.run(command).finally(() => clearInterval(timer));
  },
});
