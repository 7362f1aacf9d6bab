import { describe, expect, test } from "vitest";
import { cookieOf, useDashboard } from "./dashboard-served.ts";
import { expectProblem, secrets } from "./served.ts";

const served = useDashboard();

const signIn = (json: unknown, more: Parameters<typeof served.visit>[2] = {}) =>
  served.visit("POST", "/dashboard/session", { json, ...more });
const cookiesOf = ({ headers }: { headers: Headers }) => headers.getSetCookie();
const HOURS = "Max-Age=43200; HttpOnly; SameSite=Strict";

describe("signing in", () => {
  test.each(["view", "admin", "all", "mails"] as const)(
    "sets a cookie that only the dashboard gets, with the scope view or admin: %s",
    async (who) => {
      const answer = await signIn({ token: secrets[who] });
      expect([answer.status, answer.text]).toEqual([204, ""]);
      expect(cookiesOf(answer)).toEqual([`sluice_session=${secrets[who]}; ${HOURS}; Secure`]);
    },
  );

  test.each(["enqueue", "consume", "cron", "mixed"] as const)(
    "is refused without these scopes, and sets no cookie: %s",
    async (who) => {
      const answer = await signIn({ token: secrets[who] });
      expect(expectProblem(answer, "forbidden").detail).toBe("The token does not have the scope view.");
      expect(cookiesOf(answer)).toEqual([]);
    },
  );

  test("is refused with an unknown token", async () => {
    const answer = await signIn({ token: "unknown-0123456789abcdef" });
    expectProblem(answer, "unauthorized");
    expect(cookiesOf(answer)).toEqual([]);
  });

  test.each([
    [{}, "token"],
    [{ token: 1 }, "token"],
    [{ token: "" }, "token"],
    [{ token: "with a space-0123456789" }, "token"],
    [{ token: "line\nbreak-0123456789abc" }, "token"],
    [{ token: "x".repeat(513) }, "token"],
    [{ token: secrets.view, remember: true }, "remember"],
  ])("names what is wrong with %j", async (json, path) => {
    const { errors } = expectProblem(await signIn(json), "invalid_request");
    expect(errors).toEqual([{ path, message: expect.any(String) }]);
  });

  test("reads no large body, and only JSON", async () => {
    expectProblem(await signIn({ token: "x".repeat(20_000) }), "payload_too_large");
    const form = { headers: { "content-type": "application/x-www-form-urlencoded" } };
    expectProblem(await signIn({ token: secrets.view }, form), "unsupported_media_type");
    expectProblem(await signIn(undefined), "invalid_request");
  });

  test("encodes each character that a token may have, so that the cookie brings the same token back", async () => {
    const token = String.fromCharCode(...Array.from({ length: 94 }, (_, at) => 33 + at));
    const visit = served.visiting({ tokens: [{ token, scopes: ["view"], queues: "*" }] });
    const [set = ""] = cookiesOf(await visit("POST", "/dashboard/session", { json: { token } }));
    const [cookie = ""] = set.split(";");
    expect(cookie).toMatch(/^sluice_session=[!#-+\--:<-[\]-~]+$/);
    expect((await visit("GET", "/dashboard/api/v1/token", { cookie })).status).toBe(200);
  });

  test("says that no token is configured, while the page still loads", async () => {
    const visit = served.visiting({ tokens: [] });
    expect((await visit("GET", "/dashboard")).status).toBe(200);
    const json = { token: secrets.view };
    expectProblem(await visit("POST", "/dashboard/session", { json }), "auth_not_configured");
    const queues = await visit("GET", "/dashboard/api/v1/queues", { cookie: served.view });
    expectProblem(queues, "auth_not_configured");
  });
});

describe("the cookie", () => {
  test("is Secure, except over HTTP on this machine", async () => {
    for (const [secure, origins] of [
      ["", "http://localhost http://localhost:8787 http://127.0.0.1:8787 http://127.8.9.1 http://[::1]:8787"],
      ["; Secure", "https://localhost:8787 https://sluice.test http://sluice.test http://192.168.0.7:8787"],
      ["; Secure", "http://localhost.evil.test http://127.0.0.1.evil.test"],
    ] as const)
      for (const origin of origins.split(" ")) {
        const set = cookiesOf(await signIn({ token: secrets.view }, { origin }));
        expect([origin, set]).toEqual([origin, [`sluice_session=${secrets.view}; ${HOURS}${secure}`]]);
      }
  });

  test("is removed by signing out, which needs no valid session", async () => {
    const removed = "sluice_session=; Max-Age=0; HttpOnly; SameSite=Strict; Secure";
    for (const options of [{ cookie: served.view }, { cookie: "sluice_session=%" }, {}]) {
      const answer = await served.visit("DELETE", "/dashboard/session", options);
      expect([answer.status, cookiesOf(answer)]).toEqual([204, [removed]]);
    }
  });

  test.each([
    ["none", ""],
    ["an empty one", "sluice_session="],
    ["one that is not percent-encoded text", "sluice_session=%E0%A4%A"],
    ["one with a line break", `sluice_session=${encodeURIComponent(`${secrets.view}\r\nx-a: b`)}`],
    ["one with a space", `sluice_session=${secrets.view}%20${secrets.admin}`],
    ["one that is too long", `sluice_session=${"x".repeat(513)}`],
    ["one of another name", `xsluice_session=${secrets.view}; sluice_sessions=${secrets.view}`],
    ["one of an unknown token", cookieOf("unknown-0123456789abcdef")],
    ["two that differ", `${cookieOf(secrets.view)}; ${cookieOf(secrets.admin)}`],
    ["two of which one is unknown", `sluice_session=other; ${cookieOf(secrets.admin)}`],
  ])("opens nothing if there is %s", async (_, cookie) => {
    expectProblem(await served.visit("GET", "/dashboard/api/v1/queues", { cookie }), "unauthorized");
  });

  test("may come with others, and twice with the same value", async () => {
    const cookie = `a=b;${served.view} ; sluice=x;  ${served.view}`;
    expect((await served.visit("GET", "/dashboard/api/v1/queues", { cookie })).status).toBe(200);
  });

  test("is not accepted by /v1 itself", async () => {
    for (const [method, path] of [
      ["GET", "/v1/queues"],
      ["POST", "/v1/queues/q/pause"],
    ] as const)
      expectProblem(await served.visit(method, path, { cookie: served.admin }), "unauthorized");
  });
});
