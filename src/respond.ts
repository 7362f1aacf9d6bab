type Headers = Readonly<Record<string, string>>;

/**
 * Headers of every response, unless the response sets its own. No cache stores it. No browser guesses its
 * type, loads anything for it, or shows it in a frame. There are no CORS headers: scripts of other origins
 * cannot read it.
 */
const securityHeaders: Headers = {
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};

const jsonHeaders: Headers = { ...securityHeaders, "content-type": "application/json" };

/**
 * A response with the security headers. All headers are passed to the constructor as one plain object. Adding
 * a header to an existing `Response` copies it, and on Node turns its text into a stream.
 */
export function respond(body: BodyInit | null, status: number, headers: Headers = {}): Response {
  return new Response(body, { status, headers: { ...securityHeaders, ...headers } });
}

/** A JSON response. */
export function json(value: unknown, status = 200, headers?: Headers): Response {
  return new Response(JSON.stringify(value), {
    status,
    headers: headers ? { ...jsonHeaders, ...headers } : jsonHeaders,
  });
}

interface ProblemDocument {
  readonly status: number;
  readonly title: string;
  readonly detail: string;
  readonly [field: string]: unknown;
}

/** A problem document (RFC 9457), with the status that it names. */
export function problemJson(problem: ProblemDocument, headers: Headers = {}): Response {
  return json(problem, problem.status, { "content-type": "application/problem+json", ...headers });
}
