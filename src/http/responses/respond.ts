import { closedHeaders } from "./security-headers.ts";

type Headers = Readonly<Record<string, string>>;

const jsonHeaders: Headers = { ...closedHeaders, "content-type": "application/json" };

/**
 * An answer of the interface, with the headers that all of them have. They are given as a plain object and at once: to
 * add headers to a finished `Response` makes another of it, and on Node turns its text into a stream.
 */
export function respond(body: BodyInit | null, status: number, headers: Headers = {}): Response {
  return new Response(body, { status, headers: { ...closedHeaders, ...headers } });
}

/** An answer that is JSON. */
export function json(value: unknown, status = 200, headers?: Headers): Response {
  return new Response(JSON.stringify(value), {
    status,
    headers: headers ? { ...jsonHeaders, ...headers } : jsonHeaders,
  });
}
