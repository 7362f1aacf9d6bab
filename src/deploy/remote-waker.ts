import type { Waker } from "../features/waking/index.ts";
import { wakeFailed } from "../log/lines.ts";
import type { Log } from "../log/logger.ts";
import type { Drains } from "./drains.ts";

/** What wakes consumers that are not in this invocation or process. */
export interface RemoteWakers {
  /** By the wake URL or a binding: a deployment with the same consumers as this one, or any if this one has none. */
  readonly byUrl: Waker | undefined;
  /** Deployments with any consumers, which hear of each wake. */
  readonly byName: Waker | undefined;
}

/**
 * One waker of both.
 * @param drains of the invocation, which count its requests
 * @param byUrl whether the deployment at the wake URL has the consumer
 * @returns undefined if there is none
 */
export function remoteWaker(
  { remote, log }: { readonly remote: RemoteWakers; readonly log: Log },
  drains?: Drains,
  byUrl = true,
): Waker | undefined {
  const [first, second] = [remote.byName, byUrl ? remote.byUrl : undefined].flatMap((waker) =>
    waker ? (drains?.countedWaker(waker) ?? waker) : [],
  );
  if (!first) return undefined;
  const onError = (error: unknown, queue: string) => log(wakeFailed(queue, error));
  if (!second) return { ...first, onError };
  return {
    ...first,
    onError,
    async wake(queue) {
      try {
        await first.wake(queue);
      } finally {
        await second.wake(queue);
      }
    },
  };
}
