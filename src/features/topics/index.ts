/** Topics: messages of which each subscribed queue gets a copy. */
export { conditionsOf, type HeaderFilter, passes, type TopicFilter } from "./filter.ts";
export { topicsKey } from "./keys.ts";
export { topicName, topicPattern } from "./names.ts";
export {
  beginReplay,
  continueReplay,
  isAbandoned,
  newReplay,
  type Replayed,
  type ReplayMeans,
} from "./replay.ts";
export { type Message, writeMessage } from "./retained.ts";
export {
  changeSubscriptions,
  fetchTopics,
  knownTopics,
  matchingIn,
  noteRetention,
  noteTopics,
  rememberRetention,
  retainCommand,
  timeOf,
  type TopicsRef,
  versionCall,
} from "./stored.ts";
export {
  pairOf,
  readPair,
  type Retention,
  type StoredRetention,
  type Subscription,
  subscribersOf,
  writeSubscription,
} from "./subscription.ts";
export { topicsPart } from "./sweep-part.ts";
