import { useEffect } from "preact/hooks";
import { eventsOf } from "../api/queues.ts";
import { isLive, nextInterval } from "../live.ts";
import { useStore } from "../store.ts";

/** The events after which the page shows something else. */
const shownEvents = [
  "enqueued",
  "dequeued",
  "completed",
  "requeued",
  "rejected",
  "cancelled",
  "reclaimed",
  "redriven",
  "released",
  "deleted",
] as const;

/** How long after an event the page is read, ms: others may follow at once. */
const SOON = 1_000;

/**
 * Refreshes soon after something happened, if the queue publishes its events and the page is visible. Many events
 * refresh no more often than the page reads by itself.
 */
export function useEvents(queue: string, published: boolean, refresh: () => void): void {
  const live = useStore(isLive);
  useEffect(() => {
    if (!published || !live) return undefined;
    let source: EventSource | undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let interval: number | undefined;
    let earliest = 0;
    const soon = () => {
      timer ??= setTimeout(
        () => {
          timer = undefined;
          interval = nextInterval(interval);
          earliest = performance.now() + interval;
          refresh();
        },
        Math.max(SOON, earliest - performance.now()),
      );
    };
    const end = () => {
      clearTimeout(timer);
      timer = undefined;
      source?.close();
      source = undefined;
    };
    // In the background the page holds no connection: it may cost a function for as long as it is open.
    const listen = () => {
      end();
      if (document.hidden) return;
      source = eventsOf(queue);
      for (const event of shownEvents) source.addEventListener(event, soon);
    };
    listen();
    document.addEventListener("visibilitychange", listen);
    return () => {
      document.removeEventListener("visibilitychange", listen);
      end();
    };
    // `refresh` is a new function each time, and always does the same.
  }, [queue, published, live]);
}
