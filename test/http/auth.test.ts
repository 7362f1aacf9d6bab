import { createHash } from "node:crypto";
import { describe, expect, it, vi } from "vitest";
import type { TokenEntry } from "../../src/http/auth/tokens.ts";
import { callables } from "./access-rows.ts";
import { secrets, useServed } from "./served.ts";

// How tokens are known, and what a refusal says. Who may call what: access.test.ts.

const served = useServed();

const sha256 = (token: string) => createHash("sha256").update(token).digest("hex");
const queueAs = (authorization: string) =>
  served.ask("GET", "/v1/queues/a", { as: null, headers: { authorization } });

describe("a refusal", () => {
  it("names the scope and the queue, or asks for a token; shows none", async () => {
    const { status, body, headers } = await served.ask("POST", "/v1/queues/mails-1/pause", { as: "view" });
    expect([status, body.code]).toEqual([403, "forbidden"]);
    expect(body.detail).toBe("The token does not have the scope admin for the queue mails-1.");
    expect(headers.get("www-authenticate")).toContain("insufficient_scope");
    const without = await served.ask("GET", "/v1/queues/a", { as: null });
    expect(without.headers.get("www-authenticate")).toBe('Bearer realm="sluice"');
    const unknown = await queueAs("Bearer unknown-0123456789");
    expect([unknown.status, unknown.body.code]).toEqual([401, "unauthorized"]);
    expect(unknown.headers.get("www-authenticate")).toMatch(/^Bearer realm="sluice"/);
    expect(JSON.stringify(unknown.body)).not.toContain("0123456789");
  });

  it("of a sweep by GET says that it is for the cron secret, and HEAD never sweeps", async () => {
    const { status, body } = await served.ask("GET", "/v1/sweep", { as: "all" });
    const detail = "This route accepts only the cron secret. With a token, send a POST.";
    expect([status, body.detail]).toEqual([403, detail]);
    expect((await served.ask("HEAD", "/v1/sweep", { as: "cron" })).status).toBe(405);
  });
});

describe("a token", () => {
  const statusOf = async (sha256: string, authorization: string) => {
    const ask = served.asking({ tokens: [{ sha256, scopes: ["admin"], queues: "*" }] });
    return (await ask("GET", "/v1/queues/a", { as: null, headers: { authorization } })).status;
  };

  it("may be named by its SHA-256, in either case, and the scheme too; one that differs in a character is another", async () => {
    const digest = sha256("hashed-0123456789");
    expect(await statusOf(digest.toUpperCase(), "bearer hashed-0123456789")).toBe(200);
    expect(await statusOf(digest.toUpperCase(), `Bearer ${digest}`)).toBe(401);
    for (const at of digest.split("").keys()) {
      const other = digest.slice(0, at) + (digest[at] === "0" ? "1" : "0") + digest.slice(at + 1);
      expect([at, await statusOf(other, "Bearer hashed-0123456789")]).toEqual([at, 401]);
    }
  });

  it("is known by the same SHA-256 if only WebCrypto can compute it", async () => {
    const builtin = vi.spyOn(process, "getBuiltinModule").mockReturnValue(undefined);
    vi.resetModules();
    const { Authenticator } = await import("../../src/http/auth/authenticator.ts");
    expect(builtin).toHaveBeenCalledWith("node:crypto");
    builtin.mockRestore();
    const token = secrets.consume;
    const entry: TokenEntry = { sha256: sha256(token), scopes: ["consume"], queues: "*" };
    const authenticator = new Authenticator([entry], undefined);
    expect((await authenticator.authenticate(`Bearer ${token}`)).has("consume")).toBe(true);
    const refused = { code: "unauthorized" };
    await expect(authenticator.authenticate(`Bearer ${token}0`)).rejects.toMatchObject(refused);
  });

  it("that is in two entries has the scopes of each for the queues of each", async () => {
    const status = async (queue: string, path: string, json: unknown) =>
      (await served.ask("POST", `/v1/queues/${queue}/tasks${path}`, { as: "mixed", json })).status;
    expect([await status("in", "", { payload: 1 }), await status("out", "/pull", {})]).toEqual([201, 200]);
    expect([await status("out", "", { payload: 1 }), await status("in", "/pull", {})]).toEqual([403, 403]);
  });

  it("is checked before the queue's name, the body or the id", async () => {
    expect((await served.ask("POST", "/v1/queues/.bad/tasks", { as: null, raw: "{" })).status).toBe(401);
    expect((await served.ask("POST", "/v1/queues/a/tasks", { as: "consume", raw: "{" })).status).toBe(403);
  });

  const known = "0123456789abcdef";
  it.each([
    ["scopes", { token: known, scopes: [], queues: "*" }],
    ["token", { token: "short", scopes: ["admin"], queues: "*" }],
    ["queues", { token: known, scopes: ["admin"] }],
    ["queues", { token: known, scopes: ["admin"], queues: "a b" }],
    ["sha256", { sha256: "abc", scopes: ["admin"], queues: "*" }],
    ["", { scopes: ["admin"], queues: "*" }],
    ["scopes[0]", { token: known, scopes: ["root"], queues: "*" }],
    ["scope", { token: known, scopes: ["admin"], queues: "*", scope: 1 }],
    ["payloads", { token: known, scopes: ["view"], queues: "*", payloads: "masked" }],
    ["payloads", { token: known, scopes: ["view"], queues: "*", payloads: null }],
  ])("of a wrong form is refused at the start, without a secret in the message: %s", (field, entry) => {
    const make = () => served.make({ tokens: [entry as TokenEntry] });
    const path = `tokens[0]${field && `.${field}`}`;
    expect(make).toThrow(expect.objectContaining({ code: "invalid_argument", path }));
    expect(make).not.toThrow(/0123456789abcdef|short/);
  });
});

describe("without a cron secret", () => {
  const unset = "CRON_SECRET is not set here, so the platform's cron has no token.";
  it.each([
    ["GET", "/v1/sweep", null, unset],
    ["POST", "/v1/sweep", "cron", unset],
    ["GET", "/v1/queues", "cron", ""],
    ["GET", "/v1/queues", null, ""],
  ] as const)(
    "a caller that is refused hears so at the sweep alone: %s %s as %s",
    async (method, path, as, said) => {
      const detailOf = async (cronSecret: string | undefined): Promise<string> => {
        const { status, body } = await served.asking({ cronSecret })(method, path, { as });
        expect(status).toBe(401);
        return body.detail;
      };
      const detail = await detailOf("another-secret-of-cron");
      expect(await detailOf(undefined)).toBe(said === "" ? detail : `${detail} ${said}`);
    },
  );
});

describe("without any token", () => {
  it("every route except the open ones answers auth_not_configured, and does nothing", async () => {
    const ask = served.asking({ tokens: [], cronSecret: undefined });
    // A path that is not of the interface: its caller needs no token to hear so.
    expect((await ask("GET", "/nowhere")).status).toBe(404);
    const others = ["GET /v1/nowhere", "OPTIONS /v1/queues", "DELETE /v1/queues"].map((one) => {
      const [method = "", at = ""] = one.split(" ");
      return { method, path: () => at, json: undefined, scopes: ["admin"] };
    });
    for (const { method, path, json, scopes } of [...callables, ...others]) {
      const { status, body } = await ask(method, path("untouched"), { json });
      const expected = scopes.length > 0 ? [503, "auth_not_configured"] : [expect.any(Number), undefined];
      expect([method, path("x"), status, body.code]).toEqual([method, path("x"), ...expected]);
    }
    expect((await served.ask("GET", "/v1/queues/untouched")).body).toMatchObject({ pending: 0 });
  });

  it.each([
    ["GET", "/v1/sweep", undefined, "neither SLUICE_TOKENS nor CRON_SECRET."],
    ["GET", "/v1/queues", undefined, "neither SLUICE_TOKENS nor CRON_SECRET."],
    ["GET", "/v1/queues", secrets.cron, "no SLUICE_TOKENS. The route"],
  ])(
    "the answer names what is not set, and nothing that is: %s %s",
    async (method, path, cronSecret, named) => {
      const { body } = await served.asking({ tokens: [], cronSecret })(method, path, { as: null });
      const { code, detail } = body;
      expect([code, detail]).toEqual([
        "auth_not_configured",
        expect.stringContaining(`The server has ${named}`),
      ]);
      if (cronSecret) expect(detail).not.toContain("CRON_SECRET");
    },
  );

  it("a cron secret opens the sweep, and nothing else", async () => {
    const ask = served.asking({ tokens: [] });
    expect((await ask("GET", "/v1/sweep", { as: "cron" })).status).toBe(200);
    expect((await ask("GET", "/v1/sweep", { as: "all" })).status).toBe(401);
    expect((await ask("GET", "/v1/queues", { as: "cron" })).body.code).toBe("auth_not_configured");
  });
});
