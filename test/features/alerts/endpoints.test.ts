import { expect, onTestFinished, test, vi } from "vitest";
import { Endpoints } from "../../../src/open/endpoints/index.ts";
import { QUEUE, useRig } from "../../support/rig.ts";
import { alerting } from "./rig.ts";

const rig = useRig();

test("a rule on disabled endpoints fires for those that failed or are gone, and is resolved", async () => {
  const errors = vi.spyOn(console, "error").mockImplementation(() => {});
  onTestFinished(() => errors.mockRestore());
  const { minutes, alerts } = alerting(rig, [{ when: { endpointDisabled: {} } }]);
  const endpoints = new Endpoints(QUEUE, { transport: rig.transport, now: () => rig.now });
  for (const id of ["a", "b", "c"]) await endpoints.add({ id, url: `https://${id}.example` });
  await endpoints.disable("c");
  await minutes(1);
  expect(alerts).toEqual([]);
  await endpoints.report({ ok: false, gone: true }, { task: { group: "a" } });
  await endpoints.report({ ok: false, gone: false }, { task: { group: "b" } });
  rig.now += 5 * 86_400_000;
  await endpoints.report({ ok: false, gone: false }, { task: { group: "b" } });
  await minutes(1);
  const text = "2 endpoints are disabled: a asked to get nothing more, b failed for too long";
  expect(alerts).toMatchObject([
    { type: "alert.firing", rule: "endpointDisabled", queue: "", value: 2, threshold: 0, text },
  ]);
  await endpoints.enable("a");
  await endpoints.remove("b");
  await minutes(1);
  expect(alerts.slice(1)).toMatchObject([{ type: "alert.resolved", text: "No endpoint is disabled" }]);
});

test("such a rule watches the database", () => {
  const rules = [{ when: { endpointDisabled: {} }, queues: "emails" }];
  expect(() => alerting(rig, rules)).toThrow("queues must not be set, because the rule watches the database");
});
