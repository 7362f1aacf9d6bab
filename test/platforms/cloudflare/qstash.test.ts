import { Client, Receiver } from "@upstash/qstash";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { listen } from "../../../src/deploy/process/node-listener.ts";
import { SIGNING_KEYS, TOKEN } from "../../qstash/rig.ts";
import { useWorker } from "./rig.ts";

const rig = useWorker("test/platforms/cloudflare/qstash.toml");

const WORKER = "https://worker.test";
const received: { readonly path: string; readonly headers: Headers; readonly body: string }[] = [];
let receiver: Awaited<ReturnType<typeof listen>>;
beforeAll(async () => {
  const answer = async (request: Request) => {
    const { pathname: path } = new URL(request.url);
    received.push({ path, headers: request.headers, body: await request.text() });
    return new Response(path, { status: path === "/failing" ? 489 : 200 });
  };
  receiver = await listen(answer, { port: 0, hostname: "127.0.0.1" });
});
afterAll(async () => {
  vi.restoreAllMocks();
  await receiver.stop();
});

it("QStash's client and its receiver work with a Worker", async () => {
  const outside = globalThis.fetch;
  // The Worker's own requests come here, too.
  vi.spyOn(globalThis, "fetch").mockImplementation((to, init) => {
    const isToWorker = typeof to === "string" && to.startsWith(WORKER);
    return isToWorker ? rig.fetch(new Request(to, init)) : outside(to, init);
  });
  const client = new Client({ baseUrl: WORKER, token: TOKEN, retry: false, devMode: false });
  const url = `http://127.0.0.1:${receiver.port}`;
  const to = async (path: string, count = 1) => {
    const those = () => received.filter((one) => one.path === path);
    await expect.poll(() => those().length, { timeout: 10_000 }).toBe(count);
    return those();
  };

  await client.urlGroups.addEndpoints({
    name: "group",
    endpoints: [{ url: `${url}/a` }, { url: `${url}/b?c=d` }],
  });
  const published = await client.publishJSON({
    urlGroup: "group",
    body: { n: 1 },
    callback: `${url}/callback`,
  });
  expect(published.map((one) => one.url)).toEqual([`${url}/a`, `${url}/b?c=d`]);
  const [got] = await to("/a");
  await to("/b");
  expect(got!.body).toBe('{"n":1}');
  expect(got!.headers.get("upstash-message-id")).toBe(published[0]!.messageId);
  expect(got!.headers.get("upstash-topic-name")).toBe("group");
  const verifier = new Receiver({ currentSigningKey: SIGNING_KEYS[0], nextSigningKey: SIGNING_KEYS[1] });
  const signature = got!.headers.get("upstash-signature") ?? "";
  await expect(verifier.verify({ signature, body: got!.body, url: `${url}/a` })).resolves.toBe(true);
  const callbacks = await to("/callback", 2);
  const bodies = callbacks.map(({ body }) => JSON.parse(body) as { body: string });
  expect(bodies.map(({ body }) => atob(body)).toSorted()).toEqual(["/a", "/b"]);

  const queue = client.queue({ queueName: "in-order" });
  for (const body of ["1", "2", "3"]) await queue.enqueue({ url: `${url}/ordered`, body });
  expect((await to("/ordered", 3)).map(({ body }) => body)).toEqual(["1", "2", "3"]);

  const { messageId } = await client.publish({ url: `${url}/failing` });
  await expect
    .poll(async () => (await client.dlq.listMessages()).messages)
    .toMatchObject([{ messageId, responseStatus: 489, responseBody: "/failing" }]);
  await expect(client.publish({ url: "https://elsewhere.example.com" })).rejects.toThrow(
    "the destination must have one of the hosts that are allowed",
  );
});
