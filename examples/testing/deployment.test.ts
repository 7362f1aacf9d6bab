import { testDeployment } from "sluice-queue/testing";
import { expect, test, vi } from "vitest";
import app from "../cloudflare/worker.ts";

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
