export { handler } from "sluice-queue/lambda";
