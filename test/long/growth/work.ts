/** What the processes of test/long/growth have in common. */

export const QUEUE = "growth";

/** Tasks of one dequeue. */
export const BATCH = 200;

/** Its JSON has about 200 bytes. */
export interface GrowthPayload {
  readonly n: number;
  readonly text: string;
}

export const consumerFile = (number: number) => `consumer-${number}.txt`;

/** The task with a number. One in a hundred has an id of the caller's, and one a group. */
export function taskOf(n: number) {
  const payload: GrowthPayload = { n, text: "x".repeat(180 - String(n).length) };
  if (n % 100 === 1) return { payload, id: `order-${n}` };
  if (n % 100 === 2) return { payload, group: `g${n % 7}` };
  return { payload };
}
