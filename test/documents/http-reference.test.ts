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

test("each curl line is of a route of the OpenAPI document", () => {
  const examples = examplesOf("docs/http.md").map(({ command }) => command);
  expect(examples.length).toBeGreaterThan(5);
  const unknown = examples.filter((command) => {
    const [, path = ""] = /"\$SLUICE_URL([^"?]*)/.exec(command) ?? [];
    const [, method = / -d /.test(command) ? "POST" : "GET"] = /-X (\w+)/.exec(command) ?? [];
    return !routes.some((route) => isOf(route, method, path));
  });
  expect(unknown).toEqual([]);
});

function isOf(route: string, method: string, path: string): boolean {
  const [expected = "", template = ""] = route.split(" ");
  const pattern = template.replaceAll(/\{\w+\}/g, "[^/]+");
  return method === expected && new RegExp(`^${pattern}$`).test(path);
}

test("each route is named once, with the scopes that open it", () => {
  const named = Array.from(
    page.matchAll(/^\| `([A-Z]+ \/\S*)` \| (.*?) \|/gm),
    ([, route = "", scopes = ""]) =>
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
  run: (command) => deployed.run(command),
});
