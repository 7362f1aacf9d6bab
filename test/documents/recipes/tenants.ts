import { defineQueue, Operator, type Transport } from "sluice-queue";
import { sluice } from "sluice-queue/cloudflare";

type Env = { RENDER_URL: string };

export const thumbnails = defineQueue<{ image: string }>("thumbnails", { timeout: "10s", maxWorking: 20 });

const render = thumbnails.consumer(async ({ payload, signal }, env: Env) => {
  const url = `${env.RENDER_URL}?image=${encodeURIComponent(payload.image)}`;
  const rendered = await fetch(url, { method: "POST", signal });
  if (!rendered.ok) throw new Error(`HTTP ${rendered.status}`);
});

export default sluice<Env>({
  consumers: [render],

  // The group is the tenant. All tenants with tasks take turns.
  async fetch(request, { queue }) {
    const { tenant, image } = (await request.json()) as { tenant: string; image: string };
    return Response.json(await queue(thumbnails).enqueue({ image }, { group: tenant }));
  },
});

/** A tenant who pays more gets three turns while another one gets one. A trial is limited. */
export async function setPlan(transport: Transport, tenant: string, plan: "trial" | "standard" | "large") {
  const operator = new Operator(thumbnails, { transport });
  await operator.configureGroup(tenant, {
    weight: plan === "large" ? 3 : null,
    maxWorking: plan === "trial" ? 2 : null,
    rate: plan === "trial" ? { most: 100, per: "1h" } : null,
  });
}
