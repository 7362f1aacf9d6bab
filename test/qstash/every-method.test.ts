import { type Client, upstash } from "@upstash/qstash";
import { expect, test } from "vitest";
import { useQStash } from "./rig.ts";

// Each method of QStash's client works, or is answered with an error that names what is missing.
const rig = useQStash();

const later = () => ({ url: rig.url, delay: 3_600 });
const queue = () => rig.client.queue({ queueName: "every" });
const messageId = async () => (await rig.client.publish(later())).messageId;
const flowControl = { key: "every", parallelism: 1 };
const schedule = "scd_every";
const model = "mistralai/Mistral-7B-Instruct-v0.2";

/** A dead letter. */
async function dlqId(): Promise<string> {
  rig.answer = () => ({ status: 489 });
  const { messageId: id } = await rig.client.publish({ url: `${rig.url}/every` });
  const found = async () =>
    (await rig.client.dlq.listMessages({ filter: { messageId: id } })).messages[0]?.dlqId;
  await expect.poll(found).toBeDefined();
  return (await found()) as string;
}

type Parts = Readonly<Record<string, (client: Client) => object>>;

/** The client, and what its methods return that has methods of its own. */
const parts: Parts = {
  "": (client) => client,
  "urlGroups.": (client) => client.urlGroups,
  "dlq.": (client) => client.dlq,
  "messages.": (client) => client.messages,
  "schedules.": (client) => client.schedules,
  "flowControl.": (client) => client.flowControl,
  "queue.": (client) => client.queue(),
  "workflow.": (client) => client.workflow,
  "chat.": (client) => client.chat(),
};

const calls: Readonly<Record<string, (client: Client) => unknown>> = {
  publish: (client) => client.publish(later()),
  publishJSON: (client) => client.publishJSON({ ...later(), body: {} }),
  batch: (client) => client.batch([later()]),
  batchJSON: (client) => client.batchJSON([{ ...later(), body: {} }]),
  logs: (client) => client.logs(),
  events: (client) => client.events(),
  "urlGroups.addEndpoints": ({ urlGroups }) =>
    urlGroups.addEndpoints({ name: "every", endpoints: [{ url: rig.url }] }),
  "urlGroups.list": ({ urlGroups }) => urlGroups.list(),
  "urlGroups.get": ({ urlGroups }) => urlGroups.get("every"),
  "urlGroups.removeEndpoints": ({ urlGroups }) =>
    urlGroups.removeEndpoints({ name: "every", endpoints: [{ url: rig.url }] }),
  "urlGroups.delete": ({ urlGroups }) => urlGroups.delete("every"),
  "messages.get": async ({ messages }) => messages.get(await messageId()),
  "messages.cancel": async ({ messages }) => messages.cancel(await messageId()),
  "messages.delete": async ({ messages }) => messages.delete(await messageId()),
  "messages.deleteMany": async ({ messages }) => messages.deleteMany([await messageId()]),
  "messages.deleteAll": ({ messages }) => messages.deleteAll(),
  "dlq.listMessages": ({ dlq }) => dlq.listMessages(),
  "dlq.delete": async ({ dlq }) => dlq.delete(await dlqId()),
  "dlq.deleteMany": async ({ dlq }) => dlq.deleteMany({ dlqIds: [await dlqId()] }),
  "dlq.retry": async ({ dlq }) => dlq.retry(await dlqId()),
  "schedules.create": ({ schedules }) =>
    schedules.create({ destination: rig.url, cron: "0 0 1 1 *", scheduleId: schedule }),
  "schedules.get": ({ schedules }) => schedules.get(schedule),
  "schedules.list": ({ schedules }) => schedules.list(),
  "schedules.pause": ({ schedules }) => schedules.pause({ schedule }),
  "schedules.resume": ({ schedules }) => schedules.resume({ schedule }),
  "schedules.delete": ({ schedules }) => schedules.delete(schedule),
  "flowControl.get": (client) => client.flowControl.get("every"),
  "flowControl.getGlobalParallelism": (client) => client.flowControl.getGlobalParallelism(),
  "flowControl.pause": (client) => client.flowControl.pause("every"),
  "flowControl.resume": (client) => client.flowControl.resume("every"),
  "flowControl.pin": (client) => client.flowControl.pin("every", flowControl),
  "flowControl.unpin": (client) => client.flowControl.unpin("every", { parallelism: true }),
  "flowControl.resetRate": (client) => client.flowControl.resetRate("every"),
  "queue.upsert": () => queue().upsert({ parallelism: 2 }),
  "queue.get": () => queue().get(),
  "queue.list": () => queue().list(),
  "queue.enqueue": () => queue().enqueue(later()),
  "queue.enqueueJSON": () => queue().enqueueJSON({ ...later(), body: {} }),
  "queue.pause": () => queue().pause(),
  "queue.resume": () => queue().resume(),
  "queue.delete": () => queue().delete(),
};

/** What is missing, and what the error names in its place. */
const missing: Readonly<Record<string, readonly [call: (client: Client) => unknown, instead: string]>> = {
  "workflow.cancel": [(client) => client.workflow.cancel("wfr_1"), "sluice-queue/flows"],
  "chat.create": [
    (client) => client.chat().create({ provider: upstash(), model, messages: [] }),
    "publish to the URL of the provider",
  ],
  "chat.prompt": [
    (client) => client.chat().prompt({ provider: upstash(), model, system: "s", user: "u" }),
    "publish to the URL of the provider",
  ],
};

/** Methods that send a request to another service than QStash, or none. */
const OWN = ["queue", "chat", "chat.createThirdParty", "chat.getAuthorizationToken"];

test("the table has each method of the client", () => {
  const names = Object.entries(parts).flatMap(([path, of]) => {
    const part = of(rig.client);
    const prototype = Object.getPrototypeOf(part) as object;
    // Some methods are properties of each object.
    const all = { ...Object.getOwnPropertyDescriptors(prototype), ...Object.getOwnPropertyDescriptors(part) };
    const isMethod = (name: string) =>
      name !== "constructor" && typeof all[name as never]?.["value"] === "function";
    return Object.keys(all)
      .filter(isMethod)
      .map((name) => path + name);
  });
  expect(names).toContain("publishJSON");
  expect([...Object.keys(calls), ...Object.keys(missing), ...OWN].toSorted()).toEqual(names.toSorted());
});

test.each(Object.entries(calls))("%s works", async (_, call) => {
  await call(rig.client);
});

test.each(Object.entries(missing))(
  "%s is missing, and the error says what to use",
  async (_, [call, instead]) => {
    const message = expect.stringMatching(new RegExp(`is not supported by this server: .*${instead}`));
    await expect(call(rig.client)).rejects.toMatchObject({ status: 501, message });
  },
);
