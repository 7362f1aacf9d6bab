import { sharesEncryptionWithNode } from "../encryption.ts";
import { startProject } from "./project.ts";

sharesEncryptionWithNode((env) =>
  startProject({
    configuration: "serverless/vercel/vercel.json",
    entry: "test/platforms/vercel/encrypting.ts",
    runtime: "edge",
    env,
  }),
);
