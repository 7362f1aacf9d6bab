export { reportExpiredTasks } from "./expired.ts";
export { reportDeadLetters } from "./layer.ts";
