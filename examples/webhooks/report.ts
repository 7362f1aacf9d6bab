import type { Account, Row } from "./account.ts";
import { behaviourWords, tenants } from "./endpoints.ts";

/** What the gateway counted, as Upstash would bill it. */
export interface Usage {
  readonly requests: number;
  readonly commands: number;
  readonly dollars: number;
}

const number = (value: number) => value.toLocaleString("en-US");
const columns = ["events", "once", "again", "dead", "unaccounted"] as const satisfies (keyof Row)[];

/** The closing table. */
export function report({ receivers, total, afterCrash, reasons, unaccounted, strays }: Account): string {
  const line = (name: string, row: Row, words = "") => {
    const cells = columns.map((column) => number(row[column]).padStart(column.length + 4));
    return `  ${name.padEnd(18)}${cells.join("")}   ${words}`.trimEnd();
  };
  const rule = `  ${"─".repeat(18 + columns.reduce((sum, column) => sum + column.length + 4, 0))}`;
  const kinds = Object.entries(reasons).map(([reason, count]) => `${number(count)} ${reason}`);
  return [
    "What the receivers wrote down:",
    "",
    `  ${"".padEnd(18)}${columns.map((column) => column.padStart(column.length + 4)).join("")}`,
    ...tenants.flatMap(({ name, behaviour }) => {
      const row = receivers.get(name);
      return row ? [line(name, row, behaviourWords[behaviour])] : [];
    }),
    rule,
    line("all", total),
    "",
    `  delivered again: ${number(afterCrash)} by the run that was killed before it settled them, ` +
      `${number(total.again - afterCrash)} after a time-out`,
    `  dead letters: ${kinds.join(", ") || "none"}`,
    ...unaccounted.map(({ event, receiver, state }) => `  UNACCOUNTED ${event} for ${receiver}: ${state}`),
    ...strays.map(({ event, receiver }) => `  ASTRAY ${event}, accepted by ${receiver}`),
  ].join("\n");
}

/** What it would have cost. */
export function bill({ requests, commands, dollars }: Usage, events: number, looks: number): string {
  return [
    `On Upstash: ${number(requests)} requests, ${number(commands)} billed commands, $${dollars.toFixed(4)};`,
    `${(commands / events).toFixed(2)} commands an event, with all retries, cron and ${number(looks)} looks of this view.`,
  ].join("\n  ");
}
