import { welcome } from "./welcome.mts";

export default welcome.cron;
export const config = { schedule: "* * * * *" };
