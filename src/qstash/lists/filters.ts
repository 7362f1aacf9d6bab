import { badRequest } from "../failure.ts";
import type { Message } from "../message.ts";
import { readWhole } from "../durations.ts";

/** What filters look at. */
export interface Filtered {
  readonly message: Message;
  /** When it was published, epoch ms. */
  readonly createdAt: number;
  readonly messageId: string;
}

/** A value that a filter compares, of a message that has it. */
type Values = (of: Filtered) => readonly (string | undefined)[];

const FILTERS: Readonly<Record<string, Values>> = {
  messageId: ({ messageId }) => [messageId],
  url: ({ message }) => [message.url],
  host: ({ message: { url } }) => [URL.canParse(url) ? new URL(url).host : undefined],
  path: ({ message: { url } }) => [URL.canParse(url) ? new URL(url).pathname : undefined],
  topicName: ({ message }) => [message.topicName],
  scheduleId: ({ message }) => [message.scheduleId],
  queueName: ({ message }) => [message.queueName],
  callerIp: ({ message }) => [message.callerIp],
  callerIP: ({ message }) => [message.callerIp],
  label: ({ message }) => message.labels ?? [],
  flowControlKey: ({ message }) => [message.flowControl?.key],
};

/**
 * The values of a name in a query, which comes several times, or has its values separated by commas. Those of URLs and
 * paths may contain commas.
 */
export const valuesIn = (query: URLSearchParams, name: string): string[] =>
  query.getAll(name).flatMap((text) => (/^(?:url|path)$/.test(name) ? text : text.split(",")));

/** What the query of a list or of a bulk action selects. */
export interface Selection {
  /** Whether a message matches all filters; of one filter, one value is enough. */
  readonly matches: (of: Filtered) => boolean;
}

/**
 * Reads the filters of a query.
 * @param more names of the query that are no filters
 * @throws {Failure} 400 for a name that is none, so that nothing is cancelled or deleted that was not meant
 */
export function readFilters(query: URLSearchParams, more: readonly string[]): Selection {
  const conditions: ((of: Filtered) => boolean)[] = [];
  for (const name of new Set(query.keys())) {
    const given = valuesIn(query, name);
    if (name === "fromDate" || name === "toDate") {
      const at = readWhole(given[0] ?? "", name);
      conditions.push(({ createdAt }) => (name === "fromDate" ? createdAt >= at : createdAt <= at));
    } else if (Object.hasOwn(FILTERS, name)) {
      const valuesOf = FILTERS[name] as Values;
      conditions.push((of) => valuesOf(of).some((value) => value !== undefined && given.includes(value)));
    } else if (!more.includes(name)) {
      throw badRequest(`the filter ${name} is not supported by this server`);
    }
  }
  return { matches: (of) => conditions.every((condition) => condition(of)) };
}
