import { sluice } from "../../../serverless/cloudflare.ts";
import { deliver, type PushEnv } from "../pushing-deployment.ts";

export default sluice<PushEnv>({ consumers: [deliver] });
