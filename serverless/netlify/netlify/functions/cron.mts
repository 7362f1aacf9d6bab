import { service } from "./sluice.mts";

export default service.cron;
export const config = { schedule: "* * * * *" };
