import { sluice } from "../../../serverless/cloudflare.ts";
import { operations } from "../../../src/http/operations/index.ts";
import { dueWork } from "../due-deployment.ts";

export { SluiceAlarm } from "../../../serverless/cloudflare.ts";

export default sluice({ ...dueWork, operations });
