// The first code of docs/offload.md, so that it is type checked. configurations.test.ts compares it.

declare function render(payload: unknown): Promise<void>;

import { sluice } from "sluice-queue/cloudflare";
import { offload, r2, type R2BucketBinding } from "sluice-queue/offload";

interface Env {
  readonly PAYLOADS: R2BucketBinding;
}

export default sluice<Env>({
  offload: (env) => offload({ store: r2(env.PAYLOADS) }),
  consumers: { reports: (task) => render(task.payload) },
  async fetch(request, { queue }) {
    return Response.json(await queue("reports").enqueue(await request.json()));
  },
});
