import { sluice } from "../../../serverless/cloudflare.ts";
import { longWork } from "../long-work-deployment.ts";

export default sluice(longWork);
