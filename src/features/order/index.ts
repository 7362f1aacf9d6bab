/** Strict order within groups, for operators. The order itself is in the linked edition of the scripts. */
export {
  listStoppedGroups,
  skipDeadLetter,
  type Skipped,
  type StoppedGroup,
  type StoppedGroups,
} from "./stopped-groups.ts";
