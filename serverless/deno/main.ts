import { serve } from "sluice-queue/deno";

const { url } = await serve();
console.log(`Sluice answers at ${url}`);
