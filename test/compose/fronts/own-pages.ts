import type { ServiceOptions } from "../../../serverless/deployment/service.ts";
import { defineQueue, type NewTask } from "../../../src/index.ts";
import { QUEUE } from "../../support/rig.ts";
import { addTo, type Counts, type Created, type Front, type Given, type Seen } from "../front.ts";

const ORIGIN = "https://deployment.test";

/** The options of a deployment whose own `fetch` uses the queue, and whose consumer handles its tasks. */
export function deploymentOf({ declaration, handler, concurrency, tracing }: Given): ServiceOptions {
  const declared = defineQueue(QUEUE, declaration);
  return {
    tracing,
    consumers: [declared.consumer((task) => handler(task), { concurrency })],
    async fetch(request, { queue }) {
      const { pathname } = new URL(request.url);
      const emails = queue(declared);
      if (pathname === "/own/add")
        return Response.json(await addTo(emails, (await request.json()) as NewTask<unknown>[]));
      if (pathname === "/own/get") return Response.json(await emails.get(await request.text()));
      if (pathname === "/own/counts") return Response.json(await emails.counts());
      return undefined;
    },
  };
}

/** Uses the queue by requests to such a deployment. */
export function ownPages(
  fetch: (request: Request) => Promise<Response>,
): Pick<Front, "add" | "get" | "counts"> {
  const post = async <T>(page: string, body: string): Promise<T> => {
    const response = await fetch(new Request(`${ORIGIN}/own/${page}`, { method: "POST", body }));
    if (response.status !== 200) throw new Error(`${page}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  };
  return {
    add: (tasks) => post<Created[]>("add", JSON.stringify(tasks)),
    get: (id) => post<Seen | null>("get", id),
    counts: () => post<Counts>("counts", "-"),
  };
}
