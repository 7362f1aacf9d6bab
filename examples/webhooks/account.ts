import { isAccepted, type ReceivedRequest } from "./deliveries.ts";
import { digest, taskOf, type WebhookEvent } from "./events.ts";

/** Counts of the events of one receiver, or of all. Each event is in exactly one of the last four counts. */
export interface Row {
  events: number;
  /** Accepted once by its receiver. */
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
  /** Events accepted again that the killed run had delivered before. The others timed out. */
  readonly afterCrash: number;
  /** Dead letters by reason. */
  readonly reasons: Readonly<Record<string, number>>;
  readonly unaccounted: readonly {
    readonly event: string;
    readonly receiver: string;
    readonly state: string;
  }[];
  /** Accepted requests that were never sent: an unknown event, another tenant's event, or another body. Must be none. */
  readonly unexpected: readonly ReceivedRequest[];
  /** True if every event is accounted for and no request was unexpected. */
  readonly complete: boolean;
}

/** The state of a task from the queue. */
export type TaskState = { readonly state: string; readonly reason?: string | undefined } | null | undefined;

/** Ids of the events that no receiver accepted. Only for these the queue is asked. */
export function notAccepted(events: readonly WebhookEvent[], requests: readonly ReceivedRequest[]): string[] {
  const { accepted } = sort(events, requests);
  return events.map(({ id }) => id).filter((id) => !accepted.has(id));
}

/**
 * Accounts for every event by the requests that the receivers recorded.
 * @param states the tasks of the events that {@link notAccepted} names
 * @param killed name of the consumer's run that was killed
 */
export function account(
  events: readonly WebhookEvent[],
  requests: readonly ReceivedRequest[],
  states: ReadonlyMap<string, TaskState>,
  killed?: string,
): Account {
  const { accepted, unexpected } = sort(events, requests);
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
  const complete = unaccounted.length === 0 && unexpected.length === 0;
  return { receivers, total, afterCrash, reasons, unaccounted, unexpected, complete };
}

/** Sorts accepted requests into expected ones, by event, and unexpected ones. */
function sort(events: readonly WebhookEvent[], requests: readonly ReceivedRequest[]) {
  const meant = new Map(
    events.map((event) => [
      event.id,
      { receiver: event.tenant, body: digest(JSON.stringify(taskOf(event).body)) },
    ]),
  );
  const accepted = new Map<string, ReceivedRequest[]>();
  const unexpected: ReceivedRequest[] = [];
  for (const request of requests.filter(isAccepted)) {
    const { receiver, body } = meant.get(request.event) ?? {};
    if (request.receiver !== receiver || request.body !== body) unexpected.push(request);
    else accepted.set(request.event, [...(accepted.get(request.event) ?? []), request]);
  }
  return { accepted, unexpected };
}

const emptyRow = (): Row => ({ events: 0, once: 0, again: 0, dead: 0, unaccounted: 0 });
