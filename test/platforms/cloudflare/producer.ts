import { sluice } from "../../../serverless/cloudflare.ts";

export default sluice();
