import { estimatedCommands } from "../../../operate/estimated-commands.ts";
import { OVERVIEW, overviews, queueNames } from "../api/queues.ts";
import type { Overview } from "../api/types.ts";
import { dollars, exact, number } from "../format.ts";
import { useLive } from "../live.ts";
import { Heading, Waiting } from "../parts/layout.tsx";
import { Table } from "../parts/table.tsx";
import { queueLink } from "../router.ts";
import { Tile } from "./facts.tsx";

/** Commands of cron in an hour, one run a minute: 3 for the list of queues, and 6 for each queue in use. */
const CRON_LIST = 60 * 3;
const CRON_QUEUE = 60 * 6;

const HOURS_A_MONTH = 730;

const commandsOf = ({ statistics: { calls } }: Overview) => estimatedCommands(calls);

/** What the queues cost, estimated from the calls that their statistics count. */
export function CostsScreen() {
  const { value, error, refresh } = useLive(
    async (signal) => {
      const names = await queueNames(signal);
      const { queues } = await overviews(names.slice(0, OVERVIEW), signal);
      return { names, queues: queues.filter((queue): queue is Overview => !("code" in queue)) };
    },
    "costs",
    { once: true },
  );
  if (!value) return <Waiting title="Costs" error={error} retry={refresh} />;
  const counting = value.queues.filter(({ statistics }) => statistics.on);
  const ofTasks = counting.reduce((sum, queue) => sum + commandsOf(queue), 0);
  const ofCron = CRON_LIST + CRON_QUEUE * value.names.length;
  return (
    <>
      <Heading title="Costs">
        <span class="fill" />
        <button type="button" onClick={refresh}>
          Estimate again
        </button>
      </Heading>
      <dl class="tiles">
        <Tile name="commands of tasks, last hour" value={exact(ofTasks)} />
        <Tile name="commands of cron, an hour" value={exact(ofCron)} />
        <Tile name="dollars an hour at Upstash" value={dollars(ofTasks + ofCron)} />
        <Tile
          name="dollars a month at Upstash, if all hours are like this"
          value={dollars((ofTasks + ofCron) * HOURS_A_MONTH)}
        />
      </dl>
      <p class="hint">
        Estimates at Upstash's price of $0.20 for 100,000 commands, of the calls of the last hour that
        enqueued, dequeued or settled tasks, without dequeues that found nothing and what features add. Cron
        is counted as one run a minute.
      </p>
      <Table
        label="Costs by queue"
        rows={value.queues.toSorted((a, b) => commandsOf(b) - commandsOf(a))}
        keyOf={({ queue }) => queue}
        empty="There is no queue yet."
        columns={[
          {
            title: "Queue",
            of: ({ queue }) => (
              <a class="name" href={queueLink(queue)}>
                {queue}
              </a>
            ),
          },
          {
            title: "Tasks done, last hour",
            count: true,
            of: ({ statistics: { on, series } }) =>
              on ? number(series.completed.reduce((sum, one) => sum + one, 0)) : "–",
          },
          {
            title: "Calls",
            count: true,
            of: ({ statistics: { on, calls } }) =>
              on ? number(calls.enqueue + calls.dequeue + calls.settle + calls.other) : "no statistics",
          },
          {
            title: "Commands",
            count: true,
            of: (queue) => (queue.statistics.on ? number(commandsOf(queue)) : "–"),
          },
          {
            title: "Dollars an hour at Upstash",
            count: true,
            of: (queue) => (queue.statistics.on ? dollars(commandsOf(queue)) : "–"),
          },
        ]}
      />
      {value.names.length > OVERVIEW && (
        <p class="hint">
          Of {exact(value.names.length)} queues, the first {OVERVIEW} by name are estimated.
        </p>
      )}
    </>
  );
}
