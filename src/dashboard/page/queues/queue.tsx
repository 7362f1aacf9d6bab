import { useEffect, useRef, useState } from "preact/hooks";
import { overviews } from "../api/queues.ts";
import type { Overview, Overviews, State } from "../api/types.ts";
import { serverTime } from "../clock.ts";
import { DeadLetters } from "../dead-letters/dead-letters.tsx";
import { number, wordsOf } from "../format.ts";
import { Findings } from "../health/findings.tsx";
import { useHealthOf } from "../health/health.tsx";
import { useLive } from "../live.ts";
import { Groups, Partitions, Schedules, Workers } from "../more.tsx";
import { stateNames } from "../parts/badges.tsx";
import { Heading, Stale, Waiting } from "../parts/layout.tsx";
import { queueLink } from "../router.ts";
import { filterOf } from "../tasks/filters.tsx";
import { TaskList } from "../tasks/task-list.tsx";
import { useEvents } from "./events.ts";
import { Facts, QueueBadges } from "./facts.tsx";
import { History } from "./history.tsx";
import { QueueActions } from "./queue-actions.tsx";
import { Stopped } from "./stopped.tsx";

const states = ["pending", "delayed", "blocked", "working", "completed", "rejected"] as const;
const others = ["schedules", "workers", "groups", "partitions"] as const;

const isShown = (one: (typeof others)[number], { partitions }: Overview) =>
  one !== "partitions" || partitions > 1;

/** Few queues have tasks of flows. */
const isTab = (state: State, tab: string, { blocked }: Overview) =>
  state !== "blocked" || blocked > 0 || tab === stateNames[state];

/** What findings follow from: whether there are tasks of each state, and whether the queue is paused. */
const stateOf = (value: Overviews["queues"][number]) =>
  "code" in value
    ? value.code
    : [value.pending, value.working, value.rejected].map((count) => count > 0).join() +
      value.paused +
      value.stoppedGroups;

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
  const happened = () => setRound((before) => before + 1);
  const [acts, setActs] = useState(0);
  const working = value && "working" in value ? value.working : 0;
  const findings = useHealthOf(queue, acts, value && stateOf(value), working);
  const changed = () => {
    happened();
    setActs((before) => before + 1);
  };
  useEvents(queue, value && !("code" in value) ? value.settings.events : false, happened);
  if (!value) return <Waiting title={queue} error={found.error} retry={refresh} />;
  if ("code" in value) {
    return (
      <Waiting title={queue} error={`The queue cannot be read: ${wordsOf(value.code)}.`} retry={refresh} />
    );
  }
  const overview = value;
  const state = states.find((one) => stateNames[one] === tab);
  return (
    <>
      <Heading title={queue}>
        <QueueBadges queue={overview} />
        <span class="fill" />
        <QueueActions overview={overview} onChanged={changed} />
      </Heading>
      <Stale error={found.error} />
      <Findings of={findings} queue={queue} onChanged={changed} />
      <Facts overview={overview} />
      <History overview={overview} now={found.value?.now ?? serverTime()} onChanged={changed} />
      {overview.stoppedGroups > 0 && <Stopped queue={queue} round={round} onChanged={changed} />}
      <Tabs overview={overview} tab={tab} />
      {state === "rejected" && query.get("reason") !== "cancelled" && (
        <DeadLetters queue={queue} filter={filterOf(query, state)} acts={acts} onChanged={changed} />
      )}
      {state !== undefined && (
        <TaskList key={state} queue={queue} state={state} query={query} round={round} onChanged={changed} />
      )}
      {tab === "schedules" && <Schedules queue={queue} acts={acts} onChanged={changed} />}
      {tab === "workers" && <Workers queue={queue} onChanged={changed} />}
      {tab === "groups" && (
        <Groups queue={queue} settings={overview.settings} round={round} onChanged={changed} />
      )}
      {tab === "partitions" && <Partitions queue={queue} />}
      {state === undefined && !others.includes(tab as never) && <p class="empty">There is no such page.</p>}
    </>
  );
}

/** How much of the tab before it is seen, pixels. */
const EDGE = 40;

function Tabs({ overview, tab }: { readonly overview: Overview; readonly tab: string }) {
  const { queue } = overview;
  const countOf = (state: State) => state !== "completed" && number(overview[state]);
  const link = (name: string, count: string | false = false) => (
    <a key={name} href={queueLink(queue, name)} aria-current={name === tab ? "page" : undefined}>
      {name}
      {count !== false && <span class="tab-count">{count}</span>}
    </a>
  );
  const nav = useRef<HTMLElement>(null);
  // On a narrow screen the tab may be outside of what is seen.
  useEffect(() => {
    const current = nav.current?.querySelector<HTMLElement>("[aria-current]");
    if (current) nav.current?.scrollTo(current.offsetLeft - nav.current.offsetLeft - EDGE, 0);
  }, [tab]);
  return (
    <nav ref={nav} class="tabs" aria-label="Tasks by state, and what else the queue has">
      {states
        .filter((state) => isTab(state, tab, overview))
        .map((state) => link(stateNames[state], countOf(state)))}
      {others.filter((one) => isShown(one, overview)).map((one) => link(one))}
    </nav>
  );
}
