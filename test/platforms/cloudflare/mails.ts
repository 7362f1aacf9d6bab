import type { Environment } from "../../../src/config.ts";
import { sluice } from "../../../serverless/cloudflare.ts";

/** A Worker of the free plan, whose handlers send one request each. */
export default sluice<Environment & { MAIL_URL: string }>({
  consumers: {
    emails: async ({ id }, { MAIL_URL }) => {
      const response = await fetch(MAIL_URL, { method: "POST", body: JSON.stringify({ to: id }) });
      await response.body?.cancel();
    },
  },
});
