import { sluice } from "sluice-queue/lambda";

/**
 * Shows the request, answers with bytes and several values, and has a consumer that stops only at its signal.
 */
export const handler = sluice({
  consumers: {
    slow: {
      // No other invocation takes the task while the test checks.
      backoff: ["1h"],
      handler: ({ signal }) =>
        new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error))),
    },
  },
  async fetch(request) {
    const { origin, pathname, search } = new URL(request.url);
    if (pathname === "/bytes") {
      const headers = new Headers({ "content-type": "application/octet-stream" });
      for (const value of ["a=1; Path=/", "b=2"]) headers.append("set-cookie", value);
      for (const value of ["1", "2"]) headers.append("x-many", value);
      return new Response(new Uint8Array([0, 0xff, 0xfe, 0x80]), { status: 203, headers });
    }
    const { method, headers } = request;
    const body = [...new Uint8Array(await request.arrayBuffer())];
    const shown = { method, origin, path: pathname + search, headers: Object.fromEntries(headers), body };
    return Response.json(shown);
  },
});
