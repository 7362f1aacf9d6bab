import { beforeEach, describe, expect, test } from "vitest";
import { dashboard } from "../../src/dashboard/index.ts";
import type { Authorize } from "../../src/http/dashboard/authorize.ts";
import type { AppOptions } from "../../src/http/index.ts";
import { readKeySpace } from "../support/key-space.ts";
import { browser, cookieOf, ORIGIN, useDashboard } from "./dashboard-served.ts";
import { asker, expectProblem, secrets } from "./served.ts";

// The dashboard of an application that lets its own users in.

const served = useDashboard();
const api = "/dashboard/api/v1";
const keySpace = () => readKeySpace(served.redis.url);

/** What the application gives each of its users, by the value of its own cookie. */
const users: Readonly<Record<string, unknown>> = {
  admin: { scopes: ["enqueue", "admin"], queues: "*" },
  viewer: { scopes: ["view"], queues: "mails-*" },
  veiled: [{ scopes: ["view"], queues: "mails-*", payloads: "hidden" }],
  enqueuer: { scopes: ["enqueue"], queues: "*" },
  stranger: undefined,
  absent: null,
  refused: false,
  guest: Response.redirect("https://app.test/login"),
  "not-a-scope": { scopes: ["root"], queues: "*" },
  "no-queues": { scopes: ["admin"] },
  token: secrets.admin,
  yes: true,
};
const as = (user: string) => ({ cookie: `user=${user}` });
const letIn = ["admin", "viewer", "veiled"];
const turnedAway = ["stranger", "absent", "refused", "guest"];

const authorize = (async ({ headers }) => {
  const [, user = ""] = /user=([\w-]+)/.exec(headers.get("cookie") ?? "") ?? [];
  if (user === "fails") throw new Error("the database of users is down");
  return users[user];
}) as Authorize;

const faults: unknown[] = [];
beforeEach(() => void (faults.length = 0));
const make = (more: Partial<AppOptions> = {}) =>
  served.make({
    dashboard: async () => ({ ...dashboard, authorize }),
    onError: ({ error }) => faults.push(error),
    ...more,
  });
const visiting = (more?: Partial<AppOptions>) => {
  const app = make(more);
  return browser((request) => app.fetch(request));
};

describe("an application that lets its users into the dashboard", () => {
  test.each(letIn)("gives them what it says, also without any token: %s", async (user) => {
    const visit = visiting({ tokens: [], cronSecret: undefined });
    const page = await visit("GET", "/dashboard", as(user));
    expect([page.status, page.text]).toEqual([200, expect.stringContaining("<title>")]);
    const grants = [users[user]].flat();
    const session = await visit("GET", "/dashboard/session", as(user));
    expect(session.body).toEqual({ grants, login: "application" });
    expect((await visit("GET", `${api}/token`, as(user))).body).toEqual({ grants });
  });

  test("answers as a token of the same scopes does", async () => {
    const visit = visiting();
    const json = { payload: "secret", id: "a" };
    for (const queue of ["mails-1", "others"]) {
      const added = await visit("POST", `${api}/queues/${queue}/tasks`, { ...as("admin"), json });
      expect([added.status, added.body]).toEqual([201, { id: "a", created: true }]);
    }
    const { body } = await visit("GET", `${api}/queues`, as("viewer"));
    expect(body.queues.map(({ name }: { name: string }) => name)).toEqual(["mails-1"]);
    const task = `${api}/queues/mails-1/tasks/a?payload=true`;
    expect((await visit("GET", task, as("viewer"))).body).toMatchObject({ payload: "secret" });
    expect((await visit("GET", task, as("veiled"))).text).not.toContain("secret");
    const before = await keySpace();
    const pause = await visit("POST", `${api}/queues/mails-1/pause`, as("viewer"));
    expectProblem(pause, "forbidden");
    expectProblem(await visit("GET", `${api}/queues/others`, as("viewer")), "forbidden");
    expect(await keySpace()).toEqual(before);
    expect((await visit("POST", `${api}/queues/mails-1/pause`, as("admin"))).body.paused).toBe(true);
  });

  test.each(turnedAway)("shows nothing to others: %s", async (user) => {
    const visit = visiting();
    const session = await visit("GET", "/dashboard/session", as(user));
    expect(session.body).toEqual({ grants: null, login: "application" });
    expectProblem(await visit("GET", `${api}/queues`, as(user)), "unauthorized");
    const page = await visit("GET", "/dashboard", as(user));
    const isGuest = user === "guest";
    expect([page.status, page.headers.get("location")]).toEqual(
      isGuest ? [302, "https://app.test/login"] : [200, null],
    );
    expect(page.headers.get("x-frame-options")).toBe("DENY");
  });

  test("may answer in place of the page with several cookies", async () => {
    const headers = new Headers({ location: "/login" });
    for (const cookie of ["session=; Max-Age=0", "back=/queue"]) headers.append("set-cookie", cookie);
    const login = new Response(null, { status: 303, headers });
    const visit = visiting({ dashboard: { ...dashboard, authorize: () => login } });
    const page = await visit("GET", "/dashboard");
    expect([page.status, page.headers.getSetCookie()]).toEqual([303, headers.getSetCookie()]);
  });

  test("must give the scope view", async () => {
    for (const path of ["/dashboard", "/dashboard/session", `${api}/queues/q/tasks/a`])
      expectProblem(await visiting()("GET", path, as("enqueuer")), "forbidden");
  });

  test.each(["not-a-scope", "no-queues", "token", "yes", "fails"])(
    "lets no viewer in if it fails, or answers something else, and the log says why: %s",
    async (user) => {
      for (const path of ["/dashboard", "/dashboard/session", `${api}/queues`])
        expectProblem(await visiting()("GET", path, as(user)), "internal");
      const why =
        user === "fails" ? /users is down/ : /authorize\(\).*\{ scopes: \["view"\], queues: "\*" \}$/;
      expect(faults).toHaveLength(3);
      for (const fault of faults) expect((fault as Error).message).toMatch(why);
    },
  );
});

describe("what is logged", () => {
  const own = 'the dashboard expects { scopes: ["view"], queues: "*" }';

  test.each([
    ["fails", "authorize() failed: the database of users is down"],
    ["yes", `authorize()[0].scopes is required; ${own}`],
    ["not-a-scope", `authorize()[0].scopes[0] must be enqueue, consume, view or admin; ${own}`],
    ["no-queues", `authorize()[0].queues is required; ${own}`],
  ])("of authorize is its own message, and the caller gets neither: %s", async (user, message) => {
    const lines: unknown[] = [];
    const error = (line: unknown) => void lines.push(line);
    const logger = { debug: error, info: error, warn: error, error };
    const { body, text } = await visiting({ onError: undefined, logger })("GET", "/dashboard", as(user));
    const { instance } = body;
    expect(lines).toMatchObject([{ instance, code: "internal", error: "AuthorizeError", message }]);
    expect(text).not.toMatch(/authorize|down/);
  });
});

describe("what the application gives its users", () => {
  const everything = {
    authorization: `Bearer ${secrets.all}`,
    "x-forwarded-user": "admin",
    "x-user": "admin",
  };

  test("no token, cookie or header of a caller replaces", async () => {
    const visit = visiting();
    const before = await keySpace();
    for (const user of ["stranger", "guest"]) {
      const asToken = { cookie: `user=${user}; ${cookieOf(secrets.all)}`, headers: everything };
      expectProblem(await visit("GET", `${api}/queues`, asToken), "unauthorized");
      expectProblem(await visit("POST", `${api}/queues/q/pause`, asToken), "unauthorized");
      expect((await visit("GET", "/dashboard/session", asToken)).body).toMatchObject({ grants: null });
    }
    const asViewer = { cookie: `user=viewer; ${cookieOf(secrets.all)}`, headers: everything };
    expectProblem(await visit("POST", `${api}/queues/mails-1/pause`, asViewer), "forbidden");
    expect(await keySpace()).toEqual(before);
  });

  test("is no way to sign in with a token", async () => {
    const json = { token: secrets.admin };
    for (const method of ["POST", "DELETE"]) {
      const answer = await visiting()(method, "/dashboard/session", { ...as("admin"), json });
      expectProblem(answer, "method_not_allowed");
      expect(answer.headers.getSetCookie()).toEqual([]);
    }
  });

  test("does not open the HTTP interface, which takes tokens as before", async () => {
    const app = make();
    const ask = asker((request) => app.fetch(request));
    const headers = { cookie: "user=admin", origin: ORIGIN, "sec-fetch-site": "same-origin" };
    for (const [method, path] of [
      ["GET", "/v1/queues"],
      ["POST", "/v1/queues/q/tasks"],
      ["POST", "/v1/sweep"],
      ["GET", "/metrics"],
    ] as const)
      expectProblem(await ask(method, path, { as: null, headers }), "unauthorized");
    for (const authorization of [
      "Pass",
      "Pass undefined",
      `Pass ${crypto.randomUUID()}`,
      "null",
      "[object Object]",
    ])
      expectProblem(
        await ask("GET", "/v1/queues", { as: null, headers: { ...headers, authorization } }),
        "unauthorized",
      );
    expect((await ask("GET", "/v1/queues", { as: "view" })).status).toBe(200);
    const closed = make({ tokens: [], cronSecret: undefined });
    const asked = await asker((request) => closed.fetch(request))("GET", "/v1/queues", { as: null, headers });
    expectProblem(asked, "auth_not_configured");
  });

  test.each<Record<string, string>>([
    { origin: "https://evil.test" },
    { origin: "https://sub.sluice.test", "sec-fetch-site": "same-site" },
    { origin: "" },
    { origin: ORIGIN, "sec-fetch-site": "cross-site" },
  ])("is nothing for a page of another origin, whatever cookie it sends: %j", async (headers) => {
    const before = await keySpace();
    const visit = visiting();
    const pause = await visit("POST", `${api}/queues/q/pause`, { ...as("admin"), headers });
    expectProblem(pause, "foreign_origin");
    if (headers["sec-fetch-site"])
      expectProblem(await visit("GET", `${api}/queues`, { ...as("admin"), headers }), "foreign_origin");
    expect(await keySpace()).toEqual(before);
  });

  test("holds for each of many requests at the same time", async () => {
    const visit = visiting();
    const asked = Array.from({ length: 30 }, (_, i) => [...letIn, "stranger"][i % 4] ?? "");
    const answers = await Promise.all(asked.map((user) => visit("GET", `${api}/token`, as(user))));
    expect(answers.map(({ status, body }) => (status === 200 ? body.grants : status))).toEqual(
      asked.map((user) => (user === "stranger" ? 401 : [users[user]].flat())),
    );
  });
});
