import { expect, test, vi } from "vitest";
import { signedHeaders, signingKey } from "../../src/signature.ts";
import { filesOf } from "./code.ts";

const { receive } = await filesOf(".")("alerts-receiver.ts");

test("the receiver of docs/alerts.md takes a signed alert once, and refuses others", async () => {
  const log = vi.spyOn(console, "log").mockImplementation(() => {});
  const secret = `whsec_${Buffer.alloc(32, 1).toString("base64")}`;
  const body = JSON.stringify({ data: { text: "emails has 1 new dead letter" } });
  const headers = await signedHeaders(await signingKey(secret), "alert_1", body);
  const call = (sent: string) =>
    receive(new Request("https://ops.test/", { method: "POST", headers, body: sent }), secret);
  expect([(await call(body)).status, (await call(body)).status]).toEqual([204, 204]);
  expect((await call(`${body} `)).status).toBe(401);
  expect(log.mock.calls).toEqual([["emails has 1 new dead letter"]]);
  log.mockRestore();
});
