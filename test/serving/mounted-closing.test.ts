import { request as sendRequest, type RequestListener } from "node:http";
import { once } from "node:events";
import { connect } from "node:net";
import { describe, expect, it, vi } from "vitest";
import { startDeployment } from "../../serverless/node.ts";
import { defineQueue, Queue } from "../../src/index.ts";
import { secrets } from "../http/served.ts";
import { consoleLines } from "../support/console-lines.ts";
import { asking, mount, useMounting } from "./mounting.ts";

const { redis, deployment, server, start, listen } = useMounting();

describe("a mounted deployment that closes", () => {
  /** Begins to read an event stream. Returns its headers, and what reads the rest. */
  async function follow(url: string, signal?: AbortSignal) {
    const headers = { authorization: `Bearer ${secrets.all}`, accept: "text/event-stream" };
    const response = await fetch(`${url}/queue/v1/queues/q/events`, { headers, ...(signal && { signal }) });
    const reader = response.body?.getReader();
    const first = await reader?.read();
    expect(new TextDecoder().decode(first?.value)).toMatch(/^retry: /);
    const rest = async () => {
      let text = "";
      for (let read = await reader?.read(); read && !read.done; read = await reader?.read()) {
        text += new TextDecoder().decode(read.value);
      }
      return text;
    };
    return { rest, headers: response.headers };
  }

  it("together with the server, lets requests that are under way enqueue", async () => {
    const mails = defineQueue<string>("late");
    const { close } = await start({ consumers: [mails.consumer(() => {})] });
    const asked = vi.fn();
    let answer = () => {};
    const mayAnswer = new Promise<void>((resolve) => (answer = resolve));
    const enqueueLate = async () => {
      asked();
      await mayAnswer;
      return JSON.stringify(await mails.enqueue("late"));
    };
    const own: RequestListener = (_, response) => void enqueueLate().then((text) => response.end(text));
    const url = await listen(mount(deployment(), undefined, own));
    const late = fetch(`${url}/own`);
    await expect.poll(() => asked.mock.calls.length).toBe(1);
    const closed = Promise.all([close(server()), close()]);
    await expect.poll(() => fetch(url).catch(() => "refused")).toBe("refused");
    answer();
    expect(await (await late).json()).toMatchObject({ created: true });
    await closed;
    await expect(mails.enqueue("too late")).rejects.toMatchObject({ path: "transport" });
    expect(await new Queue("late", { transport: redis.transport }).counts()).toMatchObject({
      pending: 1,
      working: 0,
    });
  });

  it("waits for its own open requests if it gets no server, and then answers none", async () => {
    const { close } = await start();
    const url = await listen(mount(deployment()));
    const pull = { json: { wait: "300ms" } };
    const pulled = asking(url)("POST", "/v1/queues/empty/tasks/pull", pull);
    await once(server(), "request");
    await close();
    expect((await pulled).status).toBe(200);
    expect((await asking(url)("GET", "/health")).status).toBe(503);
  });

  it("does not wait for an event stream whose reader has left, which reaches the source", async () => {
    const { close } = await start({ grace: "1h" });
    const url = await listen(mount(deployment()));
    const leaving = new AbortController();
    const { rest, headers } = await follow(url, leaving.signal);
    // No middleware may hold it back to compress it.
    expect(headers.get("cache-control")).toContain("no-transform");
    leaving.abort();
    await expect(rest()).rejects.toThrow("aborted");
    await close();
  });

  it("does not wait for a request whose sender left while middleware worked", async () => {
    const { close } = await start({ grace: "1h" });
    let passOn: () => void = () => {};
    const passedOn = new Promise<void>((resolve) => (passOn = resolve));
    const answer = mount(deployment(), () => passedOn);
    const left = vi.fn();
    const url = await listen((request, response) => {
      response.once("close", left);
      answer(request, response);
    });
    const leaving = sendRequest(`${url}/queue/health`).on("error", () => {});
    leaving.end();
    await once(server(), "request");
    leaving.destroy();
    await expect.poll(() => left.mock.calls.length).toBe(1);
    passOn();
    await passedOn;
    await close();
  });

  it("ends event streams at once, and their readers connect elsewhere", async () => {
    const { close } = await start({ grace: "1h" });
    const url = await listen(mount(deployment()));
    const streams = await Promise.all([follow(url), follow(url)]);
    await close(server());
    for (const { rest } of streams) expect(await rest()).toBe("");
  });

  it("drops requests and aborts handlers when the grace is over", async () => {
    const aborted = vi.fn();
    const begun = vi.fn();
    const { close, queue } = await start({
      grace: "1ms",
      consumers: {
        slow: ({ signal }) => {
          begun();
          return new Promise<void>((_, reject) =>
            signal.addEventListener("abort", () => {
              aborted();
              reject(new Error("aborted"));
            }),
          );
        },
      },
    });
    const url = await listen(mount(deployment()));
    const asked = once(server(), "request");
    const pull = asking(url)("POST", "/v1/queues/empty/tasks/pull", { json: { wait: "20s" } });
    const dropped = expect(pull).rejects.toThrow("fetch failed");
    await asked;
    const { id } = await queue("slow").enqueue(1);
    await expect.poll(() => begun.mock.calls.length).toBe(1);
    const lines = consoleLines("warn");
    await close();
    await dropped;
    expect(aborted).toHaveBeenCalledTimes(1);
    expect(lines).toMatchObject([
      { closing: true, grace: 1, note: expect.stringContaining("No task is lost") },
      { queue: "slow", task: id, next: "retry", dueAt: expect.any(String) },
    ]);
    expect(await new Queue("slow", { transport: redis.transport }).get(id)).toMatchObject({
      state: "delayed",
      charged: 1,
    });
  });

  it("closes a server that the application is closing, and one that has closed", async () => {
    const { close } = await start();
    const url = await listen(mount(deployment()));
    const agentless = sendRequest(`${url}/queue/health`).end();
    await once(agentless, "response");
    server().close();
    await close(server());
    expect(server().listening).toBe(false);
    const other = await startDeployment({ env: { REDIS_URL: redis.url } });
    await other.close(server());
  });

  it("does not wait for connections to the server that are unused", async () => {
    const { close } = await start({ grace: "1h" });
    const url = new URL(await listen(mount(deployment())));
    const unused = connect(Number(url.port), url.hostname);
    await once(server(), "connection");
    const left = once(unused.resume(), "close");
    await close(server());
    await left;
  });

  it("leaves the signals to the application", async () => {
    const before = process.listenerCount("SIGTERM");
    await start();
    expect(process.listenerCount("SIGTERM")).toBe(before);
  });
});
