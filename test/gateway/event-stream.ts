import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach } from "vitest";
import { type Stack, token, useStack } from "./stack.ts";

/** The connections without an open stream: the gateway's and the test's own. */
export const IDLE = 2;

/** The header that a stream needs. */
export const sse = { accept: "text/event-stream" };

/** Opens a stream by the standard token, read by the standard of server-sent events; resolves when its head is there. */
export async function openStream(
  { gateway }: Pick<Stack, "gateway">,
  path: string,
  { headers, ...init }: RequestInit = {},
) {
  const client = new AbortController();
  const response = await fetch(gateway.url + path, {
    ...init,
    signal: client.signal,
    headers: {
      ...sse,
      authorization: `Bearer ${token}`,
      ...(headers as Record<string, string> | undefined),
    },
  });
  const events = readEvents(response);
  /** The data of the next event; undefined if the stream has ended, `broken` if its connection broke. */
  const next = async (): Promise<string | undefined> => {
    try {
      const { value } = await events.next();
      return value ?? undefined;
    } catch {
      return "broken";
    }
  };
  return {
    status: response.status,
    headers: response.headers,
    next,
    /** The data of the next events. */
    async take(count: number) {
      const taken: (string | undefined)[] = [];
      while (taken.length < count) taken.push(await next());
      return taken;
    },
    /** Closes the stream, as a client that goes away. */
    close: () => client.abort(),
  };
}

export type EventStream = Awaited<ReturnType<typeof openStream>>;

/** Upstash sends no fields except data, so others are an error here. */
async function* readEvents({ body }: Response): AsyncGenerator<string, undefined> {
  if (body === null) return;
  let text = "";
  for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    const events = text.split("\n\n");
    text = events.pop() as string;
    for (const event of events) {
      const lines = event.split(/\r\n|\r|\n/).map((line) => /^data:(?: ?)(.*)$/su.exec(line)?.[1]);
      if (lines.includes(undefined)) throw new TypeError(`not an event: ${JSON.stringify(event)}`);
      yield lines.join("\n");
    }
  }
}

/** Registers a stack for a test file, whose streams are closed after each test. */
export function useStreams() {
  const stack = useStack();
  const open: EventStream[] = [];
  /** Resolves when this many connections to Redis are open. */
  async function untilConnections(count: number): Promise<void> {
    const list = async () => String(await stack.direct("CLIENT", "LIST"));
    while ((await list()).trim().split("\n").length !== count) await sleep(10);
  }
  beforeEach(() => untilConnections(IDLE));
  afterEach(async () => {
    for (const stream of open.splice(0)) stream.close();
    await untilConnections(IDLE);
  });
  return {
    ...stack,
    untilConnections,
    async stream(path: string, init?: RequestInit): Promise<EventStream> {
      const opened = await openStream(stack.its.stack, path, init);
      open.push(opened);
      return opened;
    },
    /** Returns how many received it. */
    publish: (channel: string, message: string | Buffer) => stack.direct("PUBLISH", channel, message),
  };
}
