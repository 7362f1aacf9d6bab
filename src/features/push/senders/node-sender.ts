import type { ClientRequest, IncomingMessage, RequestOptions } from "node:http";
import type { LookupAddress } from "node:dns";
import { DeliveryError } from "../failure.ts";
import { isAddress, isPublic } from "../addresses.ts";
import { hostOf, mayBePrivate } from "../policy.ts";
import type { Delivered } from "../types.ts";
import { type Hop, MOST_HEADERS, type Sender, startOf, textOf } from "./sender.ts";

/** The modules of Node that send. */
export interface NodeModules {
  readonly http: Pick<typeof import("node:http"), "request">;
  readonly https: Pick<typeof import("node:https"), "request">;
  readonly resolve: (host: string) => Promise<readonly LookupAddress[]>;
}

/** The most responses 1xx in front of the response. */
const MOST_INTERIM = 16;

/**
 * Sends by `node:http`. The name is resolved once, each of its addresses is checked, and the connection goes to one of
 * these, so that a name that leads elsewhere a moment later changes nothing. No connection is used twice.
 */
export function nodeSender({ http, https, resolve }: NodeModules): Sender {
  return async (hop) => {
    const { url, signal } = hop;
    const addresses = await checkedAddresses(hop, resolve);
    signal.throwIfAborted();
    // Addresses are not looked up.
    let looked = isAddress(hostOf(url));
    const options: RequestOptions = {
      method: hop.method,
      headers: withLength(hop),
      agent: false,
      maxHeaderSize: MOST_HEADERS,
      lookup: ((_host: string, { all }: { all?: boolean }, callback: (...found: unknown[]) => void) => {
        const [first] = addresses;
        looked = true;
        if (all) callback(null, addresses);
        else callback(null, first?.address, first?.family);
      }) as RequestOptions["lookup"],
    };
    return new Promise((resolveWith, reject) => {
      const request = (url.protocol === "https:" ? https : http).request(url, options);
      // Some runtimes may connect without it, to an address that was not checked.
      request.on("response", () => {
        if (!looked) reject(new DeliveryError("refused", "this runtime does not use the checked address"));
      });
      receive(request, hop, resolveWith, reject);
      request.end(hop.body);
    });
  };
}

async function checkedAddresses(
  { url, policy, signal }: Hop,
  resolve: NodeModules["resolve"],
): Promise<readonly LookupAddress[]> {
  const host = hostOf(url);
  const found = isAddress(host)
    ? [{ address: host, family: host.includes(":") ? 6 : 4 }]
    : await orAborted(signal, resolve(host)).catch((error: unknown) => {
        signal.throwIfAborted();
        throw new DeliveryError("unreachable", `the name of the host was not resolved: ${codeOf(error)}`);
      });
  if (found.length === 0) throw new DeliveryError("unreachable", "the host has no address");
  if (!mayBePrivate(host, policy) && !found.every(({ address }) => isPublic(address))) {
    throw new DeliveryError("refused", "the host has an address that is not public");
  }
  return found;
}

/** What a promise resolves to, unless a signal aborts first. Names may take long to resolve. */
function orAborted<T>(signal: AbortSignal, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason as Error);
    signal.addEventListener("abort", stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}

function withLength({ headers, body, method }: Hop): Record<string, string> {
  if (body === undefined && (method === "GET" || method === "HEAD")) return { ...headers };
  const length = typeof body === "string" ? new TextEncoder().encode(body).length : (body?.length ?? 0);
  return { ...headers, "content-length": String(length) };
}

/** Settles a request with its response, or why there is none. Ends the connection in each case. */
function receive(
  request: ClientRequest,
  hop: Hop,
  resolve: (delivered: Delivered) => void,
  reject: (error: unknown) => void,
): void {
  const { signal } = hop;
  const end = () => {
    signal.removeEventListener("abort", stop);
    request.destroy();
  };
  const fail = (error: unknown) => {
    reject(error);
    end();
  };
  const stop = () => fail(signal.reason);
  let interim = 0;
  signal.addEventListener("abort", stop, { once: true });
  request.on("information", () => {
    interim += 1;
    if (interim > MOST_INTERIM) fail(new DeliveryError("invalid_response", "too many responses 1xx"));
  });
  // A response that leaves HTTP.
  request.on("upgrade", () => fail(new DeliveryError("invalid_response", "the response was 101")));
  let responded = false;
  // What follows a response, such as a body after 204, does not change it: reading its body ends then.
  request.on("error", (error) => responded || fail(faultOf(error)));
  request.on("response", (response) => {
    responded = true;
    signal.removeEventListener("abort", stop);
    readStart(response, hop, (bytes, truncated) => {
      const body = textOf(bytes, truncated);
      resolve({ status: response.statusCode ?? 0, headers: headersOf(response), body, bytes, truncated });
      end();
    });
  });
}

/** Reads the start of a body. It never fails: the status counts. */
function readStart(
  response: IncomingMessage,
  { signal, maxBody, bodyTime }: Hop,
  done: (bytes: Uint8Array<ArrayBuffer>, truncated: boolean) => void,
): void {
  const chunks: Uint8Array[] = [];
  let size = 0;
  const finish = (truncated: boolean) => {
    clearTimeout(timer);
    signal.removeEventListener("abort", cut);
    done(startOf(chunks, maxBody), truncated);
  };
  const cut = () => finish(true);
  const timer = setTimeout(cut, bodyTime);
  signal.addEventListener("abort", cut, { once: true });
  response.on("data", (chunk: Uint8Array) => {
    chunks.push(chunk);
    size += chunk.length;
    if (size > maxBody) cut();
  });
  response.on("end", () => finish(!response.complete));
  response.on("error", cut);
  response.on("close", cut);
}

function headersOf({ rawHeaders }: IncomingMessage): Headers {
  const headers = new Headers();
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    try {
      headers.append(rawHeaders[i] as string, rawHeaders[i + 1] as string);
    } catch {
      // One that Headers do not take.
    }
  }
  return headers;
}

function faultOf(error: Error): DeliveryError {
  const code = codeOf(error);
  return new DeliveryError(
    code.startsWith("HPE_") ? "invalid_response" : "unreachable",
    code === "HPE_HEADER_OVERFLOW" ? "the response has too many headers" : `there was no response: ${code}`,
  );
}

/** The code of an error of Node. Its message may have the address, which senders of events need not see. */
function codeOf(error: unknown): string {
  const { code } = Object(error) as { code?: unknown };
  return typeof code === "string" ? code : "unknown";
}
