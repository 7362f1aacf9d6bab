import { sharesEncryptionWithNode } from "../encryption.ts";
import { startFunction } from "./function.ts";

sharesEncryptionWithNode((env) =>
  startFunction({
    configuration: "serverless/vercel/vercel.json",
    entry: "test/platforms/vercel/encrypting.ts",
    runtime: "edge",
    env,
  }),
);
