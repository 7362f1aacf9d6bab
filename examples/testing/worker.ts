export { default } from "../cloudflare/worker.ts";
