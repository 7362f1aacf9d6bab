import { sluice } from "../../../serverless/vercel.ts";
import { deployment } from "../deployment.ts";

export const { GET, HEAD, OPTIONS, POST, PUT, PATCH, DELETE } = sluice(deployment);
