import { useEffect, useState } from "preact/hooks";
import { durationBounds } from "../../../operate/statistics.ts";
import { may } from "../access.ts";
import { changeSettings, eventsOf, overviews, pause, resume } from "../api/queues.ts";
import type { Overview } from "../api/types.ts";
import { serverTime } from "../clock.ts";
import { exact, number, span } from "../format.ts";
import { isLive, nextInterval, useLive } from "../live.ts";
import { stateNames } from "../parts/badges.tsx";
import { MinuteChart } from "../parts/charts.tsx";
import { Confirm, Failure, useAction } from "../parts/dialog.tsx";
import { Heading, Stale, Waiting } from "../parts/layout.tsx";
import { announce } from "../parts/notice.tsx";
import { queueLink } from "../router.ts";
import { useStore } from "../store.ts";
import { EnqueueDialog } from "../tasks/enqueue-dialog.tsx";
import { TaskList } from "../tasks/task-list.tsx";
import { doneRate, limitTexts, percentile, QueueBadges, Tile } from "./facts.tsx";
import { Groups } from "./groups.tsx";
import { Partitions } from "./partitions.tsx";
import { Schedules } from "./schedules.tsx";
import { Workers } from "./workers.tsx";

const states = ["pending", "delayed", "working", "completed", "rejected"] as const;
const others = ["schedules", "workers", "groups", "partitions"] as const;

interface QueueScreenProps {
  readonly queue: string;
  /** One of the states, by its name on the page, or of the others. */
  readonly tab: string;
  readonly query: URLSearchParams;
}

export function QueueScreen({ queue, tab, query }: QueueScreenProps) {
  const [round, setRound] = useState(0);
  const found = useLive((signal) => overviews([queue], signal), queue, { round });
  const { refresh } = found;
  const value = found.value?.queues[0];
  const changed = () => setRound((before) => before + 1);
  useEvents(queue, value && !("code" in value) ? value.settings.events : false, changed);
  if (!value) return <Waiting title={queue} error={found.error} retry={refresh} />;
  if ("code" in value) {
    return (
      <Waiting
        title={queue}
        error={`The queue cannot be read: ${value.code.replaceAll("_", " ")}.`}
        retry={refresh}
      />
    );
  }
  const overview = value;
  const state = states.find((one) => stateNames[one] === tab);
  const isShown = (one: (typeof others)[number]) => one !== "partitions" || overview.partitions > 1;
  return (
    <>
      <Heading title={queue}>
        <QueueBadges queue={overview} />
        <span class="fill" />
        <QueueActions overview={overview} onChanged={changed} />
      </Heading>
      <Stale error={found.error} />
      <Facts overview={overview} />
      <Hour overview={overview} now={found.value?.now ?? serverTime()} onChanged={changed} />
      <nav class="tabs" aria-label="Tasks by state, and what else the queue has">
        {states.map((one) => (
          <a
            key={one}
            href={queueLink(queue, stateNames[one])}
            aria-current={one === state ? "page" : undefined}
          >
            {stateNames[one]}
            {one !== "completed" && <span class="tab-count">{number(overview[one])}</span>}
          </a>
        ))}
        {others.filter(isShown).map((one) => (
          <a key={one} href={queueLink(queue, one)} aria-current={one === tab ? "page" : undefined}>
            {one}
          </a>
        ))}
      </nav>
      {state !== undefined && (
        <TaskList
          key={`${state} ${query.toString()}`}
          queue={queue}
          state={state}
          query={query}
          round={round}
          onChanged={changed}
        />
      )}
      {tab === "schedules" && <Schedules queue={queue} />}
      {tab === "workers" && <Workers queue={queue} />}
      {tab === "groups" && <Groups queue={queue} settings={overview.settings} />}
      {tab === "partitions" && <Partitions queue={queue} />}
      {state === undefined && !others.includes(tab as never) && <p class="empty">There is no such page.</p>}
    </>
  );
}

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
  "deleted",
] as const;

/** How long after an event the page is read, ms: others may follow at once. */
const SOON = 1_000;

/**
 * Refreshes soon after something happened, if the queue publishes its events and the page is visible. Many events
 * refresh no more often than the page reads by itself.
 */
function useEvents(queue: string, published: boolean, refresh: () => void): void {
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

function Facts({ overview }: { readonly overview: Overview }) {
  const { pending, delayed, working, rejected, oldestAge, workers, statistics, settings } = overview;
  const { on, waits, runs } = statistics;
  const limits = limitTexts(settings);
  return (
    <dl class="tiles">
      <Tile name="pending" value={number(pending)} />
      <Tile name="delayed" value={number(delayed)} />
      <Tile name="working" value={number(working)} />
      <Tile name="dead" value={number(rejected)} tone={rejected > 0 ? "tone-bad" : undefined} />
      <Tile name="age of next task" value={oldestAge === null ? "–" : span(oldestAge)} />
      <Tile name="workers" value={exact(workers)} />
      {on && <Tile name="done a minute" value={doneRate(statistics)} />}
      {on && <Tile name="95% start within" value={within(waits.classes)} />}
      {on && <Tile name="95% run within" value={within(runs.classes)} />}
      {limits.length > 0 && <Tile name="limits" value={limits.join(", ")} />}
    </dl>
  );
}

/** What 95 of 100 took at most. */
function within(classes: readonly number[]): string {
  const bound = percentile(classes, durationBounds, 0.95);
  if (bound === undefined) return "–";
  return bound === Number.POSITIVE_INFINITY ? "over 50m" : span(bound);
}

interface HourProps {
  readonly overview: Overview;
  /** Redis's time, epoch ms. */
  readonly now: number;
  readonly onChanged: () => void;
}

function Hour({ overview, now, onChanged }: HourProps) {
  const { queue, statistics } = overview;
  const turnOn = useAction(() => changeSettings(queue, { statistics: true }), onChanged);
  if (!statistics.on) {
    return (
      <div class="note">
        <p>
          This queue keeps no statistics, so there are no rates and no chart. Statistics cost one more command
          for each enqueue of a single task, and at most one more a minute.
        </p>
        {may("admin", queue) && (
          <button type="button" onClick={turnOn.start} disabled={turnOn.busy}>
            Keep statistics
          </button>
        )}
        <Failure error={turnOn.error} />
      </div>
    );
  }
  const last = now - (now % 60_000);
  const { series } = statistics;
  return (
    <MinuteChart
      title="Tasks a minute"
      minutes={series.completed.map((_, i) => last - (series.completed.length - 1 - i) * 60_000)}
      series={[
        { name: "completed", tone: "out", values: series.completed },
        { name: "failed attempts", tone: "bad", values: series.failed },
        { name: "enqueued", tone: "in", values: series.enqueued },
      ]}
    />
  );
}

function QueueActions({
  overview,
  onChanged,
}: {
  readonly overview: Overview;
  readonly onChanged: () => void;
}) {
  const { queue, paused, pending, working } = overview;
  const [asked, setAsked] = useState<"pause" | "resume" | "enqueue" | undefined>();
  const close = () => setAsked(undefined);
  const changed = (how: string) => () => {
    announce(`${queue} is ${how}.`);
    onChanged();
  };
  return (
    <>
      {may("enqueue", queue) && (
        <button type="button" onClick={() => setAsked("enqueue")}>
          Enqueue…
        </button>
      )}
      {may("admin", queue) && (
        <button type="button" onClick={() => setAsked(paused ? "resume" : "pause")}>
          {paused ? "Resume…" : "Pause…"}
        </button>
      )}
      {asked === "pause" && (
        <Confirm
          title={`Pause ${queue}?`}
          action="Pause"
          run={() => pause(queue).then(changed("paused"))}
          onClose={close}
        >
          <p>
            Consumers get no more tasks of this queue. They can still finish those that they have. Producers
            can still enqueue. Working tasks: {exact(working)}.
          </p>
        </Confirm>
      )}
      {asked === "resume" && (
        <Confirm
          title={`Resume ${queue}?`}
          action="Resume"
          run={() => resume(queue).then(changed("resumed"))}
          onClose={close}
        >
          <p>Consumers get tasks of this queue again. Pending tasks: {exact(pending)}.</p>
        </Confirm>
      )}
      {asked === "enqueue" && <EnqueueDialog queue={queue} onDone={onChanged} onClose={close} />}
    </>
  );
}
