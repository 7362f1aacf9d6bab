import { sluice } from "../../../serverless/cloudflare.ts";
import { deployment } from "../deployment.ts";

export default sluice(deployment);
