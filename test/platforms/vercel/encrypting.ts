import { sluice } from "../../../serverless/vercel.ts";
import { encrypting } from "../encrypting-deployment.ts";

export const { GET, HEAD, OPTIONS, POST, PUT, PATCH, DELETE } = sluice(encrypting);
