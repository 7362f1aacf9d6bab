// A search index. A page is indexed when it has not changed for five seconds, but at least once a minute while it is
// saved again and again.
import { defineQueue } from "../../src/index.ts"; // elsewhere: "sluice-queue"
import { sluice } from "../../serverless/cloudflare.ts"; // elsewhere: "sluice-queue/cloudflare"
import { withDebounce } from "../../src/features/debounce/index.ts"; // elsewhere: "sluice-queue/debounce"

interface Env {
  readonly SEARCH_URL: string;
}

export const pages = defineQueue<{ page: string }>("pages", { maxAttempts: 5 });

export default sluice<Env>({
  consumers: [
    pages.consumer(async ({ payload }, env: Env) => {
      // The consumer reads the page as it is now, so the key of the page is enough.
      const response = await fetch(`${env.SEARCH_URL}/index/${payload.page}`, { method: "PUT" });
      if (!response.ok) throw new Error(`HTTP ${response.status}`);
    }),
  ],
  async fetch(request, { queue }) {
    const [, page] = /^\/pages\/(\w+)$/.exec(new URL(request.url).pathname) ?? [];
    if (request.method !== "PUT" || page === undefined) return undefined;
    // Here the page is saved.
    const { outcome } = await withDebounce(queue(pages)).enqueue(
      { page },
      { debounce: { key: page, wait: "5s", maxWait: "1m" } },
    );
    return Response.json({ outcome }, { status: 202 });
  },
});
