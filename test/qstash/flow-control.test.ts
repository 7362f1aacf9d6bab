import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { useQStash } from "./rig.ts";

// Limits of flow control keys, which are groups.
const rig = useQStash();

const later = (key: string, limits: object) =>
  rig.client.publish({ url: rig.url, delay: 3_600, flowControl: { key, ...limits } as never });

const none = {
  waitListSize: 0,
  parallelismMax: 0,
  parallelismCount: 0,
  rateMax: 0,
  ratePeriod: 0,
  isPaused: false,
  isPinnedParallelism: false,
  isPinnedRate: false,
};

test("the limits of a key are those of the last message", async () => {
  const { flowControl } = rig.client;
  expect(await flowControl.get("limits")).toEqual({ flowControlKey: "limits", ...none });
  await later("limits", { parallelism: 2, rate: 5, period: "1m" });
  expect(await flowControl.get("limits")).toMatchObject({ parallelismMax: 2, rateMax: 5, ratePeriod: 60 });
  await later("limits", { rate: 7 });
  expect(await flowControl.get("limits")).toMatchObject({ parallelismMax: 0, rateMax: 7, ratePeriod: 1 });
});

test("parallelism bounds how many messages a receiver has at once", async () => {
  let atOnce = 0;
  let most = 0;
  rig.answer = async () => {
    most = Math.max(most, ++atOnce);
    await sleep(5);
    atOnce--;
    return {};
  };
  const message = { url: `${rig.url}/parallel`, flowControl: { key: "parallel", parallelism: 2 } };
  await rig.client.batch(Array.from({ length: 6 }, () => message));
  await rig.requestsTo("/parallel", 6);
  expect(most).toBe(2);
});

test("a paused key gets nothing, and its messages wait", async () => {
  const { flowControl } = rig.client;
  await flowControl.pause("paused");
  await rig.client.publish({ url: `${rig.url}/paused`, flowControl: { key: "paused", parallelism: 9 } });
  expect(await flowControl.get("paused")).toMatchObject({
    isPaused: true,
    waitListSize: 1,
    parallelismMax: 9,
  });
  const all = (await (await rig.request("GET", "/v2/flowControl")).json()) as { flowControlKey: string }[];
  expect(all).toEqual([expect.objectContaining({ flowControlKey: "paused", waitListSize: 1 })]);
  expect(rig.received).toEqual([]);
  await flowControl.resume("paused");
  await rig.requestsTo("/paused");
});

test("what is pinned, messages do not change", async () => {
  const { flowControl } = rig.client;
  await later("pinned", { parallelism: 1, rate: 1 });
  await flowControl.pin("pinned", { parallelism: 4, rate: 40, period: 60 });
  const pinned = {
    parallelismMax: 4,
    rateMax: 40,
    ratePeriod: 60,
    isPinnedParallelism: true,
    isPinnedRate: true,
  };
  expect(await flowControl.get("pinned")).toMatchObject(pinned);
  await later("pinned", { parallelism: 2, rate: 2 });
  expect(await flowControl.get("pinned")).toMatchObject(pinned);
  await flowControl.unpin("pinned", { rate: true });
  await later("pinned", { parallelism: 2, rate: 2 });
  expect(await flowControl.get("pinned")).toMatchObject({
    parallelismMax: 4,
    rateMax: 2,
    isPinnedRate: false,
  });
  await flowControl.unpin("pinned", { parallelism: true });
  await later("pinned", { parallelism: 2, rate: 2 });
  expect(await flowControl.get("pinned")).toMatchObject({ parallelismMax: 2, isPinnedParallelism: false });
  await expect(flowControl.pin("pinned", {})).rejects.toMatchObject({ status: 400 });
  await expect(flowControl.unpin("pinned", {})).rejects.toMatchObject({ status: 400 });
});

test("a rate begins again", async () => {
  const { flowControl } = rig.client;
  const message = { url: `${rig.url}/rate`, flowControl: { key: "rate", rate: 1, period: "1d" as const } };
  await rig.client.batch([message, message]);
  await rig.requestsTo("/rate");
  await expect.poll(() => flowControl.get("rate")).toMatchObject({ waitListSize: 1, parallelismCount: 0 });
  await flowControl.resetRate("rate");
  await rig.requestsTo("/rate", 2);
  expect(await flowControl.get("rate")).toMatchObject({ rateMax: 1, ratePeriod: 86_400, isPaused: false });
});

test("parallelism in all is that of the deployment", async () => {
  expect(await rig.client.flowControl.getGlobalParallelism()).toEqual({
    parallelismMax: 0,
    parallelismCount: 0,
  });
  await rig.server.operator("qstash").configure({ maxWorking: 50 });
  expect(await rig.client.flowControl.getGlobalParallelism()).toMatchObject({ parallelismMax: 50 });
});
