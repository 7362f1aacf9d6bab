import { sluice } from "../../../serverless/vercel.ts";
import { longWork } from "../long-work-deployment.ts";

export const { GET, POST } = sluice(longWork);
