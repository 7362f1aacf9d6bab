import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { signedHeaders, signingKey } from "../../src/consumer/wake/signature.ts";
import { receive } from "./alerts-receiver.ts";
import { root } from "./named-tests.ts";

const page = readFileSync(join(root, "docs/alerts.md"), "utf8");

test.each(["alerts-worker.ts", "alerts-receiver.ts"])("docs/alerts.md shows test/documents/%s", (file) => {
  expect(page).toContain(`\`\`\`ts\n${readFileSync(join(root, "test/documents", file), "utf8")}\`\`\``);
});

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
