import { serve } from "sluice-queue/bun";

const { url } = await serve();
console.log(`Sluice answers at ${url}`);
