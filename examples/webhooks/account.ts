import { isAccepted, type ReceivedRequest } from "./deliveries.ts";
import { digest, taskOf, type WebhookEvent } from "./events.ts";

/** What became of the events of one receiver, or of all. Each event is in one of the last four. */
export interface Row {
  events: number;
  /** Accepted by its receiver, once. */
  once: number;
  /** Accepted more than once. */
  again: number;
  /** Not accepted, and kept as a dead letter. */
  dead: number;
  /** Neither: lost. Must be 0. */
  unaccounted: number;
}

export interface Account {
  readonly receivers: ReadonlyMap<string, Row>;
  readonly total: Row;
  /** Of those accepted again: how many the killed run had delivered before. The others timed out. */
  readonly afterCrash: number;
  /** Dead letters by reason. */
  readonly reasons: Readonly<Record<string, number>>;
  readonly unaccounted: readonly {
    readonly event: string;
    readonly receiver: string;
    readonly state: string;
  }[];
  /** Accepted requests that nobody meant: an unknown event, another tenant's, or another body. Must be none. */
  readonly strays: readonly ReceivedRequest[];
  /** True where nothing is unaccounted for or astray. */
  readonly sound: boolean;
}

/** The state of a task, as the queue tells of a single one. */
export type TaskState = { readonly state: string; readonly reason?: string | undefined } | null | undefined;

/** Ids of the events that no receiver accepted: only of these the queue is asked. */
export function notAccepted(events: readonly WebhookEvent[], requests: readonly ReceivedRequest[]): string[] {
  const { accepted } = sort(events, requests);
  return events.map(({ id }) => id).filter((id) => !accepted.has(id));
}

/**
 * Accounts for every event, from what the receivers wrote down.
 * @param states the tasks of the events that {@link notAccepted} names
 * @param killed name of the consumer's run that was killed
 */
export function account(
  events: readonly WebhookEvent[],
  requests: readonly ReceivedRequest[],
  states: ReadonlyMap<string, TaskState>,
  killed?: string,
): Account {
  const { accepted, strays } = sort(events, requests);
  const receivers = new Map<string, Row>();
  const total = emptyRow();
  const reasons: Record<string, number> = {};
  const unaccounted: { event: string; receiver: string; state: string }[] = [];
  let afterCrash = 0;

  for (const { id, tenant } of events) {
    const row = receivers.get(tenant) ?? emptyRow();
    receivers.set(tenant, row);
    const add = (what: keyof Row) => {
      row[what] += 1;
      total[what] += 1;
    };
    add("events");
    const deliveries = accepted.get(id) ?? [];
    const task = states.get(id);
    if (deliveries.length === 1) add("once");
    else if (deliveries.length > 1) {
      add("again");
      if (deliveries.slice(0, -1).some(({ by }) => by === killed)) afterCrash += 1;
    } else if (task?.state === "rejected") {
      add("dead");
      const reason = task.reason ?? "unknown";
      reasons[reason] = (reasons[reason] ?? 0) + 1;
    } else {
      add("unaccounted");
      unaccounted.push({ event: id, receiver: tenant, state: task?.state ?? "not found" });
    }
  }
  const sound = unaccounted.length === 0 && strays.length === 0;
  return { receivers, total, afterCrash, reasons, unaccounted, strays, sound };
}

/** Tells the deliveries that were meant, by event, from those that were not. */
function sort(events: readonly WebhookEvent[], requests: readonly ReceivedRequest[]) {
  const meant = new Map(
    events.map((event) => [
      event.id,
      { receiver: event.tenant, body: digest(JSON.stringify(taskOf(event).body)) },
    ]),
  );
  const accepted = new Map<string, ReceivedRequest[]>();
  const strays: ReceivedRequest[] = [];
  for (const request of requests.filter(isAccepted)) {
    const { receiver, body } = meant.get(request.event) ?? {};
    if (request.receiver !== receiver || request.body !== body) strays.push(request);
    else accepted.set(request.event, [...(accepted.get(request.event) ?? []), request]);
  }
  return { accepted, strays };
}

const emptyRow = (): Row => ({ events: 0, once: 0, again: 0, dead: 0, unaccounted: 0 });
