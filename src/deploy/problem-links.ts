import { respond } from "../respond.ts";

/** The path of the documentation, as a problem of the app names it: in its `type` and in its `detail`. */
const DOCS = /^\/docs#|(?<=`)\/docs(?=`)/;

/** The start of a problem that ends an event stream. A line break in data is encoded, so no data looks like it. */
const PROBLEM_EVENT = /^(event: problem\ndata: \{"type":")(?=\/docs#)/m;

/**
 * The response of an app that is mounted below a path. The links of problems get that path: the `type` is
 * `/queue/docs#not_found`.
 * @param path where the app is mounted, such as `/queue`; empty: at the root
 */
export async function withLinksBelow(path: string, response: Response): Promise<Response> {
  const { status, body } = response;
  if (path === "" || body === null) return response;
  const headers = Object.fromEntries(response.headers);
  switch (headers["content-type"]) {
    case "application/problem+json": {
      const problem = (await response.json()) as Readonly<Record<string, unknown>>;
      const link = (text: unknown) =>
        typeof text === "string" ? text.replace(DOCS, (docs) => path + docs) : text;
      const linked = { ...problem, type: link(problem["type"]), detail: link(problem["detail"]) };
      return respond(JSON.stringify(linked), status, headers);
    }
    case "text/event-stream": {
      const [decoder, encoder] = [new TextDecoder(), new TextEncoder()];
      const linked = new TransformStream<Uint8Array, Uint8Array>({
        // Each chunk is a whole event.
        transform(chunk, controller) {
          const text = decoder.decode(chunk);
          controller.enqueue(encoder.encode(text.replace(PROBLEM_EVENT, (start) => start + path)));
        },
      });
      return respond(body.pipeThrough(linked), status, headers);
    }
    default:
      return response;
  }
}

/**
 * The path where a framework has mounted the app.
 * @param original the URL of the request
 * @param below the URL below the path of the mount
 */
export function mountOf(original: string, below: string): string {
  const [asked = "", inner = ""] = [original, below].map((url) => url.split("?")[0]);
  return asked.endsWith(inner) ? asked.slice(0, asked.length - inner.length) : asked;
}
