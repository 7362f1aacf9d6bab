import { sluice } from "../../../serverless/cloudflare.ts";
import { alerts, type AlertEnv } from "../alerting-deployment.ts";

export default sluice<AlertEnv>({ alerts });
