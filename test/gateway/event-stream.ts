import { setTimeout as sleep } from "node:timers/promises";
import { type Stack, token } from "./stack.ts";

/** One stream of the gateway, read by the standard of server-sent events. */
export interface EventStream {
  readonly status: number;
  readonly headers: Headers;
  /** The data of the next event; undefined if the stream has ended, `broken` if its connection broke. */
  next(): Promise<string | undefined>;
  /** The data of the next events. */
  take(count: number): Promise<(string | undefined)[]>;
  /** Closes the stream, as a client that goes away. */
  close(): void;
}

/** Opens a stream by the standard token; resolves when its head is there. */
export async function openStream(
  { gateway }: Pick<Stack, "gateway">,
  path: string,
  { headers, ...init }: RequestInit = {},
): Promise<EventStream> {
  const client = new AbortController();
  const response = await fetch(gateway.url + path, {
    ...init,
    signal: client.signal,
    headers: {
      accept: "text/event-stream",
      authorization: `Bearer ${token}`,
      ...(headers as Record<string, string> | undefined),
    },
  });
  const events = readEvents(response);
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
    async take(count) {
      const taken: (string | undefined)[] = [];
      while (taken.length < count) taken.push(await next());
      return taken;
    },
    close: () => client.abort(),
  };
}

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

/** Resolves when this many connections to Redis are open: the gateway's and the test's own. */
export async function untilConnections({ direct }: Pick<Stack, "direct">, count: number): Promise<void> {
  for (;;) {
    const list = String(await direct.send(["CLIENT", "LIST"]));
    if (list.trim().split("\n").length === count) return;
    await sleep(10);
  }
}
