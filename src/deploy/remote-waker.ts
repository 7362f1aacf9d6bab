import type { Config } from "../config.ts";
import { invalidArgument } from "../errors.ts";
import { publishing, type Waker, wakeChannel, webhookWaker } from "../features/waking/index.ts";
import { newToken } from "../kernel/names/ids.ts";
import type { Transport } from "../kernel/transport.ts";
import { wakeFailed } from "../log/lines.ts";
import type { Log } from "../log/logger.ts";
import type { Drains } from "./drains.ts";
import type { Platform } from "./options.ts";

/** How a deployment wakes consumers that are not in this invocation or process. */
export interface Remote {
  /** By the wake URL or a binding: a deployment with the same consumers as this one, or any if this one has none. */
  readonly byUrl: Waker | undefined;
  /** Through Redis's pub/sub: servers with any consumers. */
  readonly pubSub: PubSub | undefined;
}

export interface PubSub {
  readonly channel: string;
  /** The name of this deployment in its messages. */
  readonly sender: string;
}

type RemotePlatform = Pick<Platform, "afterResponse" | "wakeFetch" | "wakeTimeout">;

/** @throws {SluiceError} `invalid_argument` if a binding to wake has no secret */
export function readRemote(config: Config, platform: RemotePlatform): Remote {
  return { byUrl: byUrl(config, platform), pubSub: pubSub(config, platform) };
}

function byUrl(
  { wakeUrl, wakeSecrets: [secret] }: Config,
  { wakeFetch, wakeTimeout }: RemotePlatform,
): Waker | undefined {
  if (wakeFetch && !secret) {
    throw invalidArgument("SLUICE_WAKE_SECRET", "must be set, because the binding SLUICE_CONSUMER is set");
  }
  const url = wakeUrl ?? (wakeFetch && "https://consumer/wake");
  return url && secret ? webhookWaker({ url, secret, fetch: wakeFetch, timeout: wakeTimeout }) : undefined;
}

function pubSub(
  { redis, prefix, wakePubSub }: Config,
  { afterResponse }: RemotePlatform,
): PubSub | undefined {
  // Over TCP a command has no price, and only a process hears wakes.
  const isOn = wakePubSub ?? ("redisUrl" in redis && afterResponse === "any");
  return isOn ? { channel: wakeChannel(prefix), sender: newToken() } : undefined;
}

/** What reaches consumers elsewhere. */
interface Reaching {
  readonly remote: Remote;
  readonly transport: Transport;
  readonly log: Log;
}

/**
 * The waker of consumers elsewhere.
 * @param drains of the invocation, which count its requests
 * @param byUrl whether the deployment at the wake URL has the consumer
 * @returns undefined if there is no way to wake them
 */
export function remoteWaker(
  { remote, transport, log }: Reaching,
  drains?: Drains,
  { byUrl = true } = {},
): Waker | undefined {
  const onError = (error: unknown, queue: string) => log(wakeFailed(queue, error));
  const url = byUrl ? remote.byUrl : undefined;
  const overHttp = url && { ...(drains?.countedWaker(url) ?? url), onError };
  if (!remote.pubSub) return overHttp;
  const { channel, sender } = remote.pubSub;
  const published = { ...publishing(drains?.counted(transport) ?? transport, channel, sender), onError };
  if (!overHttp) return published;
  return {
    ...published,
    async wake(queue) {
      const tried = [published, overHttp].map(async (waker) => waker.wake(queue));
      const failed = (await Promise.allSettled(tried)).find(({ status }) => status === "rejected");
      if (failed) throw (failed as PromiseRejectedResult).reason;
    },
  };
}
