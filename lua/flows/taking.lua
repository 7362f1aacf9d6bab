-- taking: a call that settles and dequeues takes the tasks, too, that it has released.

-- What was taken off the list before the settle does not have them.
dequeue_in_full = (function(inner)
  return function(keys, call, popped, ahead, reads)
    if popped and keys.has_released and #popped < call.max then
      for _, id in ipairs(redis.call('RPOP', keys.pending, int(call.max - #popped)) or {}) do
        popped[#popped + 1] = id
      end
    end
    return inner(keys, call, popped, ahead, reads)
  end
end)(dequeue_in_full)
