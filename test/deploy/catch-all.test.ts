import { expect, test } from "vitest";
import { belowCatchAll, type RouteParams } from "../../src/deploy/catch-all.ts";

const ORIGIN = "https://sluice.test";

/** What an app below a catch-all route gets of a request. */
async function below(path: string, params: RouteParams): Promise<string> {
  let url = "";
  await belowCatchAll(new Request(ORIGIN + path), params, async (request) => {
    url = request.url;
    return new Response();
  });
  return url.slice(ORIGIN.length);
}

const sweep = ["v1", "sweep"];

test.each<[what: string, path: string, params: RouteParams, below: string]>([
  ["the route itself", "/api/queue", {}, "/"],
  ["the route itself, with a slash", "/api/queue/", { path: undefined }, "/"],
  ["a path", "/api/queue/v1/sweep", { path: sweep }, "/v1/sweep"],
  ["a path with a slash at its end", "/api/queue/v1/sweep/", { path: sweep }, "/v1/sweep"],
  ["a base path and a locale", "/shop/de/api/queue/v1/sweep", { path: sweep }, "/v1/sweep"],
  ["the root", "/v1/sweep", { path: sweep }, "/v1/sweep"],
  ["another parameter", "/acme/queue/health", { tenant: "acme", path: ["health"] }, "/health"],
  ["a rewritten path", "/jobs", { path: ["dashboard"] }, "/dashboard"],
  ["a rewritten path, encoded", "/task", { path: ["tasks", "a b/c"] }, "/tasks/a%20b%2Fc"],
  ["an encoded id", "/q/tasks/a%2Fb%25", { path: ["tasks", "a/b%"] }, "/tasks/a%2Fb%25"],
  ["a parameter that stays encoded", "/q/tasks/a%2Fb", { path: ["tasks", "a%2Fb"] }, "/tasks/a%2Fb"],
  ["an invalid code", "/q/%zz", { path: ["%zz"] }, "/%zz"],
  ["its own query", "/q/v1/sweep?budget=1s&path=x", { path: sweep }, "/v1/sweep?budget=1s&path=x"],
  ["what Next.js adds", "/q/v1/sweep?budget=1s&path=v1&path=sweep", { path: sweep }, "/v1/sweep?budget=1s"],
  ["what Vercel adds", "/q/health?nxtPpath=health&nxtPid=7", { path: ["health"], id: "7" }, "/health"],
])("%s", async (_, path, params, expected) => {
  expect(await below(path, params)).toBe(expected);
});

test("keeps the method, the headers and the body", async () => {
  const init = { method: "PUT", body: "{}", headers: { authorization: "Bearer t" } };
  const answer = async (request: Request) =>
    new Response(`${request.method} ${request.headers.get("authorization")} ${await request.text()}`);
  const response = await belowCatchAll(new Request(`${ORIGIN}/q/v1`, init), { path: ["v1"] }, answer);
  expect(await response.text()).toBe("PUT Bearer t {}");
});

test.each([
  ["/api/queue", {}, "docs", "queue/docs"],
  ["/api/queue", {}, "/login", "/login"],
  ["/api/queue", {}, "https://sluice.test/docs", "https://sluice.test/docs"],
  ["/api/queue/", {}, "docs", "docs"],
  ["/", {}, "docs", "docs"],
  ["/api/queue/dashboard", { path: ["dashboard"] }, "elsewhere", "elsewhere"],
])("a redirect of %s with %j to %s leads to %s", async (path, params, location, expected) => {
  const answer = async () => new Response(null, { status: 302, headers: { location } });
  const response = await belowCatchAll(new Request(ORIGIN + path), params, answer);
  expect([response.status, response.headers.get("location")]).toEqual([302, expected]);
});
