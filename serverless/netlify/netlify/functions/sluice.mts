import { sluice } from "sluice-queue/netlify";

export const service = sluice();

export default service.fetch;
export const config = { path: "/*" };
