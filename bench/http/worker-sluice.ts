export { default } from "../../serverless/cloudflare.ts";
