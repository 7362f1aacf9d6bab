import { secrets } from "./served.ts";

/** One server-sent event, as the standard reads it. */
export interface TestFrame {
  readonly event: string;
  readonly id: string | undefined;
  // JSON whose fields a test reads.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly data: any;
}

export type Fetch = (path: string, init: RequestInit) => Response | Promise<Response>;

/** An event stream as a client sees it. */
export type TestStream = Awaited<ReturnType<typeof openEvents>>;

/** Opens an event stream. */
export async function openEvents(fetch: Fetch, path: string, headers: Record<string, string> = {}) {
  const response = await fetch(path, {
    headers: { authorization: `Bearer ${secrets.all}`, accept: "text/event-stream", ...headers },
  });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  const frames = framesOf(reader);
  /** The next event; undefined when the stream has ended. */
  const next = async (): Promise<TestFrame | undefined> => (await frames.next()).value;
  return {
    status: response.status,
    headers: response.headers,
    next,
    async take(count: number) {
      const taken = [];
      while (taken.length < count) taken.push(await next());
      return taken;
    },
    /** All that is left, until the stream ends. */
    async rest() {
      const all = [];
      for await (const frame of frames) all.push(frame);
      return all;
    },
    /** Closes the stream, as a client that goes away. */
    leave: async () => reader?.cancel(),
  };
}

async function* framesOf(
  reader: ReadableStreamDefaultReader<string> | undefined,
): AsyncGenerator<TestFrame, undefined> {
  if (reader === undefined) return;
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done && text !== "") throw new Error(`the stream ends within an event: ${text}`);
    if (done) return;
    const events = (text + value).split("\n\n");
    text = events.pop() ?? "";
    for (const event of events) {
      const fields = event.split("\n").map((line) => /^(event|id|data|retry|): ?(.*)$/.exec(line) ?? []);
      const of = (name: string) => fields.find((field) => field[1] === name)?.[2];
      const data = of("data");
      if (data !== undefined) yield { event: of("event") ?? "message", id: of("id"), data: JSON.parse(data) };
    }
  }
}
