export { wake, wakeForAdds } from "./layer.ts";
export { publishing, pubSubWaker, type PubSubWakerOptions, wakeChannel } from "./pub-sub-waker.ts";
export { hearWakes } from "./hear-wakes.ts";
export { CheckedWaker, type HandOver, type Waker } from "./waker.ts";
export { WakeVerifier } from "./wake-verifier.ts";
export { WAKE, type WebhookWakerOptions, webhookWaker } from "./webhook-waker.ts";
