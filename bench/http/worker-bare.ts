import { upstash } from "../../src/transports/upstash.ts";
import { bare } from "./apps.ts";

let app: ReturnType<typeof bare> | undefined;

export default {
  fetch(request: Request, env: Readonly<Record<string, string>>) {
    const { UPSTASH_REDIS_REST_URL: url = "", UPSTASH_REDIS_REST_TOKEN: token = "" } = env;
    app ??= bare(upstash({ url, token }));
    return app.fetch(request);
  },
};
