import { serverQuickStart } from "../process/quick-start.ts";

serverQuickStart({
  runtime: "node",
  main: "server.ts",
  configuration: ["Dockerfile"],
  remote: /^(npm (init|install)|docker )/,
});
