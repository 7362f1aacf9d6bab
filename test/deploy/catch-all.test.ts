import { describe, expect, test } from "vitest";
import { belowCatchAll, type RouteParams } from "../../src/deploy/catch-all.ts";
import { Problem, problemBody, problemResponse } from "../../src/http/problems/problem.ts";
import { frameText } from "../../src/http/responses/event-stream.ts";
import { respond } from "../../src/respond.ts";

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

describe("the links of a problem", () => {
  const lost = () => new Problem("no_route", { headers: { allow: "GET" } });

  test.each([
    ["a route", "/api/queue/nothing", { path: ["nothing"] }, "/api/queue"],
    ["a route with parameters", "/acme/queue/nothing", { tenant: "acme", path: ["nothing"] }, "/acme/queue"],
    ["the root", "/nothing", { path: ["nothing"] }, ""],
    ["a rewritten path, whose route is unknown", "/jobs", { path: ["nothing"] }, ""],
  ])("are below %s", async (_, asked, params, path) => {
    const response = await belowCatchAll(new Request(ORIGIN + asked), params, async () =>
      problemResponse(lost()),
    );
    expect([response.status, Object.fromEntries(response.headers), await response.json()]).toEqual([
      404,
      Object.fromEntries(problemResponse(lost()).headers),
      {
        ...JSON.parse(JSON.stringify(problemBody(lost()))),
        type: `${path}/docs#no_route`,
        detail: `This path does not exist. \`${path}/docs\` lists all routes.`,
      },
    ]);
  });

  test("are below the route in an event stream too, and its other events stay as they are", async () => {
    const data = problemBody(new Problem("redis_unreachable"));
    const task = frameText({
      event: "transition",
      id: 1,
      data: { text: 'event: problem\ndata: {"type":"/docs#x' },
    });
    const end = (type: string) => frameText({ event: "problem", data: { ...data, type } });
    const body = new Blob([task, end("/docs#redis_unreachable")]).stream();
    const response = await belowCatchAll(new Request(`${ORIGIN}/q/v1`), { path: ["v1"] }, async () =>
      respond(body, 200, { "content-type": "text/event-stream" }),
    );
    expect(await response.text()).toBe(task + end("/q/docs#redis_unreachable"));
  });

  test.each([
    [
      "a problem without a body",
      new Response(null, { headers: { "content-type": "application/problem+json" } }),
    ],
    ["another response", Response.json({ type: "/docs#no_route" })],
  ])("leave %s as it is", async (_, response) => {
    expect(await belowCatchAll(new Request(`${ORIGIN}/q/v1`), { path: ["v1"] }, async () => response)).toBe(
      response,
    );
  });
});
