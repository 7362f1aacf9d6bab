import { serverPlatform } from "../process/server.ts";

serverPlatform({
  runtime: "bun",
  main: "server.ts",
  configuration: "Dockerfile",
  remote: /^(bun (init|add)|docker )/,
});
