import dns from "node:dns";
import http from "node:http";
import https from "node:https";
import type { LookupFunction } from "node:net";
import { onTestFinished, vi } from "vitest";
import { listen } from "../../../src/deploy/process/node-listener.ts";

/** A request that a handler has sent. */
export interface SentRequest {
  readonly url: string;
  readonly headers: Headers;
  readonly body: string;
}

/**
 * Answers the requests of handlers in place of the network.
 * @param answer the response to a request; if it throws, the handler gets no response
 * @returns all requests so far
 */
export function answerRequests(
  answer: (request: SentRequest) => Response | Promise<Response>,
): SentRequest[] {
  const requests: SentRequest[] = [];
  vi.spyOn(globalThis, "fetch").mockImplementation(async (input, init) => {
    const { url, headers } = new Request(input, init);
    const body = init?.body;
    const request = { url, headers, body: typeof body === "string" ? body : "" };
    requests.push(request);
    return answer(request);
  });
  return requests;
}

/**
 * Answers the connections of handlers to `https:` URLs in place of the network. All names have a public address.
 * @param answer the response to a request
 * @returns all requests so far
 */
export async function answerConnections(answer: (request: SentRequest) => Response): Promise<SentRequest[]> {
  const requests: SentRequest[] = [];
  const receive = async (received: Request) => {
    const { host, pathname } = new URL(received.url);
    const url = `https://${host}${pathname}`;
    const request = { url, headers: received.headers, body: await received.text() };
    requests.push(request);
    return answer(request);
  };
  const { port, stop } = await listen(receive, { port: 0, hostname: "127.0.0.1" });
  onTestFinished(async () => void (await stop()));
  const addresses = [{ address: "8.8.8.8", family: 4 }];
  vi.spyOn(dns.promises, "lookup").mockImplementation((() => Promise.resolve(addresses)) as never);
  vi.spyOn(https, "request").mockImplementation(((url: URL, options: https.RequestOptions) => {
    const lookup: LookupFunction = (host, asked, callback) =>
      options.lookup?.(host, asked, (error) => callback(error, [{ address: "127.0.0.1", family: 4 }]));
    const headers = { ...(options.headers as Record<string, string>), host: url.host };
    return http.request(`http://${url.hostname}:${port}${url.pathname}`, { ...options, headers, lookup });
  }) as never);
  return requests;
}

/** A mail service that sends one mail for each idempotency key. */
export class MailService {
  readonly sent = new Map<string, string>();
  /** Whether the connection breaks after the mail was sent. */
  breaks = false;

  readonly answer = ({ headers, body }: SentRequest): Response => {
    this.sent.set(headers.get("idempotency-key") ?? `mail ${this.sent.size}`, body);
    if (this.breaks) throw new TypeError("the connection broke");
    return new Response();
  };
}
