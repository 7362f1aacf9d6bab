import { scalingOut } from "../../drain/with-scale-out.ts";
import type { TaskSource } from "../../drain/source.ts";
import type { Queue } from "../../open/queue.ts";
import type { Waker } from "../../features/waking/index.ts";
import type { Drains } from "../drains.ts";
import { remoteWaker } from "../remote-waker.ts";
import type { Setup } from "../setup.ts";

/** If several drains of a queue end within this time, ms, only one of them wakes another invocation. */
const HAND_OVER = 100;

/** Requests of a wake: a script, perhaps with its text, and the wake itself. */
const WAKE_REQUESTS = 3;

/** The consumers of a queue elsewhere, as a drain of the queue sees them. */
export interface OtherConsumers {
  /** Undefined if they cannot be woken. */
  readonly waker: Waker | undefined;
  /** A source that wakes them when it may leave tasks to them. */
  readonly sharing: <T>(source: TaskSource<T>) => TaskSource<T>;
  /** Wakes them for tasks that the drain leaves at its end. Never throws. */
  readonly takeOver: () => Promise<void>;
  /** Gives back the requests of the invocation that were kept for {@link takeOver}. */
  readonly release: (() => void) | undefined;
}

/** @param queueWith the queue, with a waker */
export function otherConsumers(
  name: string,
  setup: Pick<Setup<object>, "platform" | "remote" | "log">,
  drains: Drains,
  queueWith: (wake: Waker) => Pick<Queue, "wakeAnother">,
): OtherConsumers {
  const { requests } = drains;
  const waker = remoteWaker(setup, drains);
  const release = waker && requests?.reserve(WAKE_REQUESTS);
  if (!waker) return { waker, sharing: (source) => source, takeOver: async () => {}, release };
  // A server publishes without a script, which lets one wake out in so many seconds.
  const servers = setup.platform.sharing && remoteWaker(setup, drains, false);
  const publish = servers && (async () => servers.wake(name));
  const byScript = !publish || setup.remote.byUrl !== undefined;
  const wakeAnother = async () => {
    if ((requests?.free ?? Infinity) >= WAKE_REQUESTS) await queueWith(waker).wakeAnother();
  };
  return {
    waker,
    release,
    sharing(source) {
      const one = byScript ? scalingOut(source, wakeAnother) : source;
      return (publish && setup.platform.sharing?.(one, publish)) ?? one;
    },
    async takeOver() {
      await publish?.().catch(() => {});
      // A short window: the wake that started this drain must not suppress this one.
      const next = byScript && queueWith({ ...waker, window: HAND_OVER });
      if (next) await next.wakeAnother().catch(() => {});
    },
  };
}
