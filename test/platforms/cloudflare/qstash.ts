import type { Environment } from "../../../src/config.ts";
import { order } from "../../../src/open/order/index.ts";
import { qstash } from "../../../src/qstash/index.ts";
import { sluice } from "../../../serverless/cloudflare.ts";

interface Env extends Environment {
  readonly QSTASH_TOKEN: string;
  readonly QSTASH_CURRENT_SIGNING_KEY: string;
  readonly QSTASH_NEXT_SIGNING_KEY: string;
}

/** A Worker in place of QStash. */
export default sluice<Env>({
  order,
  qstash: qstash((env: Env) => ({
    token: env.QSTASH_TOKEN,
    signingKeys: [env.QSTASH_CURRENT_SIGNING_KEY, env.QSTASH_NEXT_SIGNING_KEY],
    allow: ["127.0.0.1"],
    allowPrivate: ["127.0.0.1"],
  })),
});
