import { serverPlatform } from "../process/server.ts";

serverPlatform({
  runtime: "node",
  main: "server.ts",
  configuration: "Dockerfile",
  remote: /^(npm (init|install)|docker )/,
});
