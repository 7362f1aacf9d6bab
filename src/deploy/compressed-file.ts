import { promisify } from "node:util";
import { gzip } from "node:zlib";

const gzipped = promisify(gzip);

/**
 * Compresses a response if it is a file of the dashboard and the browser accepts gzip. Only servers and Lambda need
 * it; the other platforms compress. Other responses stay as they are, because compression can reveal their secrets.
 */
export async function withCompressedFile(request: Request, response: Response): Promise<Response> {
  if (!response.ok || !new URL(request.url).pathname.startsWith("/dashboard/assets/")) return response;
  const { status, body } = response;
  const headers = new Headers(response.headers);
  headers.set("vary", "Accept-Encoding");
  // A response to HEAD has no body.
  if (body === null || !acceptsGzip(request)) return new Response(body, { status, headers });
  headers.set("content-encoding", "gzip");
  return new Response(await gzipped(await response.arrayBuffer()), { status, headers });
}

/** Whether `Accept-Encoding` has `gzip` or `*`, and not with `q=0`. */
function acceptsGzip(request: Request): boolean {
  const codings = (request.headers.get("accept-encoding") ?? "").toLowerCase().split(",");
  const parsed = codings.map((coding) => coding.split(";").map((part) => part.trim()));
  const coding = parsed.find(([name]) => name === "gzip") ?? parsed.find(([name]) => name === "*");
  return coding !== undefined && !/^q=0(?:\.0*)?$/.test(coding[1] ?? "");
}
