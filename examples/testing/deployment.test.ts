import { testDeployment } from "sluice-queue/testing";
import { afterEach, expect, test, vi } from "vitest";
import app from "./worker.ts";

afterEach(() => void vi.useRealTimers().restoreAllMocks());

test("a sign-up sends one mail, also if its URL is called again", async () => {
  const mailServer = vi.spyOn(globalThis, "fetch").mockResolvedValue(new Response());
  const deployment = testDeployment(app, { env: { MAIL_URL: "https://mail.test" } });

  const response = await deployment.fetch("/signup?to=ada@example.com");
  expect(response.status).toBe(201);
  expect(await deployment.tasks("emails")).toMatchObject([{ state: "completed" }]);

  await deployment.advance("2h");
  await deployment.fetch("/signup?to=ada@example.com");
  expect(mailServer).toHaveBeenCalledTimes(1);
});

test("no mail is lost if the mail server is down for an hour", async () => {
  const mailServer = vi.spyOn(globalThis, "fetch").mockRejectedValue(new Error("no route"));
  const deployment = testDeployment(app, { env: { MAIL_URL: "https://mail.test" } });
  await deployment.fetch("/signup?to=ada@example.com");
  await deployment.advance("1h");

  mailServer.mockResolvedValue(new Response());
  await deployment.runToEnd();
  expect(await deployment.tasks("emails")).toMatchObject([{ state: "completed" }]);
  expect(await deployment.deadLetters("emails")).toEqual([]);
});

test("a mail server that hangs is asked again", async () => {
  vi.useFakeTimers({ shouldAdvanceTime: true });
  const mailServer = vi.spyOn(globalThis, "fetch").mockReturnValue(new Promise(() => {}));
  const deployment = testDeployment(app, { env: { MAIL_URL: "https://mail.test" } });

  const response = deployment.fetch("/signup?to=ada@example.com");
  await vi.waitFor(() => expect(mailServer).toHaveBeenCalled());
  await vi.advanceTimersByTimeAsync(11_000); // the timeout of 10 s, and half a second
  await response;
  expect(await deployment.tasks("emails")).toMatchObject([{ state: "delayed", attempt: 1 }]);
});

test("a token may have fewer scopes", async () => {
  const token = "a-token-that-only-enqueues";
  const SLUICE_TOKENS = JSON.stringify([{ token, scopes: ["enqueue"], queues: "*" }]);
  const deployment = testDeployment(app, { env: { SLUICE_TOKENS } });
  const headers = { authorization: `Bearer ${token}` };
  expect((await deployment.fetch("/v1/queues/emails/tasks/welcome-1", { headers })).status).toBe(404);
  const pull = { method: "POST", headers };
  expect((await deployment.fetch("/v1/queues/emails/tasks/pull", pull)).status).toBe(403);
  await expect(deployment.client().queue("emails").get("welcome-1")).rejects.toThrow();
});

test("a retry by the default backoff comes after ten seconds at the latest", async () => {
  vi.spyOn(console, "error").mockImplementation(() => {});
  vi.spyOn(globalThis, "fetch").mockResolvedValue(new Response(null, { status: 503 }));
  const deployment = testDeployment(app, { env: { MAIL_URL: "https://mail.test" } });
  await deployment.fetch("/signup?to=ada@example.com");
  await deployment.advance("10s");
  expect(await deployment.tasks("emails")).toMatchObject([{ state: "delayed", attempt: 2 }]);
  await deployment.advance("30s");
  expect(await deployment.tasks("emails")).toMatchObject([{ state: "delayed", attempt: 3 }]);
});
