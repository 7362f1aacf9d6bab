import { useState } from "preact/hooks";
import { OVERVIEW, overviews, queueNames } from "../api/queues.ts";
import type { Overview } from "../api/types.ts";
import { counted, number, rate, span } from "../format.ts";
import { useLive } from "../live.ts";
import { Sparkline } from "../parts/charts.tsx";
import { Heading, Stale, Waiting } from "../parts/layout.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { goTo, linkTo, queueLink } from "../router.ts";
import { QueueBadges } from "./facts.tsx";

/** Queues on one page. */
const PAGE = 25;

const orders = {
  name: () => 0,
  pending: ({ pending }: Overview) => -pending,
  dead: ({ rejected }: Overview) => -rejected,
  oldest: ({ oldestAge }: Overview) => -(oldestAge ?? -1),
} as const;

type Order = keyof typeof orders;

/** All queues: their names cost little; the numbers are read of those that the page shows. */
export function QueuesScreen({ query }: { readonly query: URLSearchParams }) {
  const names = useLive(queueNames, "names", { once: true });
  const [typed, setTyped] = useState(query.get("name") ?? "");
  const order = (query.get("order") ?? "name") as Order;
  const asked = Number(query.get("page") ?? 0);
  if (!names.value) return <Waiting title="Queues" error={names.error} retry={names.refresh} />;
  const wanted = names.value.filter((name) => name.toLowerCase().includes(typed.toLowerCase()));
  const last = Math.max(0, Math.ceil(wanted.length / PAGE) - 1);
  const page = Number.isInteger(asked) ? Math.min(Math.max(0, asked), last) : 0;
  const to = (changes: Record<string, string>) =>
    linkTo([], { name: typed, order: order === "name" ? "" : order, ...changes });
  return (
    <>
      <Heading title="Queues">
        <span class="faint">{counted(names.value.length, "queue")}</span>
        <span class="fill" />
        <a href={linkTo(["costs"])}>Costs</a>
      </Heading>
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
                onInput={(event) => setTyped(event.currentTarget.value)}
                placeholder="part of a name"
              />
            </label>
            <label>
              Order
              <select value={order} onChange={(event) => goTo(to({ order: event.currentTarget.value }))}>
                <option value="name">by name</option>
                <option value="pending">most pending first</option>
                <option value="dead">most dead letters first</option>
                <option value="oldest">oldest next task first</option>
              </select>
            </label>
            <button type="button" onClick={names.refresh}>
              Look for new queues
            </button>
          </div>
          <Overviews
            names={wanted}
            order={order in orders ? order : "name"}
            page={page}
            linkOf={(to_) => to({ page: String(to_) })}
          />
        </>
      )}
    </>
  );
}

interface OverviewsProps {
  readonly names: readonly string[];
  readonly order: Order;
  readonly page: number;
  readonly linkOf: (page: number) => string;
}

function Overviews({ names, order, page, linkOf }: OverviewsProps) {
  const sorted = order !== "name";
  // Another order needs the numbers of all queues; only the page is refreshed often.
  const shown = sorted ? names : names.slice(page * PAGE, (page + 1) * PAGE);
  const found = useLive((signal) => inSlices(shown, signal), shown.join(","), {
    once: sorted && names.length > OVERVIEW,
  });
  if (!found.value) return <Waiting error={found.error} retry={found.refresh} />;
  const rows = found.value.toSorted((a, b) =>
    "code" in a || "code" in b ? 0 : orders[order](a) - orders[order](b),
  );
  const visible = sorted ? rows.slice(page * PAGE, (page + 1) * PAGE) : rows;
  const pages = Math.ceil(names.length / PAGE);
  return (
    <>
      <Stale error={found.error} />
      <Table
        label="Queues"
        columns={columns}
        rows={visible}
        keyOf={({ queue }) => queue}
        empty="No queue has this text in its name."
      />
      {pages > 1 && (
        <nav class="pages" aria-label="Pages">
          {page > 0 ? <a href={linkOf(page - 1)}>Previous</a> : <span class="faint">Previous</span>}
          <span>
            Page {page + 1} of {pages}
          </span>
          {page + 1 < pages ? <a href={linkOf(page + 1)}>Next</a> : <span class="faint">Next</span>}
        </nav>
      )}
    </>
  );
}

type Row = Overview | { readonly queue: string; readonly code: string };

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
  "code" in row ? <span class="faint">–</span> : read(row);

const columns: readonly Column<Row>[] = [
  {
    title: "Queue",
    of: (row) => (
      <>
        <a class="name" href={queueLink(row.queue)} dir="auto">
          {row.queue}
        </a>
        {"code" in row ? <span class="badge state-rejected">{row.code}</span> : <QueueBadges queue={row} />}
      </>
    ),
  },
  { title: "Pending", count: true, of: of(({ pending }) => <Count value={pending} />) },
  { title: "Delayed", count: true, of: of(({ delayed }) => <Count value={delayed} />) },
  { title: "Working", count: true, of: of(({ working }) => <Count value={working} />) },
  {
    title: "Dead",
    count: true,
    of: of(({ queue, rejected }) =>
      rejected === 0 ? (
        "0"
      ) : (
        <a class="bad" href={queueLink(queue, "dead")}>
          {number(rejected)}
        </a>
      ),
    ),
  },
  {
    title: "Age of next task",
    count: true,
    of: of(({ oldestAge }) => (oldestAge === null ? <span class="faint">–</span> : span(oldestAge))),
  },
  {
    title: "Done a minute",
    count: true,
    of: of(({ statistics: { on, perMinute } }) =>
      on ? rate(perMinute.completed) : <span class="faint">–</span>,
    ),
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
