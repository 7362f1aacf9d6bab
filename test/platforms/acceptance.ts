import { spawn } from "node:child_process";
import { dirname } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { signedHeaders, signingKey } from "../../src/signature.ts";
import { freePort } from "../../src/local/stack/port.ts";
import { asker, type Ask, secrets } from "../http/served.ts";
import { type Page, read, shownOf } from "./page.ts";
import { type Deployed, openMailServer, openPlace, type Place, wakeSecret } from "./place.ts";
import { programs, type Project } from "./project.ts";

/** The example of a platform's page, which runs as the page says. */
export interface StartedExample extends Deployed {
  /** Types a command beside it. Returns what it prints. */
  readonly type: (command: string) => Promise<string>;
}

export interface Platform {
  readonly name: string;
  readonly page: Page;
  /** The code that a user writes, from the root of the repository. */
  readonly code: readonly string[];
  /** The code of the mail service here. @default that of the page */
  readonly mailCode?: readonly string[];
  /** The configuration that a user writes. The part after `# In this repository` is not shown. */
  readonly configuration: readonly string[];
  /** Starts the example as the page says, in the place's environment, which has `MAIL_URL`, too. */
  readonly start: (place: Place) => Promise<StartedExample>;
  /** Whether it compresses the files of the dashboard, because the platform does not. @default false */
  readonly compresses?: boolean;
}

/** Turns the dashboard on, which no page does. */
export const withDashboard = (project: Project, file: string, given = "dashboard: true") =>
  project.edit(file, ["  consumers: [sendWelcome],\n", `  consumers: [sendWelcome],\n  ${given},\n`]);

/** Checks that all commands of a page are typed in a test, or need what no test has. */
export function checksCommands(page: Page, typed: RegExp, remote: RegExp): void {
  it(`${page.path} has no other command that needs neither an account nor the network`, () => {
    expect(page.otherCommands.filter((line) => !typed.test(line) && !remote.test(line))).toEqual([]);
  });
}

const after = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** One suite for every platform: the example of its page, and the HTTP interface beside it, do the same on each. */
export function acceptance({ name, page, code, configuration, start, ...given }: Platform): void {
  const { mailCode = [page.mailCode], compresses = false } = given;
  describe(name, () => {
    let place: Awaited<ReturnType<typeof openPlace>>;
    let mailServer: Awaited<ReturnType<typeof openMailServer>>;
    let deployed: StartedExample;
    let ask: Ask;
    beforeAll(async () => {
      [place, mailServer] = await Promise.all([openPlace(), openMailServer()]);
      deployed = await start({ ...place, env: { ...place.env, MAIL_URL: mailServer.url } });
      ask = asker((request) => deployed.fetch(request));
    }, 120_000);
    afterAll(async () => {
      await deployed?.stop();
      await mailServer?.close();
      await place?.close();
    });

    const task = async (queue: string, id: string) =>
      (await ask("GET", `/v1/queues/${queue}/tasks/${encodeURIComponent(id)}`)).body;
    const enqueue = async (queue: string, json: object) => {
      const { status, body } = await ask("POST", `/v1/queues/${queue}/tasks`, { json });
      expect([status, body.created]).toEqual([201, true]);
      return body.id as string;
    };
    const pull = async (queue: string, json?: object) =>
      (await ask("POST", `/v1/queues/${queue}/tasks/pull`, { json })).body.tasks;
    const settle = async (queue: string, settlement: object) =>
      (await ask("POST", `/v1/queues/${queue}/tasks/settle`, { json: { settlements: [settlement] } })).body
        .results[0];
    const mailsTo = (to: string) =>
      mailServer
        .mails()
        .filter((mail) => mail.to === to)
        .map(({ key, status }) => `${key} ${status}`);

    it("is the code of its page and the mail service of all, which takes at most 40 lines", () => {
      const blocks = page.blocks("ts", "js", "toml", "json", "yaml", "yml", "dockerfile");
      const shown = new Set([...blocks, ...mailCode]);
      expect([...code, ...configuration].map(shownOf).filter((text) => !shown.has(text))).toEqual([]);
      const lines = code.flatMap((file) => read(file).split("\n")).filter((line) => line.trim() !== "");
      expect(lines.length).toBeLessThanOrEqual(40);
    });

    it("is healthy, and refuses calls without a token", async () => {
      expect((await ask("GET", "/health", { as: null })).body).toEqual({ status: "ok" });
      expect((await ask("GET", "/v1/queues", { as: null })).status).toBe(401);
    });

    it("takes a task from enqueue to its result", async () => {
      const id = await enqueue("plain", { payload: { to: "ä\u0000👋" }, headers: { trace: "1" } });
      const [{ receipt, ...pulled }] = await pull("plain");
      expect(pulled).toMatchObject({ id, payload: { to: "ä\u0000👋" }, attempt: 1, headers: { trace: "1" } });
      expect(await settle("plain", { receipt, outcome: "complete", result: [1] })).toMatchObject({
        ok: true,
      });
      expect(await task("plain", id)).toMatchObject({ state: "completed", result: [1] });
    });

    it("has the metrics of its queues for a caller with a token", async () => {
      await enqueue("measured", { payload: 1 });
      expect((await ask("GET", "/metrics", { as: null })).status).toBe(401);
      const { status, body } = await ask("GET", "/metrics?queues=measured");
      expect(status).toBe(200);
      expect(body).toContain('\nsluice_queue_tasks{queue="measured",state="pending"} 1\n');
      expect(body).toMatch(/\n# EOF\n$/);
    });

    it("promotes, reclaims, and keeps what died as dead letters, in each queue, when cron calls", async () => {
      const later = await enqueue("later", { payload: 1, delay: 1 });
      const lost = await enqueue("lost", { payload: 1, lease: 1 });
      const [{ receipt }] = await pull("lost");
      const expired = await enqueue("dead", { payload: 2, lease: 1, maxAttempts: 1 });
      await pull("dead");
      const rejected = await enqueue("dead", { payload: 1 });
      const [refused] = await pull("dead");
      await settle("dead", { receipt: refused.receipt, outcome: "reject", error: "no such address" });
      await after(5);
      await (page.cron ? deployed.type(page.cron) : deployed.cron());
      const states = async () => [
        await task("later", later),
        await task("lost", lost),
        await task("dead", expired),
      ];
      await expect
        .poll(states, { timeout: 20_000 })
        .toMatchObject([
          { state: "pending" },
          { state: "pending" },
          { state: "rejected", reason: "lease_expired" },
        ]);
      expect(await pull("lost", { lease: "1m" })).toMatchObject([{ id: lost, attempt: 2 }]);
      expect(await settle("lost", { receipt, outcome: "complete" })).toMatchObject({ code: "lease_lost" });
      expect(await task("dead", rejected)).toMatchObject({ state: "rejected", error: "no such address" });
      const counts = { rejected: 2, pending: 0, working: 0 };
      expect((await ask("GET", "/v1/queues/dead")).body).toMatchObject(counts);
    });

    it("sweeps on request over HTTP: for an admin, or for an external cron with its secret", async () => {
      const id = await enqueue("asked", { payload: 1, delay: 1 });
      await after(5);
      expect((await ask("POST", "/v1/sweep")).body).toMatchObject({ promoted: 1, failed: [] });
      expect(await task("asked", id)).toMatchObject({ state: "pending" });
      expect(await ask("GET", "/v1/sweep", { as: "cron" })).toMatchObject({ status: 200 });
      expect((await ask("GET", "/v1/sweep", { as: "admin" })).status).toBe(403);
      if (page.sweep === undefined) return;
      const swept = JSON.parse(await deployed.type(page.sweep)) as object;
      expect(swept).toMatchObject({ status: 200, body: { failed: [] } });
    });

    it("works on tasks of its own producer after the response: sends each mail once", async () => {
      const id = "welcome-a%40example.com";
      expect(JSON.parse(await deployed.type(page.signUp))).toEqual({
        status: 201,
        body: { id, created: true },
      });
      const again = await ask("GET", "/signup?to=a@example.com", { as: null });
      expect([again.status, again.body]).toEqual([200, { id, created: false }]);
      expect((await ask("GET", "/signup", { as: null })).status).toBe(404);
      await expect.poll(async () => (await task("emails", id)).state, { timeout: 20_000 }).toBe("completed");
      expect(mailsTo("a@example.com")).toEqual([`${id} 202`]);
    });

    it("works on tasks enqueued over HTTP: tries a failed mail again, and rejects one that is refused", async () => {
      const ids = [
        await enqueue("emails", { payload: { to: "b@example.com" }, id: "b" }),
        await enqueue("emails", { payload: { to: "c@example.com" }, id: "c" }),
      ];
      // The backoff of the example takes up to 10 s.
      const states = async () => {
        await deployed.cron();
        return Promise.all(ids.map((id) => task("emails", id)));
      };
      await expect.poll(states, { timeout: 60_000, interval: 500 }).toMatchObject([
        { state: "completed", attempt: 2 },
        { state: "rejected", attempt: 1, error: { message: "the mail server refuses the address" } },
      ]);
      expect(mailsTo("b@example.com")).toEqual(["b 503", "b 202"]);
      expect(mailsTo("c@example.com")).toEqual(["c 422"]);
    });

    it("has dead letters that the page's commands list and redrive", async () => {
      // Deno's and Bun's ways to run a package's command need the network.
      const type = (line: string) => deployed.type(line.replace(/^.*sluice (?=dead|redrive)/, "npx sluice "));
      const [list = "false", redrive = "false", ...more] = page.deadLetterCommands;
      expect(more).toEqual([]);
      expect(await type(list)).toContain('"id":"c"');
      await type(redrive);
      const sent = async () => (await deployed.cron(), mailsTo("c@example.com"));
      await expect.poll(sent, { timeout: 20_000, interval: 250 }).toEqual(["c 422", "c 422"]);
      await expect.poll(() => type(list), { timeout: 20_000 }).toContain('"attempt":2');
    });

    it("serves the dashboard: its page, a cookie for a token, and with the cookie the routes of /v1", async () => {
      const dashboard = await ask("GET", "/dashboard", { as: null });
      expect([dashboard.status, dashboard.headers.get("content-type")]).toEqual([
        200,
        "text/html; charset=utf-8",
      ]);
      expect(dashboard.headers.get("content-security-policy")).toContain("script-src 'self'");
      const [, script = ""] = /src="(dashboard\/assets\/[^"]+\.js)"/.exec(dashboard.body) ?? [];
      const asset = await ask("GET", `/${script}`, { as: null });
      expect([asset.status, asset.headers.get("cache-control")]).toEqual([
        200,
        "public, max-age=31536000, immutable",
      ]);
      if (compresses) expect(asset.headers.get("content-encoding")).toBe("gzip");
      const signIn = (origin: string) =>
        ask("POST", "/dashboard/session", { as: null, json: { token: secrets.all }, headers: { origin } });
      const refused = await signIn("https://evil.test");
      expect([refused.status, refused.body.code]).toEqual([403, "foreign_origin"]);
      // The platform's emulator chose the host.
      const [, host = ""] = /the host (\S+),/.exec(refused.body.detail) ?? [];
      const signedIn = await signIn(`http://${host}`);
      const [cookie = "", ...attributes] = signedIn.headers.getSetCookie().join("; ").split("; ");
      expect([signedIn.status, cookie]).toEqual([204, `sluice_session=${secrets.all}`]);
      expect(attributes).toEqual(expect.arrayContaining(["HttpOnly", "SameSite=Strict"]));
      const headers = { cookie, origin: `http://${host}` };
      const added = { as: null, headers, json: { payload: "seen", id: "seen" } };
      expect((await ask("POST", "/dashboard/api/v1/queues/seen/tasks", added)).status).toBe(201);
      const seen = "/dashboard/api/v1/queues/seen/tasks/seen?payload=true";
      expect((await ask("GET", seen, { as: null, headers })).body).toMatchObject({
        state: "pending",
        payload: "seen",
      });
      expect((await ask("GET", "/v1/queues/seen", { as: null, headers })).status).toBe(401);
    });

    it("drains a queue when a signed POST wakes it, and no other POST", async () => {
      const id = await enqueue("emails", { payload: { to: "d@example.com" }, delay: 20 });
      await after(30);
      const body = JSON.stringify({ type: "sluice.wake", data: { queue: "emails" } });
      const headers = await signedHeaders(await signingKey(wakeSecret), "wake_1", body);
      const wake = (signed: Record<string, string>) =>
        ask("POST", "/wake", { as: null, raw: body, headers: signed });
      expect((await wake({ ...headers, "webhook-id": "wake_2" })).status).toBe(401);
      expect((await wake({})).status).toBe(401);
      expect([200, 202]).toContain((await wake(headers)).status);
      await expect.poll(async () => (await task("emails", id)).state, { timeout: 20_000 }).toBe("completed");
      expect(mailsTo("d@example.com")).toEqual([`${id} 202`]);
    });

    const { mailService } = page;
    if (mailService !== undefined) {
      it("has a mail service of one command, to try it against", () => runMailService(mailService));
    }
  });
}

async function runMailService(command: string): Promise<void> {
  const port = String(await freePort());
  const PATH = [...Object.values(programs).map((program) => dirname(program)), process.env["PATH"]].join(":");
  const service = spawn("bash", ["-c", `exec ${command.replace("9090", port)}`], { env: { PATH } });
  onTestFinished(() => void service.kill());
  const send = async (to: string) => {
    const body = JSON.stringify({ to });
    return (await fetch(`http://127.0.0.1:${port}`, { method: "POST", body })).status;
  };
  await expect.poll(() => send("a@example.com").catch(() => 0), { timeout: 20_000 }).toBe(204);
  expect(await send("c@example.com")).toBe(422);
}
