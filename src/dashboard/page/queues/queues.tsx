import { useEffect, useRef, useState } from "preact/hooks";
import { OVERVIEW, overviews, queueNames } from "../api/queues.ts";
import type { Health, Overview } from "../api/types.ts";
import { counted, number, span } from "../format.ts";
import { StatusBadge } from "../health/findings.tsx";
import { HealthSummary, useHealthOfAll } from "../health/health.tsx";
import { useLive } from "../live.ts";
import { Sparkline } from "../parts/charts.tsx";
import { Heading, Stale, Waiting } from "../parts/layout.tsx";
import { Select } from "../parts/select.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { goTo, linkTo, queueLink } from "../router.ts";
import { useSettled } from "../settled.ts";
import { useTypedQuery } from "../typed-query.ts";
import { doneRate, isOld, QueueBadges } from "./facts.tsx";

/** Queues on one page. */
const PAGE = 25;

const orders = {
  pending: ({ pending }: Overview) => -pending,
  dead: ({ rejected }: Overview) => -rejected,
  oldest: ({ oldestAge }: Overview) => -(oldestAge ?? -1),
} as const;

type Order = keyof typeof orders;

const isOrder = (text: string): text is Order => Object.hasOwn(orders, text);

const withText = (names: readonly string[], text: string) =>
  names.filter((name) => name.toLowerCase().includes(text.toLowerCase()));

/** All queues: their names cost little; the numbers are read of those that the page shows. */
export function QueuesScreen({ query }: { readonly query: URLSearchParams }) {
  const names = useLive(queueNames, "names", { once: true });
  const asked = query.get("order") ?? "";
  const order = isOrder(asked) ? asked : undefined;
  const page = Number(query.get("page") ?? 0);
  const { fields, set } = useTypedQuery(query, ["name"], ({ name }) => linkTo([], { name, order }));
  const typed = fields.name;
  const [acts, setActs] = useState(0);
  const isFew = names.value !== undefined && names.value.length <= OVERVIEW;
  const health = useHealthOfAll(isFew, acts);
  if (!names.value) return <Waiting title="Queues" error={names.error} retry={names.refresh} />;
  const to = (changes: Record<string, string>) => linkTo([], { name: typed, order, ...changes });
  const list: ListProps = {
    names: names.value,
    typed,
    page: Number.isInteger(page) && page > 0 ? page : 0,
    linkOf: (number) => to({ page: String(number) }),
    statuses: new Map(health.value?.queues.map(({ queue, status }) => [queue, status])),
  };
  return (
    <>
      <Heading title="Queues">
        <span class="faint">{counted(names.value.length, "queue")}</span>
        <span class="fill" />
        <a href={linkTo(["costs"])}>Costs</a>
      </Heading>
      {isFew ? (
        <HealthSummary of={health} onChanged={() => setActs(acts + 1)} />
      ) : (
        <p>
          <a href={linkTo(["health"])}>Check the health of all queues</a>
        </p>
      )}
      {names.value.length === 0 ? (
        <p class="empty">There is no queue yet. A queue appears here with its first task.</p>
      ) : (
        <>
          <div class="filters">
            <label>
              Name
              <input
                type="search"
                value={typed}
                onInput={(event) => set("name", event.currentTarget.value)}
                placeholder="part of a name"
              />
            </label>
            <Select
              label="Order"
              value={order ?? ""}
              set={(value) => goTo(to({ order: value }))}
              options={{
                "": "by name",
                pending: "most pending first",
                dead: "most dead letters first",
                oldest: "oldest next task first",
              }}
            />
            <button type="button" onClick={names.refresh}>
              Look for new queues
            </button>
          </div>
          {order === undefined ? <ByName {...list} /> : <ByNumber {...list} order={order} />}
        </>
      )}
    </>
  );
}

interface ListProps {
  /** Of all queues. */
  readonly names: readonly string[];
  /** Part of the names of those that are shown. */
  readonly typed: string;
  readonly page: number;
  readonly linkOf: (page: number) => string;
  /** How well each queue is, as far as it is known. */
  readonly statuses: ReadonlyMap<string, Health["status"]>;
}

const lastPage = (count: number) => Math.max(0, Math.ceil(count / PAGE) - 1);

function onPage<One>(all: readonly One[], page: number): readonly One[] {
  const shown = Math.min(page, lastPage(all.length));
  return all.slice(shown * PAGE, (shown + 1) * PAGE);
}

/** The queues of one page. Only these are read, once the viewer has stopped typing. */
function ByName({ names, typed, page, ...list }: ListProps) {
  const settled = useSettled(typed);
  const read = onPage(withText(names, settled), page);
  const found = useLive((signal) => inSlices(read, signal), read.join(","), { keep: true });
  if (!found.value) return <Waiting error={found.error} retry={found.refresh} />;
  const byName = new Map(found.value.map((row) => [row.queue, row]));
  const shown = withText(names, typed);
  const rows = onPage(shown, page).map((queue): Row => byName.get(queue) ?? { queue });
  return <List rows={rows} error={found.error} page={page} count={shown.length} {...list} />;
}

/** All queues in the order of a number, for which all are read. What is typed hides some of them at once. */
function ByNumber({ names, typed, page, order, ...list }: ListProps & { readonly order: Order }) {
  const settled = useSettled(typed);
  const wanted = withText(names, settled);
  /** The text for which queues were read last. A longer one needs no others. */
  const readFor = useRef(settled);
  const [round, setRound] = useState(0);
  useEffect(() => {
    if (!settled.toLowerCase().includes(readFor.current.toLowerCase())) setRound((before) => before + 1);
  }, [settled]);
  const load = (signal: AbortSignal) => {
    readFor.current = settled;
    return inSlices(wanted, signal);
  };
  const found = useLive(load, names.join(","), { once: wanted.length > OVERVIEW, round, keep: true });
  const byName = new Map(found.value?.map((row) => [row.queue, row]));
  const shown = withText(names, typed).map((name) => byName.get(name));
  const rows = shown.filter((row) => row !== undefined);
  if (rows.length < shown.length) return <Waiting error={found.error} retry={found.refresh} />;
  // Those that could not be read are the last.
  const placeOf = (row: Row) => ("pending" in row ? orders[order](row) : Number.POSITIVE_INFINITY);
  const sorted = rows.toSorted((a, b) => (placeOf(a) === placeOf(b) ? 0 : placeOf(a) - placeOf(b)));
  return <List rows={onPage(sorted, page)} error={found.error} page={page} count={sorted.length} {...list} />;
}

interface RowsProps extends Pick<ListProps, "page" | "linkOf" | "statuses"> {
  readonly rows: readonly Row[];
  readonly error: string | undefined;
  /** Queues on all pages. */
  readonly count: number;
}

function List({ rows, error, page, count, linkOf, statuses }: RowsProps) {
  const last = lastPage(count);
  const shown = Math.min(page, last);
  return (
    <>
      <Stale error={error} />
      <Table
        label="Queues"
        columns={columnsOf(
          statuses,
          rows.some((row) => "pending" in row && row.blocked > 0),
        )}
        rows={rows}
        keyOf={({ queue }) => queue}
        empty="No queue has this text in its name."
      />
      {last > 0 && (
        <nav class="pages" aria-label="Pages">
          {shown > 0 ? <a href={linkOf(shown - 1)}>Previous</a> : <span class="faint">Previous</span>}
          <span>
            Page {shown + 1} of {last + 1}
          </span>
          {shown < last ? <a href={linkOf(shown + 1)}>Next</a> : <span class="faint">Next</span>}
        </nav>
      )}
    </>
  );
}

/** With a code if the queue could not be read; with its name alone until it is read. */
type Row = Overview | { readonly queue: string; readonly code?: string };

/** Requests that are under way at the same time. */
const LANES = 4;

/** The overviews of any number of queues. */
async function inSlices(names: readonly string[], signal: AbortSignal): Promise<Row[]> {
  const slices: (readonly Row[])[] = Array.from({ length: Math.ceil(names.length / OVERVIEW) }, () => []);
  let next = 0;
  const lane = async () => {
    for (let at = next++; at < slices.length; at = next++) {
      const { queues } = await overviews(names.slice(at * OVERVIEW, (at + 1) * OVERVIEW), signal);
      slices[at] = queues;
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  return slices.flat();
}

/** A count; zeros step back. */
const Count = ({ value }: { readonly value: number }) => (
  <span class={value === 0 ? "faint" : undefined}>{number(value)}</span>
);

const of = (read: (queue: Overview) => preact.ComponentChildren) => (row: Row) =>
  "pending" in row ? read(row) : <span class="faint">–</span>;

const columnsOf = (statuses: ListProps["statuses"], areBlocked: boolean): readonly Column<Row>[] => [
  {
    title: "Queue",
    of: (row) => (
      <>
        <a class="name" href={queueLink(row.queue)} dir="auto">
          {row.queue}
        </a>
        {"pending" in row ? (
          <QueueBadges queue={row} />
        ) : (
          row.code !== undefined && <span class="badge state-rejected">{row.code}</span>
        )}
      </>
    ),
  },
  ...(statuses.size === 0
    ? []
    : [
        {
          title: "Health",
          of: ({ queue }: Row) => {
            const status = statuses.get(queue);
            return status === undefined ? <span class="faint">–</span> : <StatusBadge status={status} />;
          },
        },
      ]),
  { title: "Pending", count: true, of: of(({ pending }) => <Count value={pending} />) },
  { title: "Delayed", count: true, of: of(({ delayed }) => <Count value={delayed} />) },
  ...(areBlocked
    ? [{ title: "Blocked", count: true, of: of(({ blocked }) => <Count value={blocked} />) }]
    : []),
  { title: "Working", count: true, of: of(({ working }) => <Count value={working} />) },
  {
    title: "Dead",
    count: true,
    of: of(({ queue, rejected }) =>
      rejected === 0 ? (
        <Count value={0} />
      ) : (
        <a class="bad" href={queueLink(queue, "dead")}>
          {number(rejected)}
        </a>
      ),
    ),
  },
  {
    title: "Next task waits for",
    count: true,
    of: of(({ oldestAge }) =>
      oldestAge === null ? (
        <span class="faint">–</span>
      ) : (
        <span class={isOld(oldestAge) ? "bad" : undefined}>{span(oldestAge)}</span>
      ),
    ),
  },
  {
    title: "Done a minute (5 min)",
    count: true,
    of: of(({ statistics }) => (statistics.on ? doneRate(statistics) : <span class="faint">–</span>)),
  },
  {
    title: "Last hour",
    of: of(({ statistics: { on, series } }) =>
      on ? (
        <Sparkline done={series.completed} failed={series.failed} />
      ) : (
        <span class="faint">no statistics</span>
      ),
    ),
  },
];
