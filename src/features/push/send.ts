import { builtinModule } from "../../environment.ts";
import { invalidArgument } from "../../errors.ts";
import { milliseconds } from "../../kernel/options/duration.ts";
import { wholeNumber } from "../../kernel/options/validation.ts";
import { DeliveryError } from "./failure.ts";
import { checkedTarget, refusal } from "./policy.ts";
import { checkedHeaders } from "./request.ts";
import { fetchSender } from "./senders/fetch-sender.ts";
import { nodeSender } from "./senders/node-sender.ts";
import type { Sender } from "./senders/sender.ts";
import type { Delivered, OutgoingRequest, UrlPolicy } from "./types.ts";

/** The longest time of a request, ms. */
const LONGEST = 900_000;

/** Headers that another origin must not get by a redirect. */
const CREDENTIALS = /^(?:authorization|cookie)$/i;

/** Bytes of a body that are kept by default, and how long they may take, ms. The status has decided by then. */
const KEPT = 4_096;
const BODY_TIME = 5_000;

/** Most bytes of a body that are kept. */
const MOST_KEPT = 1_048_576;

const METHOD = /^[A-Za-z]{1,20}$/;

/**
 * Sends a request to a URL that need not be trusted. What answers can do no harm: the addresses of the host are
 * checked, and the connection goes to one of these; all times and sizes have limits.
 * @param policy which URLs are allowed. Default: those of any public host
 * @returns the response, whatever its status
 * @throws {SluiceError} `invalid_argument` for a URL that {@link checkedTarget} refuses, and for invalid options
 * @throws {DeliveryError} if there is no response
 */
export async function sendTo(request: OutgoingRequest, policy: UrlPolicy = {}): Promise<Delivered> {
  const { method = "POST", headers = {}, body, timeout = "30s", signal } = request;
  let url = checkedTarget(request.url, policy);
  if (!METHOD.test(method)) throw invalidArgument("method", "must be a method of HTTP, such as POST");
  let sent = checkedHeaders(headers);
  const limit = milliseconds(timeout, "timeout", { min: 1, max: LONGEST });
  const { maxBody } = request;
  const ofBody = {
    maxBody: wholeNumber(maxBody ?? KEPT, "maxBody", 0, MOST_KEPT),
    bodyTime: maxBody === undefined ? BODY_TIME : limit,
  };
  const send = senderFor(policy);
  if (send === fetchSender && body !== undefined && /^(?:GET|HEAD)$/i.test(method))
    throw invalidArgument("body", `must be absent with ${method}, because this runtime cannot send it`);

  signal?.throwIfAborted();
  const controller = new AbortController();
  const timer = setTimeout(
    () => controller.abort(new DeliveryError("timeout", `no response within ${limit} ms`)),
    limit,
  );
  const abort = () => controller.abort(signal?.reason);
  signal?.addEventListener("abort", abort, { once: true });
  try {
    for (let left = policy.redirects ?? 0; ; left -= 1) {
      controller.signal.throwIfAborted();
      const hop = {
        url,
        method: method.toUpperCase(),
        headers: sent,
        body,
        policy,
        ...ofBody,
        signal: controller.signal,
      };
      const delivered = await send(hop);
      const next = left > 0 ? redirectOf(delivered, hop.method, url) : undefined;
      if (next === undefined) return delivered;
      const target = refusal(next, policy);
      if (typeof target === "string") throw new DeliveryError("refused", `the redirect: the URL ${target}`);
      if (target.protocol === "http:" && url.protocol === "https:") return delivered;
      if (target.origin !== url.origin) sent = without(sent, CREDENTIALS);
      url = target;
    }
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
  }
}

/** Where a redirect leads that keeps the method. */
function redirectOf({ status, headers }: Delivered, method: string, from: URL): string | undefined {
  const keeps = status === 307 || status === 308;
  if (!keeps && !(method === "GET" && [301, 302, 303].includes(status))) return undefined;
  const location = headers.get("location");
  if (location === null || !URL.canParse(location, from)) return undefined;
  return new URL(location, from).href;
}

function without(headers: Record<string, string>, names: RegExp): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !names.test(name)));
}

/**
 * Checks that this runtime can send requests by a policy, so that the first task is not the first to fail.
 * @param at the option that has it, for errors, such as `push.`
 * @throws {SluiceError} `invalid_argument`
 */
export function checkRuntime(policy: UrlPolicy, at = ""): void {
  senderFor(policy, at);
}

/** What sends in this runtime. */
function senderFor({ allow }: UrlPolicy, at = ""): Sender {
  const http = canConnect() ? builtinModule("node:http") : undefined;
  const https = http && builtinModule("node:https");
  const dns = https && builtinModule("node:dns");
  if (http && https && dns) {
    const resolve = (host: string) => dns.promises.lookup(host, { all: true });
    return nodeSender({ http, https, resolve });
  }
  if (!allow) {
    throw invalidArgument(
      `${at}allow`,
      "must list the hosts that requests may go to, because this runtime does not show to which address a name leads",
    );
  }
  return fetchSender;
}

/** Whether `node:http` of this runtime opens connections itself: not in Workers and in edge functions. */
function canConnect(): boolean {
  const { EdgeRuntime, navigator, WebSocketPair } = globalThis as Record<string, unknown>;
  const agent = String((navigator as { userAgent?: unknown } | undefined)?.userAgent);
  return EdgeRuntime === undefined && WebSocketPair === undefined && agent !== "Cloudflare-Workers";
}
