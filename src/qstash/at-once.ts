import { gather } from "../kernel/gather.ts";
import type { Open } from "../open/opening.ts";
import { messages } from "./message.ts";
import type { Stored } from "./session.ts";

/**
 * Runs a call for each item. What they send is one request.
 * @param call takes what opens its queues
 * @throws what the first call that failed has thrown
 */
export async function atOnce<Item, Result>(
  { open }: Stored,
  items: readonly Item[],
  call: (open: Open, item: Item) => Promise<Result>,
): Promise<Result[]> {
  const { transport } = open(messages).options;
  const calls = items.map((item) => {
    return (own: typeof transport) => call((queue, given) => open(queue, { ...given, transport: own }), item);
  });
  const settled = await gather(transport, calls);
  return settled.map((one) => {
    if (one.status === "rejected") throw one.reason;
    return one.value;
  });
}
