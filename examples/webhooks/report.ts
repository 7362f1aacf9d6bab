import type { Account, Row } from "./account.ts";
import { behaviourWords, tenants } from "./endpoints.ts";

/** The counts of the gateway, as Upstash would bill them. */
export interface Usage {
  readonly requests: number;
  readonly commands: number;
  readonly dollars: number;
}

const number = (value: number) => value.toLocaleString("en-US");
const nameWidth = Math.max(...tenants.map(({ name }) => name.length));
const columns = ["events", "once", "again", "dead", "unaccounted"] as const satisfies (keyof Row)[];

/** The closing table, for 80 columns. */
export function report({ receivers, total, afterCrash, reasons, unaccounted, unexpected }: Account): string {
  const inRow = (name: string, cell: (column: (typeof columns)[number]) => string) =>
    `  ${name.padEnd(nameWidth)}${columns.map((column) => cell(column).padStart(column.length + 2)).join("")}`;
  const line = (name: string, row: Row, words = "") =>
    `${inRow(name, (column) => number(row[column]))}  ${words}`.trimEnd();
  const head = inRow("", (column) => column);
  const kinds = Object.entries(reasons).map(([reason, count]) => `${number(count)} ${reason}`);
  return [
    "What the receivers wrote down:",
    "",
    head,
    ...tenants.flatMap(({ name, behaviour }) => {
      const row = receivers.get(name);
      return row ? [line(name, row, behaviourWords[behaviour])] : [];
    }),
    `  ${"─".repeat(head.length - 2)}`,
    line("all", total),
    "",
    `  delivered again: ${number(afterCrash)} by the run that was killed before it settled them,`,
    `                   ${number(total.again - afterCrash)} after a time-out`,
    `  dead letters: ${kinds.join(", ") || "none"}`,
    ...unaccounted.map(({ event, receiver, state }) => `  UNACCOUNTED ${event} for ${receiver}: ${state}`),
    ...unexpected.map(({ event, receiver }) => `  UNEXPECTED ${event}, accepted by ${receiver}`),
  ].join("\n");
}

/** The cost on Upstash, without the requests for the table. */
export function bill({ requests, commands, dollars }: Usage, events: number, looks: number): string {
  return [
    `On Upstash: ${number(requests)} requests, ${number(commands)} billed commands, $${dollars.toFixed(4)};`,
    `${(commands / events).toFixed(2)} commands an event, with all retries, cron and ${number(looks)} looks of this view.`,
  ].join("\n  ");
}
