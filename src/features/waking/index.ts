export { wake, wakeForAdds } from "./layer.ts";
export { CheckedWaker, type Waker } from "./waker.ts";
export { WakeVerifier } from "./wake-verifier.ts";
export { WAKE, type WebhookWakerOptions, webhookWaker } from "./webhook-waker.ts";
