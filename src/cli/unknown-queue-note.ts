import type { ListedQueues } from "../client/client.ts";
import type { Session } from "./session.ts";

/** Says if there is no queue of this name: a misspelt one looks like an empty one. */
export async function noteUnknownQueue({ api, out, where }: Session, queue: string): Promise<void> {
  const pages = api.pages<ListedQueues>("/v1/queues", "queues", { size: 1_000 });
  for await (const { queues } of pages) if (queues.some(({ name }) => name === queue)) return;
  out.note(`There is no queue ${queue}, or it is not in use. To list all: sluice queues${where}`);
}
