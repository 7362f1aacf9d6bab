import { noConsumerHere } from "../../log/lines.ts";
import type { Setup } from "../setup.ts";

/** Of how many queues an instance warns: code may make up names. */
const MOST_WARNED = 20;

/**
 * Warns once of each queue that the deployment's own code opens, if others have a consumer here and this one neither
 * has one nor is declared: its name may be misspelt.
 * @returns takes the name of a queue that is opened
 */
export function missingConsumerWarning<Env extends object>({
  consumers,
  declared,
  log,
}: Pick<Setup<Env>, "consumers" | "declared" | "log">): (queue: string) => void {
  const warned = new Set<string>();
  return (queue) => {
    if (consumers.size === 0 || consumers.has(queue) || declared.named(queue)) return;
    if (warned.has(queue) || warned.size >= MOST_WARNED) return;
    warned.add(queue);
    log(noConsumerHere(queue, [...consumers.keys()]));
  };
}
