import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { onTestFinished } from "vitest";
import { listening } from "../../support/listening.ts";

/** What a receiver answers: a status, or more. */
export type Answer = number | { status: number; headers?: Record<string, string>; body?: string };

/** A server that notes requests, and gives these answers in turn, then 200. */
export interface Receiver {
  readonly url: string;
  readonly requests: {
    readonly headers: Record<string, string>;
    readonly body: string;
    readonly path: string;
  }[];
  readonly answers: Answer[];
  /** What it always answers at these paths. */
  byPath: Readonly<Record<string, number>>;
}

export async function startReceiver(...answers: Answer[]): Promise<Receiver> {
  const requests: Receiver["requests"] = [];
  const receiver: Receiver = { url: "", requests, answers, byPath: {} };
  const receive = async (request: IncomingMessage, response: ServerResponse) => {
    const headers = request.headers as Record<string, string>;
    requests.push({ headers, body: await text(request), path: request.url ?? "" });
    const answer = receiver.byPath[request.url ?? ""] ?? answers.shift() ?? 200;
    const { status, headers: given, body = "" } = typeof answer === "number" ? { status: answer } : answer;
    response.writeHead(status, given).end(body);
  };
  const server = createServer((request, response) => void receive(request, response));
  const port = await listening(server);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return Object.assign(receiver, { url: `http://127.0.0.1:${port}/hook` });
}
