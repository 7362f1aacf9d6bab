import { sluice } from "../../../serverless/cloudflare.ts";
import { operations } from "../../../src/http/operations/index.ts";
import { longWork } from "../long-work-deployment.ts";

export default sluice({ ...longWork, operations });
