import type { LambdaHandler } from "../../serverless/lambda.ts";

/** The context of an invocation that may take so many ms from now on. */
export function contextOf(timeout: number) {
  const end = performance.now() + timeout;
  return { getRemainingTimeInMillis: () => Math.max(0, Math.floor(end - performance.now())) };
}

/** Invokes a function as its URL does. */
export async function invoke(handler: LambdaHandler, request: Request, timeout: number): Promise<Response> {
  const { pathname, search } = new URL(request.url);
  const { method, headers } = request;
  const event = {
    rawPath: pathname,
    rawQueryString: search.slice(1),
    headers: Object.fromEntries(headers),
    body: await request.text(),
    isBase64Encoded: false,
    requestContext: { apiId: "a-function-url-is-longer", domainName: "function.test", http: { method } },
  };
  const {
    statusCode: status,
    isBase64Encoded,
    body,
    headers: answered,
    cookies,
  } = await handler(event, contextOf(timeout));
  const bytes = Buffer.from(body, isBase64Encoded ? "base64" : "utf8");
  const response = new Response(status === 204 ? null : bytes, { status, headers: answered });
  for (const cookie of cookies) response.headers.append("set-cookie", cookie);
  return response;
}
