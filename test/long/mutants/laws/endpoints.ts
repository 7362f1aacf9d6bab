import { change, drop, type LawMutants, never } from "../mutant.ts";

export const endpoints: LawMutants = {
  "a late copy adds an endpoint that was removed": {
    in: "put-endpoint",
    lua: never("was ~= version"),
    breaks: "law 5: an endpoint that was removed gets events again",
  },
  "two calls change an endpoint, and one of them is lost": {
    in: "put-endpoint",
    lua: change("int(tonumber(was) + 1)", "int(tonumber(was))"),
    breaks: "I3: a call that has read an old record overwrites a new one",
  },
  "a group is taken to have settings of a later change": {
    in: "note-applied",
    lua: change("state.changed == items[2 * i]", "state.changed ~= nil"),
    breaks: "law 10: the group of an endpoint keeps old settings for ever",
  },
  "a copy of a report counts again": {
    in: "report-deliveries",
    lua: change("is_enabled and not earlier", "is_enabled"),
    breaks: "law 5: a resend opens a circuit",
  },
  "a report is forgotten after the next one": {
    lua: change("count > REMEMBERED", "count > 1"),
    breaks: "law 5: a resend after another report opens a circuit",
  },
  "a circuit shortens the pause of an operator": {
    in: "configure",
    lua: never("(tonumber(was.paused) or 0) > tonumber(value)"),
    breaks: "limits: a group gets tasks while an operator has paused it",
  },
  "an end of a delivery that began before closes a circuit": {
    in: "report-deliveries",
    lua: change("is_open and now < tonumber(state['until'])", "false"),
    breaks: "law 11: a dead endpoint takes the consumers of the others",
  },
  "a success does not end the days of failures": {
    in: "report-deliveries",
    lua: drop("state.failing_since = ''"),
    breaks: "law 10: an endpoint is disabled that works",
  },
};
