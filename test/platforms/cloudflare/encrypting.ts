import { sluice } from "../../../serverless/cloudflare.ts";
import { encrypting } from "../encrypting-deployment.ts";

export default sluice(encrypting);
