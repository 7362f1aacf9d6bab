import dns from "node:dns";
import http from "node:http";
import https from "node:https";
import { afterEach, describe, expect, test, vi } from "vitest";
import { push, sendTo, type UrlPolicy } from "../../../src/features/push/index.ts";
import { nodeSender } from "../../../src/features/push/senders/node-sender.ts";
import { inOwnTime, passingAfter } from "../../support/own-time.ts";
import { startHostile } from "./hostile.ts";

const OK = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
const found = (...addresses: readonly string[]) =>
  addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));

/** A POST to a URL, of any public host. */
const hopTo = (url: URL) => ({
  url,
  method: "POST",
  headers: {},
  body: "",
  policy: {},
  maxBody: 4_096,
  bodyTime: 5_000,
  signal: new AbortController().signal,
});

afterEach(() => void vi.restoreAllMocks());

/** Answers the look-ups of names in turn; the last answer stays. */
function resolving(...answers: readonly (readonly string[])[]) {
  const left = [...answers];
  const answer = () => Promise.resolve(found(...((left.length > 1 ? left.shift() : left[0]) ?? [])));
  return vi.spyOn(dns.promises, "lookup").mockImplementation(answer as never);
}

describe("a name is refused if it leads to", () => {
  test.each([
    ["this machine", ["127.0.0.1"]],
    ["metadata", ["169.254.169.254"]],
    ["a private address beside a public one", ["8.8.8.8", "10.0.0.1"]],
    ["a private address of IPv6 beside a public one", ["2606:4700::1111", "fd00::1"]],
    ["this machine, in IPv6", ["::ffff:127.0.0.1"]],
    ["the link", ["fe80::1%eth0"]],
  ])("%s", async (_, addresses) => {
    resolving(addresses);
    const connections = vi.spyOn(http, "request");
    await expect(sendTo({ url: "http://hook.example.com/" })).rejects.toMatchObject({
      code: "refused",
      message: "the host has an address that is not public",
    });
    expect(connections).not.toHaveBeenCalled();
  });
});

test("a name whose addresses change is looked up once, and the connection goes to what was checked", async () => {
  const lookups = resolving(["8.8.8.8", "2606:4700::1111"], ["127.0.0.1"]);
  const connected: unknown[] = [];
  const request = ((url: URL, { lookup }: http.RequestOptions) => {
    const look = lookup as unknown as (
      host: string,
      options: object,
      callback: (...all: unknown[]) => void,
    ) => void;
    look(url.hostname, { all: true }, (...all) => connected.push(all));
    look(url.hostname, {}, (...all) => connected.push(all));
    throw new Error("no connection in a test");
  }) as never;
  const send = nodeSender({
    http: { request },
    https,
    resolve: (host) => dns.promises.lookup(host, { all: true }),
  });
  const url = new URL("http://hook.example.com/");
  await expect(send(hopTo(url))).rejects.toThrow("no connection in a test");
  expect(lookups).toHaveBeenCalledTimes(1);
  expect(connected).toEqual([
    [null, found("8.8.8.8", "2606:4700::1111")],
    [null, "8.8.8.8", 4],
  ]);
});

test("the request has the name as its host, and goes to the address that was found first", async () => {
  const receiver = await startHostile((socket) => socket.end(OK));
  const lookups = resolving(["127.0.0.1"], ["10.0.0.1"]);
  const own = vi.spyOn(dns, "lookup");
  const url = receiver.url.replace("127.0.0.1", "hook.example.com");
  expect(await sendTo({ url }, { allowPrivate: ["hook.example.com"] })).toMatchObject({ status: 200 });
  expect(receiver.requests[0]).toContain(new URL(url).host);
  expect([lookups.mock.calls.length, own.mock.calls.length]).toEqual([1, 0]);
});

test("a runtime that connects without the checked address gets no response", async () => {
  const receiver = await startHostile((socket) => socket.end(OK));
  const url = new URL(receiver.url.replace("127.0.0.1", "hook.example.com"));
  const request = ((_url: URL, options: http.RequestOptions) =>
    http.request(receiver.url, { ...options, lookup: undefined })) as never;
  const send = nodeSender({ http: { request }, https, resolve: () => Promise.resolve(found("8.8.8.8")) });
  await expect(send(hopTo(url))).rejects.toMatchObject({ code: "refused" });
});

test("a name that cannot be resolved is an error with its code", async () => {
  const error = Object.assign(new Error("getaddrinfo ENOTFOUND hook.example.com"), { code: "ENOTFOUND" });
  vi.spyOn(dns.promises, "lookup").mockRejectedValue(error);
  await expect(sendTo({ url: "http://hook.example.com/" })).rejects.toMatchObject({
    code: "unreachable",
    message: "the name of the host was not resolved: ENOTFOUND",
  });
});

test("a name without addresses is an error", async () => {
  resolving([]);
  await expect(sendTo({ url: "http://hook.example.com/" })).rejects.toMatchObject({ code: "unreachable" });
});

test("a resolver that does not answer ends with the time limit", async () => {
  let onLookup = () => {};
  const looked = new Promise<void>((resolve) => (onLookup = resolve));
  vi.spyOn(dns.promises, "lookup").mockImplementation((() => {
    onLookup();
    return new Promise(() => {});
  }) as never);
  const sending = inOwnTime(() => sendTo({ url: "http://hook.example.com/" }), passingAfter(looked, 30_000));
  await expect(sending).rejects.toMatchObject({ code: "timeout" });
});

describe("redirects, where the policy follows them", () => {
  const policy: UrlPolicy = { allowPrivate: ["127.0.0.1", "hook.example.com"], redirects: 2 };
  const redirect = (location: string, status = 307) =>
    `HTTP/1.1 ${status} Elsewhere\r\nlocation: ${location}\r\ncontent-length: 0\r\n\r\n`;
  const headers = { authorization: "Bearer secret", Cookie: "a=b", "x-own": "1" };

  /** A receiver that gives these answers in turn. */
  const answering = (...answers: readonly string[]) =>
    startHostile((socket, nth) => socket.end(answers[Math.min(nth, answers.length - 1)] ?? OK));

  test("the request is sent again, with its body and all headers on the same origin", async () => {
    const receiver = await answering(redirect("/other"), redirect("?a", 308), OK);
    expect(await sendTo({ url: receiver.url, headers, body: "abc" }, policy)).toMatchObject({ status: 200 });
    const lines = receiver.requests.map((text) => text.split("\r\n")[0]);
    expect(lines).toEqual(["POST /hook HTTP/1.1", "POST /other HTTP/1.1", "POST /other?a HTTP/1.1"]);
    for (const text of receiver.requests) {
      expect(text).toMatch(/Bearer secret/);
      expect(text).toMatch(/\r\n\r\nabc$/);
    }
  });

  test("another origin gets no credentials", async () => {
    resolving(["127.0.0.1"]);
    const other = await answering(OK);
    const receiver = await answering(redirect(other.url.replace("127.0.0.1", "hook.example.com")));
    await sendTo({ url: receiver.url, headers, body: "abc" }, policy);
    expect(other.requests[0]).toContain("x-own: 1");
    expect(other.requests[0]).not.toMatch(/secret|cookie/i);
  });

  test("no more are followed than the policy says", async () => {
    const receiver = await answering(redirect("/hook"));
    expect(await sendTo({ url: receiver.url }, policy)).toMatchObject({ status: 307 });
    expect(receiver.requests).toHaveLength(3);
  });

  test("what would make a GET of a POST is not followed; a GET is", async () => {
    for (const status of [301, 302, 303]) {
      const receiver = await answering(redirect("/other", status), OK);
      expect(await sendTo({ url: receiver.url }, policy)).toMatchObject({ status });
      const request = { url: (await answering(redirect("/other", status), OK)).url, method: "GET" };
      expect(await sendTo(request, policy)).toMatchObject({ status: 200 });
    }
  });

  test.each([
    ["a private address", "http://10.0.0.1/"],
    ["a private address in an odd form", "//0xa9fea9fe/"],
    ["a name of a private network", "http://db.internal/"],
    ["user and password", "http://user:secret@example.com/"],
    ["a port of another service", "http://example.com:25/"],
    ["another protocol", "file:///etc/passwd"],
  ])("%s is refused", async (_, location) => {
    const receiver = await answering(redirect(location));
    const sending = sendTo({ url: receiver.url }, policy);
    await expect(sending).rejects.toMatchObject({ name: "DeliveryError", code: "refused" });
  });

  test("a name that leads to a private address is refused", async () => {
    resolving(["10.0.0.1"]);
    const receiver = await answering(redirect("http://evil.example.com/"));
    await expect(sendTo({ url: receiver.url }, policy)).rejects.toMatchObject({ code: "refused" });
  });

  test("a host that is not allowed is refused", async () => {
    const receiver = await answering(redirect("http://example.org/"));
    const sending = sendTo({ url: receiver.url }, { ...policy, allow: ["127.0.0.1"] });
    await expect(sending).rejects.toThrow(
      "the redirect: the URL must have one of the hosts that are allowed",
    );
  });

  test("a location that is no URL is not followed", async () => {
    const receiver = await answering(redirect("http://["));
    expect(await sendTo({ url: receiver.url }, policy)).toMatchObject({ status: 307 });
  });

  test("from https to http is not followed", async () => {
    const receiver = await answering(redirect("http://example.com/"));
    // Without TLS, so that the test needs no certificate.
    vi.spyOn(https, "request").mockImplementation(((url: URL, options: http.RequestOptions) =>
      http.request(`http:${url.href.slice(6)}`, options)) as never);
    const url = receiver.url.replace("http:", "https:");
    expect(await sendTo({ url }, policy)).toMatchObject({ status: 307 });
    expect(receiver.requests).toHaveLength(1);
  });
});

describe("a runtime that does not show addresses", () => {
  test.each([
    ["Workers", "navigator", { userAgent: "Cloudflare-Workers" }],
    ["Workers by their sockets", "WebSocketPair", () => {}],
    ["edge functions", "EdgeRuntime", "edge-runtime"],
  ])("%s: needs `allow`, and uses `fetch`", async (_, name, value) => {
    vi.stubGlobal(name, value);
    const fetched = vi.spyOn(globalThis, "fetch").mockResolvedValue(new Response("ok", { status: 201 }));
    try {
      const message = /^allow must list the hosts that requests may go to/;
      await expect(sendTo({ url: "https://example.com/" })).rejects.toThrow(message);
      const allowed = sendTo({ url: "https://example.com/" }, { allow: ["example.com"] });
      expect(await allowed).toMatchObject({ status: 201, body: "ok", truncated: false });
      const get = { url: "https://example.com/", method: "get", body: "a" };
      await expect(sendTo(get, { allow: ["example.com"] })).rejects.toThrow("body must be absent with get");
      expect(() => push({ endpoints: { find: () => undefined } })).toThrow(/^push.allow must list the hosts/);
      push({ url: "https://example.com/" });
      const other = sendTo({ url: "https://example.org/" }, { allow: ["example.com"] });
      await expect(other).rejects.toThrow("url must have one of the hosts that are allowed");
      expect(fetched).toHaveBeenCalledTimes(1);
    } finally {
      vi.unstubAllGlobals();
    }
  });
});

test.each<[string, object]>([
  ["url must be a URL", { url: "mailto:a@example.com" }],
  ["method must be a method of HTTP", { method: "POST /a HTTP/1.1\r\n" }],
  ["headers.Host is set by the sender itself", { headers: { Host: "example.org" } }],
  ["headers.transfer-encoding is set by the sender itself", { headers: { "transfer-encoding": "chunked" } }],
  ["headers.x-a must be a header of HTTP", { headers: { "x-a": "1\r\nx-b: 2" } }],
  ["headers.x-a must be a header of HTTP", { headers: { "x-a": undefined } }],
  ["headers.x a must be a header of HTTP", { headers: { "x a": "1" } }],
  ["timeout must be a duration of 1 to 900000 ms", { timeout: "1h" }],
])("refuses a request: %s", async (message, request) => {
  const sending = sendTo({ url: "https://example.com/", ...request });
  await expect(sending).rejects.toThrow(message);
});
