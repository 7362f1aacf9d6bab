import { expect, test } from "vitest";
import { sluice } from "../../serverless/cloudflare.ts";
import type { DeploymentPart } from "../../src/deploy/deployment-part.ts";
import { createApp } from "../../src/http/index.ts";
import { defineQueue } from "../../src/index.ts";
import { testDeployment } from "../../src/testing/index.ts";

const letters = defineQueue<string>("letters");
const done: string[] = [];

/** A feature with everything that one may have. */
function feature(events: string[]): DeploymentPart {
  return {
    paths: ["/v2/*"],
    isApart: true,
    routes: async () => {
      events.push("loaded");
      return {
        mount(app) {
          app.all("/v2/*", (c) => c.text(`${c.req.method} ${c.req.path} ${JSON.stringify(c.env)}`));
        },
      };
    },
    consumers: [letters.consumer(({ payload }) => void done.push(payload))],
    queues: [defineQueue("outbox", { maxPending: 5 })],
    async apply({ queues, open }) {
      events.push(`applied ${queues.map(({ name }) => name).join()} ${open("outbox").name}`);
    },
    tools: (open) => ({ post: (text: string) => open<string>("letters").queue().enqueue(text) }),
    sweepPart: () => {
      events.push("swept");
      return {};
    },
  };
}

test("a part adds routes, consumers, queues, tools and what is done before and in sweeps", async () => {
  const events: string[] = [];
  done.length = 0;
  type WithPost = { readonly post: (text: string) => Promise<unknown> };
  const deployed = testDeployment(
    sluice<{ NAME: string }>({
      qstash: feature(events),
      fetch: async (_, tools) => Response.json(await (tools as unknown as WithPost).post("hello")),
    }),
    { env: { NAME: "here" } },
  );
  expect(await (await deployed.fetch("/own")).json()).toMatchObject({ created: true });
  expect(done).toEqual(["hello"]);
  expect(events).toEqual(["applied letters,outbox outbox", "swept"]);
  expect(await deployed.tasks("outbox")).toEqual([]);

  events.length = 0;
  // What is apart gets any path below its own, without a token.
  for (const path of ["/v2/publish/https://example.com/", "/v2/%"]) {
    const answer = await deployed.fetch(path, { method: "POST" });
    expect(await answer.text()).toContain(`POST ${path} {`);
  }
  expect(events).toEqual(["loaded"]);
  expect((await deployed.fetch("/v1/queues/letters/")).status).toBe(404);
});

test("a part below /v1 asks for the token", async () => {
  const app = createApp({
    transport: { send: async () => [] },
    tokens: [{ token: "t".repeat(32), scopes: ["admin"], queues: "*" }],
    parts: [
      {
        paths: ["/v1/things"],
        routes: {
          mount: (to, { allow }) => void to.get("/v1/things", allow("admin"), (c) => c.text("here")),
        },
      },
    ],
  });
  const get = async (headers: Record<string, string>) => {
    const { status } = await app.request("/v1/things", { headers });
    return status;
  };
  expect(await get({})).toBe(401);
  expect(await get({ authorization: `Bearer ${"t".repeat(32)}` })).toBe(200);
});

test("what is no part is refused, with what is allowed", () => {
  expect(() => sluice({ topics: true } as never)).toThrow('import { topics } from "sluice-queue/topics"');
  expect(() => sluice({ qstash: { token: "t" } as never })).toThrow(
    'import { qstash } from "sluice-queue/qstash"',
  );
  const parts = [{ paths: ["/x"] } as never];
  expect(() => createApp({ transport: { send: async () => [] }, tokens: [], parts })).toThrow(
    "parts[0] must be a part",
  );
  expect(() => sluice({ qstash: feature([]), consumers: [letters.consumer(() => {})] })).toThrow(
    "must be the only consumer of letters",
  );
});
