import { serverQuickStart } from "../process/quick-start.ts";

serverQuickStart({
  runtime: "bun",
  main: "server.ts",
  configuration: ["Dockerfile"],
  remote: /^(bun (init|add)|docker )/,
});
