import { SluiceError } from "../errors.ts";

/**
 * Reads the JSON of server-sent events as this project writes them: each has one `data` line.
 * @throws {SluiceError} for the event `problem`, with which the server reports an error
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream
 */
export async function* serverSentEvents(body: AsyncIterable<Uint8Array>): AsyncGenerator<unknown, void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of body) {
    const frames = (rest + decoder.decode(chunk, { stream: true })).split("\n\n");
    rest = frames.pop() ?? "";
    for (const frame of frames) {
      const data = /^data: (.*)$/m.exec(frame)?.[1];
      if (data === undefined) continue;
      const value = JSON.parse(data) as { readonly detail?: string };
      if (/^event: problem$/m.test(frame))
        throw new SluiceError("unreachable", value.detail ?? "the stream failed");
      yield value;
    }
  }
}
