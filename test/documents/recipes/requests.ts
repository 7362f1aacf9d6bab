import { vi } from "vitest";

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
