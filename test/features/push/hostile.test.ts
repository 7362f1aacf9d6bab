import { describe, expect, test } from "vitest";
import { DeliveryError } from "../../../src/features/push/index.ts";
import { closedPort } from "../../support/listening.ts";
import { inOwnTime, passingAfter } from "../../support/own-time.ts";
import { forever, headersReceived, here, sendVia, startHostile, type Via } from "./hostile.ts";

const OK = "HTTP/1.1 200 OK\r\n";

describe.each<Via>(["node:http", "fetch"])("by %s", (via) => {
  test("a request is sent whole, and its response returned, whatever its status", async () => {
    const receiver = await startHostile((socket) => {
      socket.end(
        "HTTP/1.1 418 Teapot\r\nx-a: 1\r\nX-A: 2\r\ncontent-length: 4\r\n\r\n\u00c3\u00a9!!",
        "latin1",
      );
    });
    const request = { url: receiver.url, headers: { "x-own": "1" }, body: "\u00e9", method: "put" };
    const response = await sendVia(via, request);
    expect(response).toMatchObject({ status: 418, body: "\u00e9!!", truncated: false });
    expect(response.headers.get("x-a")).toBe("1, 2");
    expect(receiver.requests[0]).toMatch(/^PUT \/hook HTTP\/1.1\r\n/);
    expect(receiver.requests[0]).toMatch(/\r\nhost: 127.0.0.1:\d+\r\n/i);
    expect(receiver.requests[0]).toMatch(/\r\ncontent-length: 2\r\n/i);
    expect(receiver.requests[0]).toMatch(/\r\n\r\n\u00c3\u00a9$/);
  });

  test.each([
    ["answers nothing", ""],
    ["stops within the headers", `${OK}x-a: `],
  ])("a receiver that %s ends with the time limit", async (_, bytes) => {
    let onRequest = () => {};
    const requested = new Promise<void>((resolve) => (onRequest = resolve));
    const receiver = await startHostile((socket) => {
      socket.write(bytes);
      onRequest();
    });
    const sending = inOwnTime(
      () => sendVia(via, { url: receiver.url, timeout: "30s" }),
      passingAfter(requested, 30_000),
    );
    await expect(sending).rejects.toThrow(new DeliveryError("timeout", "no response within 30000 ms"));
    await receiver.closed;
  });

  test("a slow body is cut after 5 s, and does not change that it was delivered", async () => {
    const receiver = await startHostile((socket) => socket.write(`${OK}content-length: 9\r\n\r\nab`));
    const received = headersReceived();
    const sending = inOwnTime(() => sendVia(via, { url: receiver.url }), passingAfter(received, 5_000));
    expect(await sending).toMatchObject({ status: 200, body: "ab", truncated: true });
    await receiver.closed;
  });

  test("of an endless body 4 KB are kept, and the rest is not read", async () => {
    const receiver = await startHostile((socket) => {
      socket.write(`${OK}\r\n`);
      forever(socket, "\u00e9".repeat(5_000));
    });
    const { status, body, truncated } = await sendVia(via, { url: receiver.url });
    expect({ status, truncated, size: Buffer.byteLength(body) }).toEqual({
      status: 200,
      truncated: true,
      size: 4_096,
    });
    await receiver.closed;
  });

  test("a body of 4 KB is not cut", async () => {
    const receiver = await startHostile((socket) => {
      socket.end(`${OK}content-length: 4096\r\n\r\n${"a".repeat(4_096)}`);
    });
    expect(await sendVia(via, { url: receiver.url })).toMatchObject({
      body: "a".repeat(4_096),
      truncated: false,
    });
  });

  test("a character that is cut is left out", async () => {
    const receiver = await startHostile((socket) => socket.end(`${OK}\r\na${"\u00e9".repeat(4_096)}`));
    const { body } = await sendVia(via, { url: receiver.url });
    expect(body).toBe(`a${"\u00e9".repeat(2_047)}`);
  });

  test("a body that is shorter than it says counts as cut", async () => {
    const receiver = await startHostile((socket) => socket.end(`${OK}content-length: 100\r\n\r\nab`));
    expect(await sendVia(via, { url: receiver.url })).toMatchObject({
      status: 200,
      body: "ab",
      truncated: true,
    });
  });

  test("more headers than 16 KB are refused, also without end", async () => {
    const receiver = await startHostile((socket) => {
      socket.write(OK);
      forever(socket, `x-a: ${"a".repeat(1_000)}\r\n`);
    });
    await expect(sendVia(via, { url: receiver.url })).rejects.toMatchObject({ name: "DeliveryError" });
    await receiver.closed;
  });

  test("a body that must not be there does not change the status", async () => {
    const receiver = await startHostile((socket) => {
      socket.end("HTTP/1.1 204 No Content\r\ncontent-length: 2\r\n\r\nno");
    });
    expect(await sendVia(via, { url: receiver.url })).toMatchObject({ status: 204, body: "" });
    await receiver.closed;
  });

  test("a newline at the end of a header, as of a secret from a file, is left out", async () => {
    const receiver = await startHostile((socket) => socket.end(`${OK}content-length: 0\r\n\r\n`));
    const headers = { authorization: "Bearer secret\n" };
    expect(await sendVia(via, { url: receiver.url, headers })).toMatchObject({ status: 200 });
    expect(receiver.requests[0]).toContain("\r\nauthorization: Bearer secret\r\n");
  });

  test.each([
    ["101", "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n"],
    ["what is no HTTP", "220 mail.example.com ESMTP\r\n"],
    ["two lengths", `${OK}content-length: 1\r\ncontent-length: 2\r\n\r\nab`],
    [
      "a length and chunks",
      `${OK}content-length: 1\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n`,
    ],
  ])("%s as response is an error", async (_, bytes) => {
    const receiver = await startHostile((socket) => void socket.write(bytes));
    await expect(sendVia(via, { url: receiver.url })).rejects.toMatchObject({ name: "DeliveryError" });
    await receiver.closed;
  });

  test("responses 1xx without end are an error", async () => {
    const interim = "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(100);
    let onRequest = () => {};
    const requested = new Promise<void>((resolve) => (onRequest = resolve));
    const receiver = await startHostile((socket) => {
      forever(socket, interim);
      onRequest();
    });
    // `fetch` does not show them, so there the time limit ends it.
    const passing = passingAfter(via === "fetch" ? requested : new Promise(() => {}), 30_000);
    const code = via === "fetch" ? "timeout" : "invalid_response";
    await expect(inOwnTime(() => sendVia(via, { url: receiver.url }), passing)).rejects.toMatchObject({
      code,
    });
    await receiver.closed;
  });

  test("a connection that is refused, or reset, is an error with its code", async () => {
    const url = `http://127.0.0.1:${await closedPort()}/`;
    await expect(sendVia(via, { url })).rejects.toMatchObject({
      code: "unreachable",
      message: /ECONNREFUSED/,
    });
    const receiver = await startHostile((socket) => socket.resetAndDestroy());
    await expect(sendVia(via, { url: receiver.url })).rejects.toMatchObject({ code: "unreachable" });
  });

  test("the caller's signal ends it, with its reason", async () => {
    const controller = new AbortController();
    const reason = new Error("closed");
    const receiver = await startHostile(() => controller.abort(reason));
    const request = { url: receiver.url, signal: controller.signal };
    await expect(sendVia(via, request)).rejects.toBe(reason);
    await receiver.closed;
    await expect(sendVia(via, request)).rejects.toBe(reason);
    // `fetch` of Node may open another connection, on which it sends nothing.
    expect(receiver.requests.filter((text) => text !== "")).toHaveLength(1);
  });

  test("a body that stops with the signal does not fail", async () => {
    const controller = new AbortController();
    const receiver = await startHostile((socket) => socket.write(`${OK}\r\nab`));
    void headersReceived().then(() => setImmediate(() => controller.abort()));
    const { status, truncated } = await sendVia(via, { url: receiver.url, signal: controller.signal });
    expect({ status, truncated }).toEqual({ status: 200, truncated: true });
  });

  test("a redirect that arrives as the time ends is not followed", async () => {
    const receiver = await startHostile((socket) => {
      socket.write("HTTP/1.1 307 Found\r\nlocation: /other\r\ncontent-length: 9\r\n\r\na");
    });
    const request = { url: receiver.url, timeout: "30s", maxBody: 9 } as const;
    const sending = () => sendVia(via, request, { ...here, redirects: 5 });
    await expect(inOwnTime(sending, passingAfter(headersReceived(), 30_000))).rejects.toMatchObject({
      code: "timeout",
    });
    expect(receiver.requests.filter((text) => text !== "")).toHaveLength(1);
  });

  test("a redirect to the metadata of a cloud is not followed, and refused where redirects are", async () => {
    const receiver = await startHostile((socket) => {
      socket.end(
        "HTTP/1.1 307 Found\r\nlocation: http://169.254.169.254/latest/\r\ncontent-length: 0\r\n\r\n",
      );
    });
    expect(await sendVia(via, { url: receiver.url })).toMatchObject({ status: 307 });
    const following = sendVia(via, { url: receiver.url }, { ...here, redirects: 5 });
    await expect(following).rejects.toMatchObject({
      code: "refused",
      message: /redirect: the URL must have/,
    });
  });
});

test("connections are not kept: a receiver sees the end of each", async () => {
  const receiver = await startHostile((socket) => {
    socket.write(`${OK}connection: keep-alive\r\ncontent-length: 0\r\n\r\n`);
  });
  await sendVia("node:http", { url: receiver.url });
  await receiver.closed;
  expect(receiver.requests[0]).toMatch(/\r\nconnection: close\r\n/i);
});

test("a response before the whole request was sent counts", async () => {
  const receiver = await startHostile((socket) => {
    socket.pause();
    socket.write("HTTP/1.1 413 Too Large\r\ncontent-length: 0\r\n\r\n");
  });
  const sent = sendVia("node:http", { url: receiver.url, body: "a".repeat(5_000_000) });
  expect(await sent).toMatchObject({ status: 413 });
});
