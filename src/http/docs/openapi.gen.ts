// Written by tools/build-openapi.ts; do not edit.
import type { OpenApiDocument } from "./openapi-document.ts";

export const openapi: OpenApiDocument = {
  "openapi": "3.1.1",
  "info": {
    "title": "Sluice",
    "version": "0.1.0",
    "summary": "A reliable work queue over HTTP",
    "description": "Producers enqueue tasks. Consumers pull a batch, work on it, and settle it in one more request.\n\nTimes are epoch milliseconds and their names end in `At`. Numbers are 64-bit floats: send integers beyond 2^53 as strings. Unknown fields and parameters are refused, so that a misspelled one is not ignored. Responses may gain fields.\n\nErrors are problem documents (RFC 9457) with a stable `code`. In addition to those listed with each route, an unknown path returns `no_route`, and an unsupported method returns `method_not_allowed` with `Allow`. Every GET route except the sweep supports HEAD. There are no CORS headers.\n\nThe server's `SLUICE_TOKENS` has the tokens, as JSON: `[{\"sha256\": \"…\", \"scopes\": [\"enqueue\", \"consume\", \"view\", \"admin\"], \"queues\": \"emails-*\"}]`. `admin` includes `view`. If an entry has `\"payloads\": \"hidden\"`, replies to its token have no payload, result, progress or headers of a task.",
    "license": {
      "name": "MIT",
      "identifier": "MIT"
    }
  },
  "servers": [
    {
      "url": "/"
    }
  ],
  "tags": [
    {
      "name": "tasks",
      "description": "Enqueue, pull, settle, follow and cancel tasks."
    },
    {
      "name": "flows",
      "description": "Tasks that wait for each other."
    },
    {
      "name": "topics",
      "description": "Messages of which each queue that has subscribed gets a copy."
    },
    {
      "name": "endpoints",
      "description": "URLs to which events are delivered."
    },
    {
      "name": "queues",
      "description": "List, count, configure, pause and delete queues."
    },
    {
      "name": "workers",
      "description": "Workers and their tasks. Naming a worker in a pull is optional."
    },
    {
      "name": "schedules",
      "description": "Recurring tasks."
    },
    {
      "name": "operation",
      "description": "The sweep, which a cron calls."
    },
    {
      "name": "about",
      "description": "Public routes."
    }
  ],
  "paths": {
    "/v1/queues/{queue}/tasks": {
      "post": {
        "operationId": "enqueue",
        "tags": [
          "tasks"
        ],
        "summary": "Enqueue one task or many",
        "description": "The payload of a task is any JSON value, or bytes in base64. Up to 1,000 tasks can be sent in one request as `tasks`; either all are enqueued or none. With an `id` of your own, or an `Idempotency-Key`, a request can be resent safely while the task is known: until it ends, and then for its `resultTtl` or `deadTtl`, at least 5 minutes. With `unique` it is known for that time from the enqueue on, if that is longer. The same key with other tasks is refused with `idempotency_key_reused` while a task that it created is known. Encrypted payloads are not compared. A task with another `id` of its own is not refused, but created. Scope: enqueue.",
        "security": [
          {
            "token": [
              "enqueue"
            ]
          }
        ],
        "parameters": [
          {
            "$ref": "#/components/parameters/queue"
          },
          {
            "$ref": "#/components/parameters/traceparent"
          },
          {
            "$ref": "#/components/parameters/Idempotency-Key"
          }
        ],
        "requestBody": {
          "required": true,
          "content": {
            "application/json": {
              "schema": {
                "anyOf": [
                  {
                    "$ref": "#/components/schemas/NewTask"
                  },
                  {
                    "$ref": "#/components/schemas/NewTasks"
                  }
                ]
              },
              "examples": {
                "one": {
                  "summary": "one",
                  "value": {
                    "payload": {
                      "to": "a@example.com"
                    },
                    "id": "welcome-17",
                    "headers": {
                      "trace": "4bf92f35"
                    }
                  }
                },
                "many": {
                  "summary": "many",
                  "value": {
                    "tasks": [
                      {
                        "payload": 1
                      },
                      {
                        "payload": 2,
                        "delay": "30s",
                        "lease": "1m",
                        "maxAttempts": 3
                      }
                    ]
                  }
                },
                "in-a-group": {
                  "summary": "in a group",
                  "value": {
                    "payload": {
                      "to": "b@example.com"
                    },
                    "group": "tenant-7",
                    "priority": 5
                  }
                },
                "debounced": {
                  "summary": "debounced",
                  "value": {
                    "payload": {
                      "page": 7
                    },
                    "debounce": {
                      "key": "page-7",
                      "wait": "5s",
                      "maxWait": "1m"
                    }
                  }
                },
                "once-an-hour": {
                  "summary": "once an hour",
                  "value": {
                    "payload": {
                      "report": 7
                    },
                    "dedup": {
                      "key": "report-7",
                      "window": "1h"
                    }
                  }
                },
                "bytes": {
                  "summary": "bytes",
                  "value": {
                    "payload": "AAEC/w==",
                    "encoding": "base64"
                  }
                }
              }
            }
          }
        },
        "responses": {
          "200": {
            "description": "All tasks were already known from another enqueue. Nothing was changed, unless `outcome` says so.",
            "headers": {
              "Location": {
                "$ref": "#/components/headers/Location"
              }
            },
            "content": {
              "application/json": {
                "schema": {
                  "anyOf": [
                    {
                      "$ref": "#/components/schemas/EnqueuedOne"
                    },
                    {
                      "$ref": "#/components/schemas/EnqueuedMany"
                    }
                  ]
                },
                "examples": {
                  "one": {
                    "summary": "one",
                    "value": {
                      "id": "welcome-17",
                      "created": false
                    }
                  },
                  "debounced": {
                    "summary": "debounced",
                    "value": {
                      "id": "0VsJ0dW2kQ8mXyZ31aBc",
                      "created": false,
                      "outcome": "replaced"
                    }
                  }
                }
              }
            }
          },
          "201": {
            "description": "This request, or an earlier copy of it, created at least one task.",
            "headers": {
              "Location": {
                "$ref": "#/components/headers/Location"
              }
            },
            "content": {
              "application/json": {
                "schema": {
                  "anyOf": [
                    {
                      "$ref": "#/components/schemas/EnqueuedOne"
                    },
                    {
                      "$ref": "#/components/schemas/EnqueuedMany"
                    }
                  ]
                },
                "examples": {
                  "one": {
                    "summary": "one",
                    "value": {
                      "id": "welcome-17",
                      "created": true
                    }
                  },
                  "many": {
                    "summary": "many",
                    "value": {
                      "tasks": [
                        {
                          "id": "welcome-17",
                          "created": true
                        },
                        {
                          "id": "0VsJ0dW2kQ8mXyZ31aBc",
                          "created": true
                        }
                      ]
                    }
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/invalid_request-or-invalid_json"
          },
          "401": {
            "$ref": "#/components/responses/unauthorized"
          },
          "403": {
            "$ref": "#/components/responses/forbidden"
          },
          "408": {
            "$ref": "#/components/responses/body_too_slow"
          },
          "409": {
            "$ref": "#/components/responses/idempotency_key_reused"
          },
          "413": {
            "$ref": "#/components/responses/payload_too_large"
          },
          "415": {
            "$ref": "#/components/responses/unsupported_media_type"
          },
          "429": {
            "$ref": "#/components/responses/queue_full"
          },
          "500": {
            "$ref": "#/components/responses/internal"
          },
          "501": {
            "$ref": "#/components/responses/unsupported"
          },
          "502": {
            "$ref": "#/components/responses/redis_unauthorized-or-redis_error-or-unexpected_reply-or-offload_failed"
          },
          "503": {
            "$ref": "#/components/responses/redis_quota-or-redis_not_writable-or-newer_schema-or-auth_not_configured-or-misconfigured"
          },
          "504": {
            "$ref": "#/components/responses/redis_unreachable"
          }
        }
      },
      "get": {
        "operationId": "listTasks",
        "tags": [
          "tasks"
        ],
        "summary": "List, search and peek at the tasks in one state",
        "description": "Pending tasks are in the order of delivery, delayed and working tasks in the order in which they fall due, completed tasks in the order in which their records expire, and dead letters in the order in which they were rejected. With `reverse=true` the last ones come first, also over all partitions. Nothing is leased: `state=pending&size=10&payloads=true` peeks at the next tasks.\n\nWith a filter, one call scans 1,000 tasks. A page can then hold few tasks or none although more follow: continue with `cursor`, percent-encoded. A task that changes its state between pages may appear twice. If pending tasks are pulled between pages, others may be left out. Scope: view.",
        "security": [
          {
            "token": [
              "view"
            ]
          }
        ],
        "parameters": [
          {
            "$ref": "#/components/parameters/queue"
          },
          {
            "name": "state",
            "in": "query",
            "required": true,
            "description": "The state of the tasks.",
            "schema": {
              "enum": [
                "pending",
                "delayed",
                "blocked",
                "working",
                "completed",
                "rejected"
              ],
              "type": "string"
            },
            "example": "rejected"
          },
          {
            "name": "cursor",
            "in": "query",
            "required": false,
            "description": "Where to continue: the `cursor` of the previous page.",
            "schema": {
              "type": "string",
              "minLength": 1
            }
          },
          {
            "name": "size",
            "in": "query",
            "required": false,
            "description": "At most this many tasks per page. Default 100.",
            "schema": {
              "type": "integer",
              "minimum": 1,
              "maximum": 1000
            }
          },
          {
            "name": "payloads",
            "in": "query",
            "required": false,
            "description": "True includes payloads, at most 8 MB in one page. `preview` includes the first 200 characters of each. Default false.",
            "schema": {
              "anyOf": [
                {
                  "type": "boolean"
                },
                {
                  "const": "preview"
                }
              ]
            }
          },
          {
            "name": "reverse",
            "in": "query",
            "required": false,
            "description": "True lists the last ones first: dead letters with the newest first. Default false.",
            "schema": {
              "type": "boolean"
            }
          },
          {
            "name": "text",
            "in": "query",
            "required": false,
            "description": "Text that the last error, or the result, contains. Of a task without an error, and of one whose last lease expired, also the text of its reason.",
            "schema": {
              "type": "string",
              "minLength": 1,
              "maxLength": 1000
            },
            "example": "503"
          },
          {
            "name": "group",
            "in": "query",
            "required": false,
            "description": "Tasks of this group.",
            "schema": {
              "type": "string",
              "pattern": "^[A-Za-z0-9][!-~]{0,127}$"
            }
          },
          {
            "name": "reason",
            "in": "query",
            "required": false,
            "description": "The reason for which they were rejected, or several of which one must match. `cancelled` cannot be one of several: cancelled tasks are no dead letters.",
            "schema": {
              "type": "string",
              "pattern": "^(?:cancelled|(?:rejected|attempts_exhausted|lease_expired|taken_back|dependency_failed)(?:,(?:rejected|attempts_exhausted|lease_expired|taken_back|dependency_failed))*)$"
            }
          },
          {
            "name": "endedSince",
            "in": "query",
            "required": false,
            "description": "Ended at this time or later, epoch ms.",
            "schema": {
              "anyOf": [
                {
                  "type": "integer",
                  "minimum": 0,
                  "maximum": 999999999
                },
                {
                  "type": "integer",
                  "minimum": 10000000000,
                  "maximum": 8640000000000000
                }
              ]
            }
          },
          {
            "name": "endedUntil",
            "in": "query",
            "required": false,
            "description": "Ended before this time, epoch ms.",
            "schema": {
              "anyOf": [
                {
                  "type": "integer",
                  "minimum": 0,
                  "maximum": 999999999
                },
                {
                  "type": "integer",
                  "minimum": 10000000000,
                  "maximum": 8640000000000000
                }
              ]
            }
          },
          {
            "name": "enqueuedSince",
            "in": "query",
            "required": false,
            "description": "Enqueued at this time or later, epoch ms.",
            "schema": {
              "anyOf": [
                {
                  "type": "integer",
                  "minimum": 0,
                  "maximum": 999999999
                },
                {
                  "type": "integer",
                  "minimum": 10000000000,
                  "maximum": 8640000000000000
                }
              ]
            }
          },
          {
            "name": "enqueuedUntil",
            "in": "query",
            "required": false,
            "description": "Enqueued before this time, epoch ms.",
            "schema": {
              "anyOf": [
                {
                  "type": "integer",
                  "minimum": 0,
                  "maximum": 999999999
                },
                {
                  "type": "integer",
                  "minimum": 10000000000,
                  "maximum": 8640000000000000
                }
              ]
            }
          }
        ],
        "responses": {
          "200": {
            "description": "A page of tasks.",
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/ListedTasks"
                },
                "examples": {
                  "a-dead-letter": {
                    "summary": "a dead letter",
                    "value": {
                      "tasks": [
                        {
                          "id": "welcome-17",
                          "queue": "emails",
                          "state": "rejected",
                          "reason": "attempts_exhausted",
                          "attempt": 5,
                          "charged": 5,
                          "lease": 42,
                          "requeues": 3,
                          "version": 11,
                          "transitions": [
                            {
                              "version": 11,
                              "to": "rejected",
                              "at": 1792800060000
                            }
                          ],
                          "errors": [
                            {
                              "attempt": 4,
                              "at": 1792800040000,
                              "error": null
                            },
                            {
                              "attempt": 5,
                              "at": 1792800060000,
                              "error": "503 from the receiver"
                            }
                          ],
                          "enqueuedAt": 1792800000000,
                          "dequeuedAt": 1792800059000,
                          "endedAt": 1792800060000,
                          "error": "503 from the receiver",
                          "payload": {
                            "to": "a@example.com"
                          }
                        }
                      ],
                      "cursor": null,
                      "unreadable": 0
                    }
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/invalid_request"
          },
          "401": {
            "$ref": "#/components/responses/unauthorized"
          },
          "403": {
            "$ref": "#/components/responses/forbidden"
          },
          "500": {
            "$ref": "#/components/responses/internal"
          },
          "502": {
            "$ref": "#/components/responses/redis_unauthorized-or-redis_error-or-unexpected_reply"
          },
          "503": {
            "$ref": "#/components/responses/redis_quota-or-redis_not_writable-or-newer_schema-or-auth_not_configured-or-misconfigured"
          },
          "504": {
            "$ref": "#/components/responses/redis_unreachable"
          }
        }
      }
    },
    "/v1/queues/{queue}/keys/{key}": {
      "delete": {
        "operationId": "forgetKey",
        "tags": [
          "tasks"
        ],
        "summary": "Forget a key",
        "description": "Forgets a key of `debounce`, `throttle` and `singleton`: the next enqueue with it is as the first. Tasks stay as they are. Scope: enqueue.",
        "security": [
          {
            "token": [
              "enqueue"
            ]
          }
        ],
        "parameters": [
          {
            "$ref": "#/components/parameters/queue"
          },
          {
            "$ref": "#/components/parameters/key"
          },
          {
            "$ref": "#/components/parameters/Idempotency-Key"
          }
        ],
        "responses": {
          "200": {
            "description": "The key is not known any more.",
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/KeyForgotten"
                },
                "examples": {
                  "known": {
                    "summary": "known",
                    "value": {
                      "key": "page-7",
                      "known": true
                    }
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/invalid_request"
          },
          "401": {
            "$ref": "#/components/responses/unauthorized"
          },
          "403": {
            "$ref": "#/components/responses/forbidden"
          },
          "500": {
            "$ref": "#/components/responses/internal"
          },
          "501": {
            "$ref": "#/components/responses/unsupported"
          },
          "502": {
            "$ref": "#/components/responses/redis_unauthorized-or-redis_error-or-unexpected_reply"
          },
          "503": {
            "$ref": "#/components/responses/redis_quota-or-redis_not_writable-or-newer_schema-or-auth_not_configured-or-misconfigured"
          },
          "504": {
            "$ref": "#/components/responses/redis_unreachable"
          }
        }
      }
    },
    "/v1/queues/{queue}/tasks/pull": {
      "post": {
        "operationId": "pull",
        "tags": [
          "tasks"
        ],
        "summary": "Pull a batch",
        "description": "Leases up to `max` tasks to the caller, the oldest first. Responds at once, with no tasks if none is pending. Due delayed tasks and expired leases count as pending. Settle each task with its receipt before `deadlineAt`. With a `token` of your own, or an `Idempotency-Key`, a pull whose response was lost can be sent again and gets the same tasks. Without either, a resend is a new request. Make a new token for each pull: with an old one the pull gets the old response, and a pull that found nothing stays empty. Scope: consume.",
        "security": [
          {
            "token": [
              "consume"
            ]
          }
        ],
        "parameters": [
          {
            "$ref": "#/components/parameters/queue"
          },
          {
            "$ref": "#/components/parameters/Idempotency-Key"
          }
        ],
        "requestBody": {
          "required": false,
          "content": {
            "application/json": {
              "schema": {
                "$ref": "#/components/schemas/Pull"
              },
              "examples": {
                "batch": {
                  "summary": "batch",
                  "value": {
                    "max": 10,
                    "lease": "1m"
                  }
                },
                "as-a-worker": {
                  "summary": "as a worker",
                  "value": {
                    "max": 10,
                    "worker": {
                      "name": "mailer-1",
                      "incarnation": "0VsJ0dW2",
                      "node": "fra1",
                      "pid": 4711,
                      "silentAfter": "2m"
                    }
                  }
                }
              }
            }
          }
        },
        "responses": {
          "200": {
            "description": "The leased tasks, or none.",
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/Pulled"
                },
                "examples": {
                  "some": {
                    "summary": "some",
                    "value": {
                      "tasks": [
                        {
                          "id": "welcome-17",
                          "receipt": "1.1.42.q7XnRk2ZtB0aVd9L.welcome-17",
                          "payload": {
                            "to": "a@example.com"
                          },
                          "attempt": 1,
                          "enqueuedAt": 1792800000000,
                          "deadlineAt": 1792800060000,
                          "leasedFor": 60000,
                          "headers": {
                            "trace": "4bf92f35"
                          }
                        }
                      ],
                      "nextDueAt": null,
                      "paused": false
                    }
                  },
                  "none": {
                    "summary": "none",
                    "value": {
                      "tasks": [],
                      "nextDueAt": 1792800030000,
                      "paused": false
                    }
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/invalid_request-or-invalid_json"
          },
          "401": {
            "$ref": "#/components/responses/unauthorized"
          },
          "403": {
            "$ref": "#/components/responses/forbidden"
          },
          "408": {
            "$ref": "#/components/responses/body_too_slow"
          },
          "413": {
            "$ref": "#/components/responses/payload_too_large"
          },
          "415": {
            "$ref": "#/components/responses/unsupported_media_type"
          },
          "500": {
            "$ref": "#/components/responses/internal"
          },
          "502": {
            "$ref": "#/components/responses/redis_unauthorized-or-redis_error-or-unexpected_reply"
          },
          "503": {
            "$ref": "#/components/responses/redis_quota-or-redis_not_writable-or-newer_schema-or-auth_not_configured-or-misconfigured"
          },
          "504": {
            "$ref": "#/components/responses/redis_unreachable"
          }
        }
      }
    },
    "/v1/queues/{queue}/tasks/settle": {
      "post": {
        "operationId": "settle",
        "tags": [
          "tasks"
        ],
        "summary": "Complete, reject, requeue or extend",
        "description": "Settles up to 1,000 tasks, each with its own outcome. The response has one result per settlement, in the same order. A lost lease does not affect the others. With `pull`, the response also has the next batch. Scope: consume.",
        "security": [
          {
            "token": [
              "consume"
            ]
          }
        ],
        "parameters": [
          {
            "$ref": "#/components/parameters/queue"
          },
          {
            "$ref": "#/components/parameters/Idempotency-Key"
          }
        ],
        "requestBody": {
          "required": true,
          "content": {
            "application/json": {
              "schema": {
                "$ref": "#/components/schemas/Settle"
              },
              "examples": {
                "mixed": {
                  "summary": "mixed",
                  "value": {
                    "settlements": [
                      {
                        "receipt": "1.1.42.q7XnRk2ZtB0aVd9L.welcome-17",
                        "outcome": "complete",
                        "result": {
                          "ok": true
                        }
                      },
                      {
                        "receipt": "1.2.43.q7XnRk2ZtB0aVd9L.b",
                        "outcome": "requeue",
                        "delay": "30s",
                        "error": "503 from the receiver"
                      },
                      {
                        "receipt": "1.1.44.q7XnRk2ZtB0aVd9L.c",
                        "outcome": "reject",
                        "error": "no such address"
                      },
                      {
                        "receipt": "1.1.45.q7XnRk2ZtB0aVd9L.d",
                        "outcome": "extend",
                        "lease": "2m",
                        "progress": {
                          "sent": 40
                        }
                      },
                      {
                        "receipt": "1.1.46.q7XnRk2ZtB0aVd9L.e",
                        "outcome": "requeue",
                        "unstarted": true
                      }
                    ],
                    "pull": {
                      "max": 10
                    }
                  }
                }
              }
            }
          }
        },
        "responses": {
          "200": {
            "description": "One result per settlement.",
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/Settled"
                },
                "examples": {
                  "mixed": {
                    "summary": "mixed",
                    "value": {
                      "results": [
                        {
                          "receipt": "1.1.42.q7XnRk2ZtB0aVd9L.welcome-17",
                          "ok": true,
                          "state": "completed"
                        },
                        {
                          "receipt": "1.2.43.q7XnRk2ZtB0aVd9L.b",
                          "ok": false,
                          "code": "lease_lost"
                        }
                      ],
                      "pull": {
                        "tasks": [
                          {
                            "id": "welcome-17",
                            "receipt": "1.1.42.q7XnRk2ZtB0aVd9L.welcome-17",
                            "payload": {
                              "to": "a@example.com"
                            },
                            "attempt": 1,
                            "enqueuedAt": 1792800000000,
                            "deadlineAt": 1792800060000,
                            "leasedFor": 60000,
                            "headers": {
                              "trace": "4bf92f35"
                            }
                          }
                        ],
                        "nextDueAt": null,
                        "paused": false
                      }
                    }
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/invalid_request-or-invalid_json"
          },
          "401": {
            "$ref": "#/components/responses/unauthorized"
          },
          "403": {
            "$ref": "#/components/responses/forbidden"
          },
          "408": {
            "$ref": "#/components/responses/body_too_slow"
          },
          "413": {
            "$ref": "#/components/responses/payload_too_large"
          },
          "415": {
            "$ref": "#/components/responses/unsupported_media_type"
          },
          "429": {
            "$ref": "#/components/responses/queue_full"
          },
          "500": {
            "$ref": "#/components/responses/internal"
          },
          "502": {
            "$ref": "#/components/responses/redis_unauthorized-or-redis_error-or-unexpected_reply"
          },
          "503": {
            "$ref": "#/components/responses/redis_quota-or-redis_not_writable-or-newer_schema-or-auth_not_configured-or-misconfigured"
          },
          "504": {
            "$ref": "#/components/responses/redis_unreachable"
          }
        }
      }
    },
    "/v1/queues/{queue}/tasks/{id}/cancel": {
      "post": {
        "operationId": "cancelTask",
        "tags": [
          "tasks"
        ],
        "summary": "Cancel a task",
        "description": "A pending or delayed task is rejected at once with the reason `cancelled`. It is not a dead letter. A working task is flagged: its holder gets `cancelRequested` at its next extend or settle. Scope: enqueue.",
        "security": [
          {
            "token": [
              "enqueue"
            ]
          }
        ],
        "parameters": [
          {
            "$ref": "#/components/parameters/queue"
          },
          {
            "$ref": "#/components/parameters/id"
          },
          {
            "$ref": "#/components/parameters/Idempotency-Key"
          }
        ],
        "requestBody": {
          "required": false,
          "content": {
            "application/json": {
              "schema": {
                "$ref": "#/components/schemas/Cancel"
              },
              "examples": {
                "only-under-this-lease": {
                  "summary": "only under this lease",
                  "value": {
                    "lease": 42
                  }
                }
              }
            }
          }
        },
        "responses": {
          "200": {
            "description": "The task is cancelled, or flagged if it is working.",
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/Cancelled"
                },
                "examples": {
                  "waiting": {
                    "summary": "waiting",
                    "value": {
                      "id": "welcome-17",
                      "state": "rejected"
                    }
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/invalid_request-or-invalid_json"
          },
          "401": {
            "$ref": "#/components/responses/unauthorized"
          },
          "403": {
            "$ref": "#/components/responses/forbidden"
          },
          "404": {
            "$ref": "#/components/responses/not_found"
          },
          "408": {
            "$ref": "#/components/responses/body_too_slow"
          },
          "409": {
            "$ref": "#/components/responses/already_ended-or-lease_lost"
          },
          "413": {
            "$ref": "#/components/responses/payload_too_large"
          },
          "415": {
            "$ref": "#/components/responses/unsupported_media_type"
          },
          "500": {
            "$ref": "#/components/responses/internal"
          },
          "502": {
            "$ref": "#/components/responses/redis_unauthorized-or-redis_error-or-unexpected_reply"
          },
          "503": {
            "$ref": "#/components/responses/redis_quota-or-redis_not_writable-or-newer_schema-or-auth_not_configured-or-misconfigured"
          },
          "504": {
            "$ref": "#/components/responses/redis_unreachable"
          }
        }
      }
    },
    "/v1/queues/{queue}/tasks/{id}": {
      "get": {
        "operationId": "getTask",
        "tags": [
          "tasks"
        ],
        "summary": "Get a task: its state, result and error; wait for its end, or follow it",
        "description": "The record of a completed task, with its result, is kept for its `resultTtl`, the record of a dead letter for its `deadTtl`, each at least 5 minutes. The record of a cancelled task is kept for 5 minutes. After that the task is not found.\n\nWith `wait`, the response comes when the task has ended. If it has not ended in time, the response has its current state. The server reads the task after 250 ms, then in growing intervals of up to 2 seconds. Each read costs 3 Redis commands.\n\nWith `Accept: text/event-stream`, the response is a stream of the task's transitions: first the current state, then each transition once and in order, until the end. A `transition` has `version`, `to` (a state, or `cancelRequested`) and `at`. `progress` has the progress that the holder last sent. `gap` has the number of transitions that the stream `missed`, because the record keeps only the last 16. `end` has the task. `gone` means that the task was deleted or its record has expired. After `end` or `gone`, close the stream. `problem` reports an error. Versions increase, with two exceptions: progress, and a promotion that a read observes, have the version of the event before.\n\nA stream ends after 60 seconds, and the client reconnects with `Last-Event-ID`, as the browsers' EventSource does by itself. The stream then continues after that version. Nothing is sent twice except the last progress. After the end was sent, the response is 204. Scope: enqueue, view.",
        "security": [
          {
            "token": [
              "enqueue",
              "view"
            ]
          }
        ],
        "parameters": [
          {
            "$ref": "#/components/parameters/queue"
          },
          {
            "$ref": "#/components/parameters/id"
          },
          {
            "name": "wait",
            "in": "query",
            "required": false,
            "description": "How long to wait for the end of the task, or how long a stream lasts; at most \"60s\". Default: do not wait, and 60 seconds for a stream.",
            "schema": {
              "anyOf": [
                {
                  "type": "integer",
                  "minimum": 0,
                  "maximum": 60000
                },
                {
                  "type": "string",
                  "pattern": "^\\d{1,12}(?:\\.\\d{1,3})?(?:ms|s|m|h|d)$"
                }
              ]
            }
          },
          {
            "name": "payload",
            "in": "query",
            "required": false,
            "description": "True includes the payload; the token needs the scope `view`. A stream has no payload. Default false.",
            "schema": {
              "type": "boolean"
            }
          },
          {
            "$ref": "#/components/parameters/Last-Event-ID"
          }
        ],
        "responses": {
          "200": {
            "description": "The task, or the stream.",
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/Task"
                },
                "examples": {
                  "completed": {
                    "summary": "completed",
                    "value": {
                      "id": "welcome-17",
                      "queue": "emails",
                      "state": "completed",
                      "attempt": 1,
                      "charged": 1,
                      "lease": 42,
                      "requeues": 0,
                      "version": 3,
                      "transitions": [
                        {
                          "version": 2,
                          "to": "working",
                          "at": 1792800000900
                        },
                        {
                          "version": 3,
                          "to": "completed",
                          "at": 1792800001200
                        }
                      ],
                      "errors": [],
                      "worker": {
                        "name": "mailer-1",
                        "incarnation": "0VsJ0dW2"
                      },
                      "enqueuedAt": 1792800000000,
                      "dequeuedAt": 1792800000900,
                      "endedAt": 1792800001200,
                      "result": {
                        "ok": true
                      }
                    }
                  }
                }
              },
              "text/event-stream": {
                "schema": {
                  "type": "string"
                },
                "examples": {
                  "stream": {
                    "summary": "stream",
                    "value": "retry: 1000\n\nid: 1\nevent: transition\ndata: {\"version\":1,\"to\":\"pending\",\"at\":1792800000000}\n\nid: 2\nevent: transition\ndata: {\"version\":2,\"to\":\"working\",\"at\":1792800000900}\n\nid: 2\nevent: progress\ndata: {\"version\":2,\"progress\":{\"done\":0.5}}\n\nid: 3\nevent: end\ndata: {\"version\":3,\"to\":\"completed\",\"at\":1792800001200,\"task\":{\"id\":\"welcome-17\",\"queue\":\"emails\",\"state\":\"completed\",\"attempt\":1,\"charged\":1,\"lease\":42,\"requeues\":0,\"version\":3,\"transitions\":[{\"version\":2,\"to\":\"working\",\"at\":1792800000900},{\"version\":3,\"to\":\"completed\",\"at\":1792800001200}],\"errors\":[],\"worker\":{\"name\":\"mailer-1\",\"incarnation\":\"0VsJ0dW2\"},\"enqueuedAt\":1792800000000,\"dequeuedAt\":1792800000900,\"endedAt\":1792800001200,\"result\":{\"ok\":true}}}\n\n"
                  }
                }
              }
            }
          },
          "204": {
            "description": "The end was already sent: `Last-Event-ID` is its version."
          },
          "400": {
            "$ref": "#/components/responses/invalid_request"
          },
          "401": {
            "$ref": "#/components/responses/unauthorized"
          },
          "403": {
            "$ref": "#/components/responses/forbidden"
          },
          "404": {
            "$ref": "#/components/responses/not_found"
          },
          "500": {
            "$ref": "#/components/responses/internal"
          },
          "502": {
            "$ref": "#/components/responses/redis_unauthorized-or-redis_error-or-unexpected_reply-or-offload_failed"
          },
          "503": {
            "$ref": "#/components/responses/redis_quota-or-redis_not_writable-or-newer_schema-or-auth_not_configured-or-misconfigured"
          },
          "504": {
            "$ref": "#/components/responses/redis_unreachable"
          }
        }
      },
      "delete": {
        "operationId": "deleteTask",
        "tags": [
          "tasks"
        ],
        "summary": "Delete a task that has ended",
        "description": "Deletes the task's record with its result, error and payload. The id stays known for five minutes after the end of the task, so that a late copy of its enqueue creates nothing. During that time a second DELETE gets the same response. An id that was enqueued with `unique` stays known for that time. Scope: admin.",
        "security": [
          {
            "token": [
              "admin"
            ]
          }
        ],
        "parameters": [
          {
            "$ref": "#/components/parameters/queue"
          },
          {
            "$ref": "#/components/parameters/id"
          },
          {
            "$ref": "#/components/parameters/Idempotency-Key"
          }
        ],
        "responses": {
          "200": {
            "description": "The task is deleted.",
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/TaskDeleted"
                },
                "examples": {
                  "deleted": {
                    "summary": "deleted",
                    "value": {
                      "id": "welcome-17",
                      "deleted": true
                    }
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/invalid_request"
          },
          "401": {
            "$ref": "#/components/responses/unauthorized"
          },
          "403": {
            "$ref": "#/components/responses/forbidden"
          },
          "404": {
            "$ref": "#/components/responses/not_found"
          },
          "409": {
            "$ref": "#/components/responses/alive"
          },
          "500": {
            "$ref": "#/components/responses/internal"
          },
          "502": {
            "$ref": "#/components/responses/redis_unauthorized-or-redis_error-or-unexpected_reply"
          },
          "503": {
            "$ref": "#/components/responses/redis_quota-or-redis_not_writable-or-newer_schema-or-auth_not_configured-or-misconfigured"
          },
          "504": {
            "$ref": "#/components/responses/redis_unreachable"
          }
        }
      }
    },
    "/v1/queues/{queue}/events": {
      "get": {
        "operationId": "events",
        "tags": [
          "queues"
        ],
        "summary": "Stream the events of a queue's tasks",
        "description": "A stream of server-sent events: `enqueued`, `dequeued`, `completed`, `requeued`, `rejected`, `cancelled`, `cancelRequested` (the holder should stop), `reclaimed`, `redriven`, `released` (no longer blocked), `deleted`, `progress`, and `gap` after the server has missed some. Each has its time and the ids of the tasks of one call; the id is `*` if the queue was deleted. `completed`, `requeued`, `rejected`, `reclaimed` and `progress` also have `tasks`: of each the `attempt`, and its `result`, `progress`, or `error` as text of at most 200 characters; of a requeued one `dueAt`, unless it is due at once; of a rejected one the `reason`. A value of over 1,800 bytes is not in an event, which then has `withheld` with the reason: get the task. Bytes are in base64, with `encoding` or `errorEncoding`. A token that hides payloads gets no `progress` events, and no results. The queue publishes events if its setting `events` is on. Otherwise the stream is silent.\n\nDelivery is best effort, like Redis's pub/sub. The response begins when the server has subscribed, and has all events from then on. Events between two streams are lost. To receive every transition of one task, follow the task. `problem` reports an error, after which the stream ends. Scope: view.",
        "security": [
          {
            "token": [
              "view"
            ]
          }
        ],
        "parameters": [
          {
            "$ref": "#/components/parameters/queue"
          },
          {
            "name": "wait",
            "in": "query",
            "required": false,
            "description": "How long the stream lasts, at most \"5m\". Default \"5m\".",
            "schema": {
              "anyOf": [
                {
                  "type": "integer",
                  "minimum": 0,
                  "maximum": 300000
                },
                {
                  "type": "string",
                  "pattern": "^\\d{1,12}(?:\\.\\d{1,3})?(?:ms|s|m|h|d)$"
                }
              ]
            }
          }
        ],
        "responses": {
          "200": {
            "description": "The stream.",
            "content": {
              "text/event-stream": {
                "schema": {
                  "type": "string"
                },
                "examples": {
                  "stream": {
                    "summary": "stream",
                    "value": "retry: 1000\n\nevent: enqueued\ndata: {\"event\":\"enqueued\",\"at\":1792800000000,\"ids\":[\"welcome-17\",\"welcome-18\"]}\n\nevent: dequeued\ndata: {\"event\":\"dequeued\",\"at\":1792800000900,\"ids\":[\"welcome-17\"]}\n\nevent: completed\ndata: {\"event\":\"completed\",\"at\":1792800001900,\"ids\":[\"welcome-17\"],\"tasks\":[{\"id\":\"welcome-17\",\"attempt\":1,\"result\":{\"sent\":true}}]}\n\n"
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/invalid_request"
          },
          "401": {
            "$ref": "#/components/responses/unauthorized"
          },
          "403": {
            "$ref": "#/components/responses/forbidden"
          },
          "500": {
            "$ref": "#/components/responses/internal"
          },
          "501": {
            "$ref": "#/components/responses/unsupported"
          },
          "502": {
            "$ref": "#/components/responses/redis_unauthorized-or-redis_error-or-unexpected_reply"
          },
          "503": {
            "$ref": "#/components/responses/redis_quota-or-redis_not_writable-or-newer_schema-or-auth_not_configured-or-misconfigured"
          },
          "504": {
            "$ref": "#/components/responses/redis_unreachable"
          }
        }
      }
    },
    "/v1/search": {
      "get": {
        "operationId": "search",
        "tags": [
          "tasks"
        ],
        "summary": "Search all queues for a text",
        "description": "Looks for a text in ids, payloads, errors and results. A task with the text as its id comes first. Then the queues of the token follow in the order of their names; in each first dead letters, then working, pending, delayed, completed and cancelled tasks, the last ones first. One request looks at some 20,000 tasks: a page can be short or empty although more follow. Continue with `cursor`, percent-encoded. Values that are encrypted or in an object store are not searched, but counted in `unsearched`. A token that hides payloads searches ids and errors alone. Scope: view.",
        "security": [
          {
            "token": [
              "view"
            ]
          }
        ],
        "parameters": [
          {
            "name": "text",
            "in": "query",
            "required": true,
            "description": "What the tasks have in their id, payload, error or result, case-sensitive.",
            "schema": {
              "type": "string",
              "minLength": 1,
              "maxLength": 1000
            },
            "example": "a@example.com"
          },
          {
            "name": "queues",
            "in": "query",
            "required": false,
            "description": "In which queues: a name, or a pattern such as `emails-*`. Default: all of the token.",
            "schema": {
              "type": "string",
              "pattern": "^[A-Za-z0-9_.*-]{1,128}$"
            }
          },
          {
            "name": "state",
            "in": "query",
            "required": false,
            "description": "Only tasks in this state. Default: all states.",
            "schema": {
              "enum": [
                "pending",
                "delayed",
                "blocked",
                "working",
                "completed",
                "rejected"
              ],
              "type": "string"
            }
          },
          {
            "name": "size",
            "in": "query",
            "required": false,
            "description": "At most about this many tasks per page. Default 20.",
            "schema": {
              "type": "integer",
              "minimum": 1,
              "maximum": 1000
            }
          },
          {
            "name": "cursor",
            "in": "query",
            "required": false,
            "description": "Where to continue: the `cursor` of the previous page.",
            "schema": {
              "type": "string",
              "minLength": 1
            }
          }
        ],
        "responses": {
          "200": {
            "description": "Tasks, and how far the request has looked.",
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/FoundTasks"
                },
                "examples": {
                  "a-dead-letter": {
                    "summary": "a dead letter",
                    "value": {
                      "tasks": [
                        {
                          "id": "welcome-17",
                          "queue": "emails",
                          "state": "rejected",
                          "reason": "attempts_exhausted",
                          "attempt": 5,
                          "charged": 5,
                          "lease": 42,
                          "requeues": 3,
                          "version": 11,
                          "transitions": [
                            {
                              "version": 11,
                              "to": "rejected",
                              "at": 1792800060000
                            }
                          ],
                          "errors": [
                            {
                              "attempt": 4,
                              "at": 1792800040000,
                              "error": null
                            },
                            {
                              "attempt": 5,
                              "at": 1792800060000,
                              "error": "503 from the receiver"
                            }
                          ],
                          "enqueuedAt": 1792800000000,
                          "dequeuedAt": 1792800059000,
                          "endedAt": 1792800060000,
                          "error": "503 from the receiver",
                          "preview": "{\"to\":\"a@example.com\"}",
                          "found": "payload"
                        }
                      ],
                      "looked": {
                        "tasks": 240,
                        "queues": 3
                      },
                      "unsearched": 0,
                      "failed": [],
                      "cursor": null
                    }
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/invalid_request"
          },
          "401": {
            "$ref": "#/components/responses/unauthorized"
          },
          "403": {
            "$ref": "#/components/responses/forbidden"
          },
          "500": {
            "$ref": "#/components/responses/internal"
          },
          "502": {
            "$ref": "#/components/responses/redis_unauthorized-or-redis_error-or-unexpected_reply"
          },
          "503": {
            "$ref": "#/components/responses/redis_quota-or-redis_not_writable-or-newer_schema-or-auth_not_configured-or-misconfigured"
          },
          "504": {
            "$ref": "#/components/responses/redis_unreachable"
          }
        }
      }
    },
    "/v1/queues/{queue}/dead-letters": {
      "get": {
        "operationId": "countDeadLetters",
        "tags": [
          "tasks"
        ],
        "summary": "Count dead letters by cause and by group",
        "description": "Counts up to 5,000 dead letters, the newest first. If `cursor` is not null there are more: continue with it, and add the counts up. A cause is a reason and an error without its ids and numbers, except status codes. Scope: view.",
        "security": [
          {
            "token": [
              "view"
            ]
          }
        ],
        "parameters": [
          {
            "$ref": "#/components/parameters/queue"
          },
          {
            "name": "cursor",
            "in": "query",
            "required": false,
            "description": "Where to count on: the `cursor` of the previous answer.",
            "schema": {
              "type": "string",
              "minLength": 1
            }
          },
          {
            "name": "text",
            "in": "query",
            "required": false,
            "description": "Text that the last error, or the result, contains. Of a task without an error, and of one whose last lease expired, also the text of its reason.",
            "schema": {
              "type": "string",
              "minLength": 1,
              "maxLength": 1000
            }
          },
          {
            "name": "group",
            "in": "query",
            "required": false,
            "description": "Tasks of this group.",
            "schema": {
              "type": "string",
              "pattern": "^[A-Za-z0-9][!-~]{0,127}$"
            }
          },
          {
            "name": "reason",
            "in": "query",
            "required": false,
            "description": "The reason for which they were rejected, or several of which one must match. `cancelled` cannot be one of several: cancelled tasks are no dead letters.",
            "schema": {
              "type": "string",
              "pattern": "^(?:rejected|attempts_exhausted|lease_expired|taken_back|dependency_failed)(?:,(?:rejected|attempts_exhausted|lease_expired|taken_back|dependency_failed))*$"
            }
          },
          {
            "name": "endedSince",
            "in": "query",
            "required": false,
            "description": "Ended at this time or later, epoch ms.",
            "schema": {
              "anyOf": [
                {
                  "type": "integer",
                  "minimum": 0,
                  "maximum": 999999999
                },
                {
                  "type": "integer",
                  "minimum": 10000000000,
                  "maximum": 8640000000000000
                }
              ]
            }
          },
          {
            "name": "endedUntil",
            "in": "query",
            "required": false,
            "description": "Ended before this time, epoch ms.",
            "schema": {
              "anyOf": [
                {
                  "type": "integer",
                  "minimum": 0,
                  "maximum": 999999999
                },
                {
                  "type": "integer",
                  "minimum": 10000000000,
                  "maximum": 8640000000000000
                }
              ]
            }
          },
          {
            "name": "enqueuedSince",
            "in": "query",
            "required": false,
            "description": "Enqueued at this time or later, epoch ms.",
            "schema": {
              "anyOf": [
                {
                  "type": "integer",
                  "minimum": 0,
                  "maximum": 999999999
                },
                {
                  "type": "integer",
                  "minimum": 10000000000,
                  "maximum": 8640000000000000
                }
              ]
            }
          },
          {
            "name": "enqueuedUntil",
            "in": "query",
            "required": false,
            "description": "Enqueued before this time, epoch ms.",
            "schema": {
              "anyOf": [
                {
                  "type": "integer",
                  "minimum": 0,
                  "maximum": 999999999
                },
                {
                  "type": "integer",
                  "minimum": 10000000000,
                  "maximum": 8640000000000000
                }
              ]
            }
          }
        ],
        "responses": {
          "200": {
            "description": "The counts.",
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/DeadLetters"
                },
                "examples": {
                  "one-cause": {
                    "summary": "one cause",
                    "value": {
                      "counted": 118,
                      "causes": [
                        {
                          "reason": "attempts_exhausted",
                          "error": "503 from the receiver",
                          "text": "503 from the receiver",
                          "count": 118,
                          "firstAt": 1792800000000,
                          "lastAt": 1792800060000,
                          "latest": {
                            "id": "welcome-17",
                            "lease": 42
                          }
                        }
                      ],
                      "groups": [
                        {
                          "group": null,
                          "count": 118,
                          "firstAt": 1792800000000,
                          "lastAt": 1792800060000
                        }
                      ],
                      "otherCauses": 0,
                      "otherGroups": 0,
                      "cursor": null,
                      "unreadable": 0
                    }
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/invalid_request"
          },
          "401": {
            "$ref": "#/components/responses/unauthorized"
          },
          "403": {
            "$ref": "#/components/responses/forbidden"
          },
          "500": {
            "$ref": "#/components/responses/internal"
          },
          "502": {
            "$ref": "#/components/responses/redis_unauthorized-or-redis_error-or-unexpected_reply"
          },
          "503": {
            "$ref": "#/components/responses/redis_quota-or-redis_not_writable-or-newer_schema-or-auth_not_configured-or-misconfigured"
          },
          "504": {
            "$ref": "#/components/responses/redis_unreachable"
          }
        }
      }
    },
    "/v1/queues/{queue}/tasks/cancel": {
      "post": {
        "operationId": "cancelTasks",
        "tags": [
          "tasks"
        ],
        "summary": "Cancel several tasks",
        "description": "Cancels up to 1,000 tasks, each as the request for one does. A copy of the request has the same answer. Scope: enqueue.",
        "security": [
          {
            "token": [
              "enqueue"
            ]
          }
        ],
        "parameters": [
          {
            "$ref": "#/components/parameters/queue"
          },
          {
            "$ref": "#/components/parameters/Idempotency-Key"
          }
        ],
        "requestBody": {
          "required": true,
          "content": {
            "application/json": {
              "schema": {
                "$ref": "#/components/schemas/CancelMany"
              },
              "examples": {
                "two": {
                  "summary": "two",
                  "value": {
                    "ids": [
                      "welcome-17",
                      {
                        "id": "welcome-18",
                        "lease": 43
                      }
                    ]
                  }
                }
              }
            }
          }
        },
        "responses": {
          "200": {
            "description": "What became of each task.",
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/CancelledMany"
                },
                "examples": {
                  "two": {
                    "summary": "two",
                    "value": {
                      "results": [
                        {
                          "id": "welcome-17",
                          "ok": true,
                          "state": "rejected"
                        },
                        {
                          "id": "welcome-18",
                          "ok": false,
                          "code": "lease_lost"
                        }
                      ]
                    }
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/invalid_request-or-invalid_json"
          },
          "401": {
            "$ref": "#/components/responses/unauthorized"
          },
          "403": {
            "$ref": "#/components/responses/forbidden"
          },
          "408": {
            "$ref": "#/components/responses/body_too_slow"
          },
          "413": {
            "$ref": "#/components/responses/payload_too_large"
          },
          "415": {
            "$ref": "#/components/responses/unsupported_media_type"
          },
          "500": {
            "$ref": "#/components/responses/internal"
          },
          "502": {
            "$ref": "#/components/responses/redis_unauthorized-or-redis_error-or-unexpected_reply"
          },
          "503": {
            "$ref": "#/components/responses/redis_quota-or-redis_not_writable-or-newer_schema-or-auth_not_configured-or-misconfigured"
          },
          "504": {
            "$ref": "#/components/responses/redis_unreachable"
          }
        }
      }
    },
    "/v1/queues/{queue}/tasks/delete": {
      "post": {
        "operationId": "deleteTasks",
        "tags": [
          "tasks"
        ],
        "summary": "Delete several tasks that have ended",
        "description": "Deletes the records of up to 1,000 tasks, each as the request for one does. Scope: admin.",
        "security": [
          {
            "token": [
              "admin"
            ]
          }
        ],
        "parameters": [
          {
            "$ref": "#/components/parameters/queue"
          },
          {
            "$ref": "#/components/parameters/Idempotency-Key"
          }
        ],
        "requestBody": {
          "required": true,
          "content": {
            "application/json": {
              "schema": {
                "$ref": "#/components/schemas/DeleteMany"
              },
              "examples": {
                "two": {
                  "summary": "two",
                  "value": {
                    "ids": [
                      "welcome-17",
                      "welcome-18"
                    ]
                  }
                }
              }
            }
          }
        },
        "responses": {
          "200": {
            "description": "What became of each task.",
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/DeletedMany"
                },
                "examples": {
                  "two": {
                    "summary": "two",
                    "value": {
                      "results": [
                        {
                          "id": "welcome-17",
                          "ok": true
                        },
                        {
                          "id": "welcome-18",
                          "ok": false,
                          "code": "alive"
                        }
                      ]
                    }
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/invalid_request-or-invalid_json"
          },
          "401": {
            "$ref": "#/components/responses/unauthorized"
          },
          "403": {
            "$ref": "#/components/responses/forbidden"
          },
          "408": {
            "$ref": "#/components/responses/body_too_slow"
          },
          "413": {
            "$ref": "#/components/responses/payload_too_large"
          },
          "415": {
            "$ref": "#/components/responses/unsupported_media_type"
          },
          "500": {
            "$ref": "#/components/responses/internal"
          },
          "502": {
            "$ref": "#/components/responses/redis_unauthorized-or-redis_error-or-unexpected_reply"
          },
          "503": {
            "$ref": "#/components/responses/redis_quota-or-redis_not_writable-or-newer_schema-or-auth_not_configured-or-misconfigured"
          },
          "504": {
            "$ref": "#/components/responses/redis_unreachable"
          }
        }
      }
    },
    "/v1/queues/{queue}/redrive": {
      "post": {
        "operationId": "redrive",
        "tags": [
          "tasks"
        ],
        "summary": "Make dead letters pending again",
        "description": "Redrives dead letters by `ids` or by filter, or all of them with `{}`. They go to the back of the queue, the oldest dead letter first, and their charged attempts are reset. Cancelled tasks are not dead letters. If `cursor` is not null, call again with it. A copy of a request by ids changes nothing, unless a task has become a dead letter again. With the `lease` of each task, it changes nothing then either. A copy of a request by filter continues where the first stopped. Scope: admin.",
        "security": [
          {
            "token": [
              "admin"
            ]
          }
        ],
        "parameters": [
          {
            "$ref": "#/components/parameters/queue"
          },
          {
            "$ref": "#/components/parameters/Idempotency-Key"
          }
        ],
        "requestBody": {
          "required": true,
          "content": {
            "application/json": {
              "schema": {
                "$ref": "#/components/schemas/Redrive"
              },
              "examples": {
                "a-dry-run": {
                  "summary": "a dry run",
                  "value": {
                    "text": "503",
                    "endedSince": 1792800000000,
                    "dryRun": true
                  }
                },
                "ten-a-second": {
                  "summary": "ten a second",
                  "value": {
                    "text": "503",
                    "rate": 10
                  }
                },
                "by-id": {
                  "summary": "by id",
                  "value": {
                    "ids": [
                      "welcome-17",
                      {
                        "id": "welcome-18",
                        "lease": 43
                      }
                    ]
                  }
                }
              }
            }
          }
        },
        "responses": {
          "200": {
            "description": "The counts of what was done.",
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/Redriven"
                },
                "examples": {
                  "by-filter": {
                    "summary": "by filter",
                    "value": {
                      "redriven": 118,
                      "refused": [],
                      "cursor": null,
                      "unreadable": 0
                    }
                  },
                  "by-id": {
                    "summary": "by id",
                    "value": {
                      "redriven": 1,
                      "refused": [
                        {
                          "id": "welcome-18",
                          "code": "lease_lost"
                        }
                      ],
                      "cursor": null,
                      "unreadable": 0
                    }
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/invalid_request-or-invalid_json"
          },
          "401": {
            "$ref": "#/components/responses/unauthorized"
          },
          "403": {
            "$ref": "#/components/responses/forbidden"
          },
          "408": {
            "$ref": "#/components/responses/body_too_slow"
          },
          "413": {
            "$ref": "#/components/responses/payload_too_large"
          },
          "415": {
            "$ref": "#/components/responses/unsupported_media_type"
          },
          "429": {
            "$ref": "#/components/responses/queue_full"
          },
          "500": {
            "$ref": "#/components/responses/internal"
          },
          "502": {
            "$ref": "#/components/responses/redis_unauthorized-or-redis_error-or-unexpected_reply"
          },
          "503": {
            "$ref": "#/components/responses/redis_quota-or-redis_not_writable-or-newer_schema-or-auth_not_configured-or-misconfigured"
          },
          "504": {
            "$ref": "#/components/responses/redis_unreachable"
          }
        }
      }
    },
    "/v1/queues/{queue}/purge": {
      "post": {
        "operationId": "purge",
        "tags": [
          "tasks"
        ],
        "summary": "End or delete all tasks in one state",
        "description": "Pending, delayed and blocked tasks are cancelled. The records of completed and rejected tasks are deleted. Working tasks are never purged: cancel them. A filter of pending tasks must name a group. If `cursor` is not null, call again with it. A copy of the request continues where the first stopped. Scope: admin.",
        "security": [
          {
            "token": [
              "admin"
            ]
          }
        ],
        "parameters": [
          {
            "$ref": "#/components/parameters/queue"
          },
          {
            "$ref": "#/components/parameters/Idempotency-Key"
          }
        ],
        "requestBody": {
          "required": true,
          "content": {
            "application/json": {
              "schema": {
                "$ref": "#/components/schemas/Purge"
              },
              "examples": {
                "old-dead-letters": {
                  "summary": "old dead letters",
                  "value": {
                    "state": "rejected",
                    "endedUntil": 1792800000000
                  }
                },
                "the-pending-tasks-of-a-group": {
                  "summary": "the pending tasks of a group",
                  "value": {
                    "state": "pending",
                    "group": "tenant-7"
                  }
                }
              }
            }
          }
        },
        "responses": {
          "200": {
            "description": "The counts of what was done.",
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/Purged"
                },
                "examples": {
                  "all": {
                    "summary": "all",
                    "value": {
                      "purged": 118,
                      "cursor": null,
                      "unreadable": 0
                    }
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/invalid_request-or-invalid_json"
          },
          "401": {
            "$ref": "#/components/responses/unauthorized"
          },
          "403": {
            "$ref": "#/components/responses/forbidden"
          },
          "408": {
            "$ref": "#/components/responses/body_too_slow"
          },
          "413": {
            "$ref": "#/components/responses/payload_too_large"
          },
          "415": {
            "$ref": "#/components/responses/unsupported_media_type"
          },
          "429": {
            "$ref": "#/components/responses/queue_full"
          },
          "500": {
            "$ref": "#/components/responses/internal"
          },
          "502": {
            "$ref": "#/components/responses/redis_unauthorized-or-redis_error-or-unexpected_reply"
          },
          "503": {
            "$ref": "#/components/responses/redis_quota-or-redis_not_writable-or-newer_schema-or-auth_not_configured-or-misconfigured"
          },
          "504": {
            "$ref": "#/components/responses/redis_unreachable"
          }
        }
      }
    },
    "/v1/flows": {
      "post": {
        "operationId": "addFlow",
        "tags": [
          "flows"
        ],
        "summary": "Add tasks that wait for each other",
        "description": "Adds up to 10,000 tasks, of one queue or several, all or none. With `completed`, `failed` or `ended`, or with tasks that have no `ref`, it is a batch: tasks side by side, and these callbacks. A task with `after` is `blocked` until what it waits for has ended. An unknown ref and a cycle are refused. With an `id`, or an `Idempotency-Key` from which the id derives, a request can be resent safely. The token needs the scope for each of the queues. Scope: enqueue.",
        "security": [
          {
            "token": [
              "enqueue"
            ]
          }
        ],
        "parameters": [
          {
            "$ref": "#/components/parameters/Idempotency-Key"
          }
        ],
        "requestBody": {
          "required": true,
          "content": {
            "application/json": {
              "schema": {
                "anyOf": [
                  {
                    "$ref": "#/components/schemas/NewFlow"
                  },
                  {
                    "$ref": "#/components/schemas/NewBatch"
                  }
                ]
              },
              "examples": {
                "a-batch": {
                  "summary": "a batch",
                  "value": {
                    "tasks": [
                      {
                        "queue": "rows",
                        "payload": {
                          "part": 1
                        }
                      },
                      {
                        "queue": "rows",
                        "payload": {
                          "part": 2
                        }
                      }
                    ],
                    "completed": {
                      "queue": "emails",
                      "payload": {
                        "to": "a@example.com"
                      }
                    }
                  }
                },
                "an-import": {
                  "summary": "an import",
                  "value": {
                    "id": "nightly",
                    "tasks": [
                      {
                        "ref": "fetch",
                        "queue": "imports",
                        "payload": {
                          "day": "2026-11-30"
                        }
                      },
                      {
                        "ref": "rows",
                        "flow": [
                          {
                            "ref": "a",
                            "queue": "rows",
                            "payload": {
                              "part": 1
                            }
                          }
                        ],
                        "after": "fetch"
                      },
                      {
                        "ref": "mail",
                        "queue": "emails",
                        "payload": {
                          "to": "a@example.com"
                        },
                        "after": [
                          {
                            "ref": "rows",
                            "on": "ended"
                          }
                        ]
                      }
                    ]
                  }
                }
              }
            }
          }
        },
        "responses": {
          "200": {
            "description": "The flow was already known. Nothing was added.",
            "headers": {
              "Location": {
                "$ref": "#/components/headers/Location"
              }
            },
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/FlowAdded"
                },
                "examples": {
                  "known": {
                    "summary": "known",
                    "value": {
                      "id": "nightly@imports",
                      "created": false,
                      "tasks": {
                        "fetch": "0{nightly@imports}",
                        "rows/a": "1{nightly@imports}",
                        "mail": "3{nightly@imports}"
                      }
                    }
                  }
                }
              }
            }
          },
          "201": {
            "description": "This request, or an earlier copy of it, added the flow.",
            "headers": {
              "Location": {
                "$ref": "#/components/headers/Location"
              }
            },
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/FlowAdded"
                },
                "examples": {
                  "added": {
                    "summary": "added",
                    "value": {
                      "id": "nightly@imports",
                      "created": true,
                      "tasks": {
                        "fetch": "0{nightly@imports}",
                        "rows/a": "1{nightly@imports}",
                        "mail": "3{nightly@imports}"
                      }
                    }
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/invalid_request-or-invalid_json"
          },
          "401": {
            "$ref": "#/components/responses/unauthorized"
          },
          "403": {
            "$ref": "#/components/responses/forbidden"
          },
          "408": {
            "$ref": "#/components/responses/body_too_slow"
          },
          "409": {
            "$ref": "#/components/responses/idempotency_key_reused"
          },
          "413": {
            "$ref": "#/components/responses/payload_too_large"
          },
          "415": {
            "$ref": "#/components/responses/unsupported_media_type"
          },
          "429": {
            "$ref": "#/components/responses/queue_full"
          },
          "500": {
            "$ref": "#/components/responses/internal"
          },
          "502": {
            "$ref": "#/components/responses/redis_unauthorized-or-redis_error-or-unexpected_reply-or-offload_failed"
          },
          "503": {
            "$ref": "#/components/responses/redis_quota-or-redis_not_writable-or-newer_schema-or-auth_not_configured-or-misconfigured"
          },
          "504": {
            "$ref": "#/components/responses/redis_unreachable"
          }
        }
      }
    },
    "/v1/flows/{flow}": {
      "get": {
        "operationId": "getFlow",
        "tags": [
          "flows"
        ],
        "summary": "Get a flow: states, counts, and what waits for what",
        "description": "A flow is known until an hour after its last task has ended. The token needs one of the scopes for each queue of the flow. Scope: enqueue, view.",
        "security": [
          {
            "token": [
              "enqueue",
              "view"
            ]
          }
        ],
        "parameters": [
          {
            "$ref": "#/components/parameters/flow"
          }
        ],
        "responses": {
          "200": {
            "description": "The flow.",
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/Flow"
                },
                "examples": {
                  "running": {
                    "summary": "running",
                    "value": {
                      "id": "nightly@imports",
                      "state": "running",
                      "createdAt": 1792800000000,
                      "isCancelled": false,
                      "counts": {
                        "pending": 0,
                        "delayed": 0,
                        "blocked": 1,
                        "working": 1,
                        "completed": 0,
                        "rejected": 0
                      },
                      "nodes": [
                        {
                          "ref": "fetch",
                          "kind": "task",
                          "queue": "imports",
                          "id": "0{nightly@imports}",
                          "state": "working",
                          "after": []
                        },
                        {
                          "ref": "mail",
                          "kind": "task",
                          "queue": "emails",
                          "id": "3{nightly@imports}",
                          "state": "blocked",
                          "after": [
                            {
                              "ref": "fetch",
                              "on": "completed"
                            }
                          ]
                        }
                      ]
                    }
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/invalid_request"
          },
          "401": {
            "$ref": "#/components/responses/unauthorized"
          },
          "403": {
            "$ref": "#/components/responses/forbidden"
          },
          "404": {
            "$ref": "#/components/responses/not_found"
          },
          "500": {
            "$ref": "#/components/responses/internal"
          },
          "502": {
            "$ref": "#/components/responses/redis_unauthorized-or-redis_error-or-unexpected_reply"
          },
          "503": {
            "$ref": "#/components/responses/redis_quota-or-redis_not_writable-or-newer_schema-or-auth_not_configured-or-misconfigured"
          },
          "504": {
            "$ref": "#/components/responses/redis_unreachable"
          }
        }
      }
    },
    "/v1/flows/{flow}/cancel": {
      "post": {
        "operationId": "cancelFlow",
        "tags": [
          "flows"
        ],
        "summary": "Cancel all tasks of a flow that have not ended",
        "description": "The last ones first. Holders of working tasks get `cancelRequested`. The token needs the scope for each queue of the flow. Scope: enqueue.",
        "security": [
          {
            "token": [
              "enqueue"
            ]
          }
        ],
        "parameters": [
          {
            "$ref": "#/components/parameters/flow"
          },
          {
            "$ref": "#/components/parameters/Idempotency-Key"
          }
        ],
        "responses": {
          "200": {
            "description": "The flow is cancelled.",
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/FlowCancelled"
                },
                "examples": {
                  "cancelled": {
                    "summary": "cancelled",
                    "value": {
                      "id": "nightly@imports",
                      "cancelled": 2,
                      "flagged": 1
                    }
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/invalid_request-or-invalid_json"
          },
          "401": {
            "$ref": "#/components/responses/unauthorized"
          },
          "403": {
            "$ref": "#/components/responses/forbidden"
          },
          "404": {
            "$ref": "#/components/responses/not_found"
          },
          "408": {
            "$ref": "#/components/responses/body_too_slow"
          },
          "413": {
            "$ref": "#/components/responses/payload_too_large"
          },
          "415": {
            "$ref": "#/components/responses/unsupported_media_type"
          },
          "500": {
            "$ref": "#/components/responses/internal"
          },
          "502": {
            "$ref": "#/components/responses/redis_unauthorized-or-redis_error-or-unexpected_reply"
          },
          "503": {
            "$ref": "#/components/responses/redis_quota-or-redis_not_writable-or-newer_schema-or-auth_not_configured-or-misconfigured"
          },
          "504": {
            "$ref": "#/components/responses/redis_unreachable"
          }
        }
      }
    },
    "/v1/flows/{flow}/redrive": {
      "post": {
        "operationId": "redriveFlow",
        "tags": [
          "flows"
        ],
        "summary": "Redrive all tasks of a flow that failed",
        "description": "What was rejected because of them is blocked again. Cancelled tasks stay so. The token needs the scope for each queue of the flow. Scope: admin.",
        "security": [
          {
            "token": [
              "admin"
            ]
          }
        ],
        "parameters": [
          {
            "$ref": "#/components/parameters/flow"
          },
          {
            "$ref": "#/components/parameters/Idempotency-Key"
          }
        ],
        "responses": {
          "200": {
            "description": "The tasks are pending again.",
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/FlowRedriven"
                },
                "examples": {
                  "redriven": {
                    "summary": "redriven",
                    "value": {
                      "id": "nightly@imports",
                      "redriven": 1
                    }
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/invalid_request-or-invalid_json"
          },
          "401": {
            "$ref": "#/components/responses/unauthorized"
          },
          "403": {
            "$ref": "#/components/responses/forbidden"
          },
          "404": {
            "$ref": "#/components/responses/not_found"
          },
          "408": {
            "$ref": "#/components/responses/body_too_slow"
          },
          "413": {
            "$ref": "#/components/responses/payload_too_large"
          },
          "415": {
            "$ref": "#/components/responses/unsupported_media_type"
          },
          "500": {
            "$ref": "#/components/responses/internal"
          },
          "502": {
            "$ref": "#/components/responses/redis_unauthorized-or-redis_error-or-unexpected_reply"
          },
          "503": {
            "$ref": "#/components/responses/redis_quota-or-redis_not_writable-or-newer_schema-or-auth_not_configured-or-misconfigured"
          },
          "504": {
            "$ref": "#/components/responses/redis_unreachable"
          }
        }
      }
    },
    "/v1/queues/{queue}/tasks/{id}/before": {
      "get": {
        "operationId": "getBefore",
        "tags": [
          "flows"
        ],
        "summary": "Get what a task waited for, with results and errors",
        "description": "Results of the tasks that it came `after`, also of other queues, by their refs. They are kept until the flow has ended. A task of no flow has none. Scope: consume.",
        "security": [
          {
            "token": [
              "consume"
            ]
          }
        ],
        "parameters": [
          {
            "$ref": "#/components/parameters/queue"
          },
          {
            "$ref": "#/components/parameters/id"
          }
        ],
        "responses": {
          "200": {
            "description": "What has become of them.",
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/Before"
                },
                "examples": {
                  "two": {
                    "summary": "two",
                    "value": {
                      "tasks": {
                        "rows": {
                          "id": "1{nightly@imports}",
                          "queue": "rows",
                          "state": "completed"
                        },
                        "audit": {
                          "id": "2{nightly@imports}",
                          "queue": "audits",
                          "state": "rejected",
                          "error": "503",
                          "reason": "attempts_exhausted"
                        }
                      }
                    }
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/invalid_request"
          },
          "401": {
            "$ref": "#/components/responses/unauthorized"
          },
          "403": {
            "$ref": "#/components/responses/forbidden"
          },
          "500": {
            "$ref": "#/components/responses/internal"
          },
          "502": {
            "$ref": "#/components/responses/redis_unauthorized-or-redis_error-or-unexpected_reply"
          },
          "503": {
            "$ref": "#/components/responses/redis_quota-or-redis_not_writable-or-newer_schema-or-auth_not_configured-or-misconfigured"
          },
          "504": {
            "$ref": "#/components/responses/redis_unreachable"
          }
        }
      },
      "post": {
        "operationId": "addBefore",
        "tags": [
          "flows"
        ],
        "summary": "Add tasks that a blocked task waits for",
        "description": "The holder of a working task adds tasks in front of one that waits for it. A request of the same task with the same refs adds nothing. The token needs the scope `enqueue` for the queues of the new tasks. Scope: consume.",
        "security": [
          {
            "token": [
              "consume"
            ]
          }
        ],
        "parameters": [
          {
            "$ref": "#/components/parameters/queue"
          },
          {
            "$ref": "#/components/parameters/id"
          },
          {
            "$ref": "#/components/parameters/Idempotency-Key"
          }
        ],
        "requestBody": {
          "required": true,
          "content": {
            "application/json": {
              "schema": {
                "$ref": "#/components/schemas/NewBefore"
              },
              "examples": {
                "a-page": {
                  "summary": "a page",
                  "value": {
                    "receipt": "1.1.42.q7XnRk2ZtB0aVd9L.0{crawl@pages}",
                    "ref": "index",
                    "tasks": [
                      {
                        "ref": "page",
                        "queue": "pages",
                        "payload": {
                          "page": 7
                        }
                      }
                    ]
                  }
                }
              }
            }
          }
        },
        "responses": {
          "200": {
            "description": "The tasks were already known. Nothing was added.",
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/AddedBefore"
                },
                "examples": {
                  "known": {
                    "summary": "known",
                    "value": {
                      "created": false,
                      "tasks": {
                        "page": "gQ0{crawl@pages}"
                      }
                    }
                  }
                }
              }
            }
          },
          "201": {
            "description": "The tasks were added.",
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/AddedBefore"
                },
                "examples": {
                  "added": {
                    "summary": "added",
                    "value": {
                      "created": true,
                      "tasks": {
                        "page": "gQ0{crawl@pages}"
                      }
                    }
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/invalid_request-or-invalid_json"
          },
          "401": {
            "$ref": "#/components/responses/unauthorized"
          },
          "403": {
            "$ref": "#/components/responses/forbidden"
          },
          "408": {
            "$ref": "#/components/responses/body_too_slow"
          },
          "409": {
            "$ref": "#/components/responses/not_blocked-or-lease_lost"
          },
          "413": {
            "$ref": "#/components/responses/payload_too_large"
          },
          "415": {
            "$ref": "#/components/responses/unsupported_media_type"
          },
          "429": {
            "$ref": "#/components/responses/queue_full"
          },
          "500": {
            "$ref": "#/components/responses/internal"
          },
          "502": {
            "$ref": "#/components/responses/redis_unauthorized-or-redis_error-or-unexpected_reply-or-offload_failed"
          },
          "503": {
            "$ref": "#/components/responses/redis_quota-or-redis_not_writable-or-newer_schema-or-auth_not_configured-or-misconfigured"
          },
          "504": {
            "$ref": "#/components/responses/redis_unreachable"
          }
        }
      }
    },
    "/v1/topics/{topic}/publish": {
      "post": {
        "operationId": "publish",
        "tags": [
          "topics"
        ],
        "summary": "Publish one message, or up to 1,000",
        "description": "Each queue that has subscribed to the topic gets a copy: a task of its own, with the id and the options of the message; what these leave out is as the queue declares it. With an `id`, or an `Idempotency-Key` from which the ids derive, a request can be resent safely: a queue that has its copy gets no other. If a queue gets none, the problem lists in `published` which have theirs. The token needs the scope for a queue with the name of the topic. Queues whose declaration encrypts payloads get them encrypted, if the server has that declaration. Scope: enqueue.",
        "security": [
          {
            "token": [
              "enqueue"
            ]
          }
        ],
        "parameters": [
          {
            "$ref": "#/components/parameters/topic"
          },
          {
            "$ref": "#/components/parameters/traceparent"
          },
          {
            "$ref": "#/components/parameters/Idempotency-Key"
          }
        ],
        "requestBody": {
          "required": true,
          "content": {
            "application/json": {
              "schema": {
                "anyOf": [
                  {
                    "$ref": "#/components/schemas/NewTaskOfMany"
                  },
                  {
                    "$ref": "#/components/schemas/NewMessages"
                  }
                ]
              },
              "examples": {
                "one": {
                  "summary": "one",
                  "value": {
                    "payload": {
                      "order": 17
                    },
                    "id": "order-17",
                    "headers": {
                      "region": "eu"
                    }
                  }
                },
                "several": {
                  "summary": "several",
                  "value": {
                    "messages": [
                      {
                        "payload": {
                          "order": 17
                        }
                      },
                      {
                        "payload": {
                          "order": 18
                        },
                        "delay": "5m"
                      }
                    ]
                  }
                }
              }
            }
          }
        },
        "responses": {
          "200": {
            "description": "No queue got a new copy: none takes the messages, or all had theirs.",
            "content": {
              "application/json": {
                "schema": {
                  "anyOf": [
                    {
                      "$ref": "#/components/schemas/Published"
                    },
                    {
                      "$ref": "#/components/schemas/PublishedMany"
                    }
                  ]
                },
                "examples": {
                  "no-subscriber": {
                    "summary": "no subscriber",
                    "value": {
                      "id": "order-17",
                      "copies": [],
                      "reread": false
                    }
                  }
                }
              }
            }
          },
          "201": {
            "description": "At least one queue got a copy.",
            "content": {
              "application/json": {
                "schema": {
                  "anyOf": [
                    {
                      "$ref": "#/components/schemas/Published"
                    },
                    {
                      "$ref": "#/components/schemas/PublishedMany"
                    }
                  ]
                },
                "examples": {
                  "one": {
                    "summary": "one",
                    "value": {
                      "id": "order-17",
                      "copies": [
                        {
                          "queue": "billing",
                          "created": true
                        },
                        {
                          "queue": "search",
                          "created": true
                        }
                      ],
                      "reread": false
                    }
                  },
                  "several": {
                    "summary": "several",
                    "value": {
                      "messages": [
                        {
                          "id": "order-17",
                          "copies": [
                            {
                              "queue": "billing",
                              "created": true
                            },
                            {
                              "queue": "search",
                              "created": true
                            }
                          ],
                          "reread": false
                        }
                      ]
                    }
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/invalid_request-or-invalid_json"
          },
          "401": {
            "$ref": "#/components/responses/unauthorized"
          },
          "403": {
            "$ref": "#/components/responses/forbidden"
          },
          "408": {
            "$ref": "#/components/responses/body_too_slow"
          },
          "409": {
            "$ref": "#/components/responses/idempotency_key_reused"
          },
          "413": {
            "$ref": "#/components/responses/payload_too_large"
          },
          "415": {
            "$ref": "#/components/responses/unsupported_media_type"
          },
          "429": {
            "$ref": "#/components/responses/queue_full"
          },
          "500": {
            "$ref": "#/components/responses/internal"
          },
          "501": {
            "$ref": "#/components/responses/unsupported"
          },
          "502": {
            "$ref": "#/components/responses/redis_unauthorized-or-redis_error-or-unexpected_reply-or-offload_failed"
          },
          "503": {
            "$ref": "#/components/responses/redis_quota-or-redis_not_writable-or-newer_schema-or-auth_not_configured-or-misconfigured"
          },
          "504": {
            "$ref": "#/components/responses/redis_unreachable"
          }
        }
      }
    },
    "/v1/topics/{topic}/preview": {
      "post": {
        "operationId": "previewPublish",
        "tags": [
          "topics"
        ],
        "summary": "See who would get a message",
        "description": "Publishes nothing. The token needs the scope for a queue with the name of the topic. Scope: enqueue.",
        "security": [
          {
            "token": [
              "enqueue"
            ]
          }
        ],
        "parameters": [
          {
            "$ref": "#/components/parameters/topic"
          },
          {
            "$ref": "#/components/parameters/Idempotency-Key"
          }
        ],
        "requestBody": {
          "required": false,
          "content": {
            "application/json": {
              "schema": {
                "$ref": "#/components/schemas/PreviewPublish"
              },
              "examples": {
                "of-one-region": {
                  "summary": "of one region",
                  "value": {
                    "headers": {
                      "region": "us"
                    }
                  }
                }
              }
            }
          }
        },
        "responses": {
          "200": {
            "description": "The queues.",
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/Preview"
                },
                "examples": {
                  "two": {
                    "summary": "two",
                    "value": {
                      "queues": [
                        "search"
                      ],
                      "filtered": [
                        "billing"
                      ]
                    }
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/invalid_request-or-invalid_json"
          },
          "401": {
            "$ref": "#/components/responses/unauthorized"
          },
          "403": {
            "$ref": "#/components/responses/forbidden"
          },
          "408": {
            "$ref": "#/components/responses/body_too_slow"
          },
          "413": {
            "$ref": "#/components/responses/payload_too_large"
          },
          "415": {
            "$ref": "#/components/responses/unsupported_media_type"
          },
          "500": {
            "$ref": "#/components/responses/internal"
          },
          "502": {
            "$ref": "#/components/responses/redis_unauthorized-or-redis_error-or-unexpected_reply"
          },
          "503": {
            "$ref": "#/components/responses/redis_quota-or-redis_not_writable-or-newer_schema-or-auth_not_configured-or-misconfigured"
          },
          "504": {
            "$ref": "#/components/responses/redis_unreachable"
          }
        }
      }
    },
    "/v1/topics": {
      "get": {
        "operationId": "listTopics",
        "tags": [
          "topics"
        ],
        "summary": "List the subscriptions to all topics",
        "description": "Lists those of the queues for which the token has the scope. Scope: view.",
        "security": [
          {
            "token": [
              "view"
            ]
          }
        ],
        "responses": {
          "200": {
            "description": "The subscriptions.",
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/Topics"
                },
                "examples": {
                  "one": {
                    "summary": "one",
                    "value": {
                      "subscriptions": [
                        {
                          "topic": "orders.#",
                          "queue": "billing",
                          "by": "operator",
                          "filter": [
                            {
                              "header": "region",
                              "in": [
                                "eu"
                              ]
                            }
                          ]
                        }
                      ]
                    }
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/invalid_request"
          },
          "401": {
            "$ref": "#/components/responses/unauthorized"
          },
          "403": {
            "$ref": "#/components/responses/forbidden"
          },
          "500": {
            "$ref": "#/components/responses/internal"
          },
          "502": {
            "$ref": "#/components/responses/redis_unauthorized-or-redis_error-or-unexpected_reply"
          },
          "503": {
            "$ref": "#/components/responses/redis_quota-or-redis_not_writable-or-newer_schema-or-auth_not_configured-or-misconfigured"
          },
          "504": {
            "$ref": "#/components/responses/redis_unreachable"
          }
        }
      }
    },
    "/v1/topics/{topic}": {
      "get": {
        "operationId": "getTopic",
        "tags": [
          "topics"
        ],
        "summary": "Get the subscriptions to a topic",
        "description": "Lists those of the queues for which the token has the scope, also by patterns that match the topic, and for how long the topic keeps its messages. Scope: view.",
        "security": [
          {
            "token": [
              "view"
            ]
          }
        ],
        "parameters": [
          {
            "$ref": "#/components/parameters/topic"
          }
        ],
        "responses": {
          "200": {
            "description": "The subscriptions.",
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/Topic"
                },
                "examples": {
                  "kept": {
                    "summary": "kept",
                    "value": {
                      "topic": "orders",
                      "subscriptions": [
                        {
                          "topic": "orders.#",
                          "queue": "billing",
                          "by": "operator",
                          "filter": [
                            {
                              "header": "region",
                              "in": [
                                "eu"
                              ]
                            }
                          ]
                        }
                      ],
                      "retain": {
                        "for": 86400000,
                        "bytes": 10000000
                      }
                    }
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/invalid_request"
          },
          "401": {
            "$ref": "#/components/responses/unauthorized"
          },
          "403": {
            "$ref": "#/components/responses/forbidden"
          },
          "500": {
            "$ref": "#/components/responses/internal"
          },
          "502": {
            "$ref": "#/components/responses/redis_unauthorized-or-redis_error-or-unexpected_reply"
          },
          "503": {
            "$ref": "#/components/responses/redis_quota-or-redis_not_writable-or-newer_schema-or-auth_not_configured-or-misconfigured"
          },
          "504": {
            "$ref": "#/components/responses/redis_unreachable"
          }
        }
      }
    },
    "/v1/topics/{pattern}/subscriptions/{queue}": {
      "put": {
        "operationId": "subscribe",
        "tags": [
          "topics"
        ],
        "summary": "Subscribe a queue to a topic, or to a pattern",
        "description": "Publishers know of it with their next request. Deployments do not change or remove it. A subscription that is there gets this filter; `since` is for a new one. The token also needs the scope for a queue with the name of the topic, and for a pattern, in which `*` is one word between dots and `#` any number of words, the scope for all queues. Scope: admin.",
        "security": [
          {
            "token": [
              "admin"
            ]
          }
        ],
        "parameters": [
          {
            "$ref": "#/components/parameters/pattern"
          },
          {
            "$ref": "#/components/parameters/queue"
          },
          {
            "$ref": "#/components/parameters/Idempotency-Key"
          }
        ],
        "requestBody": {
          "required": false,
          "content": {
            "application/json": {
              "schema": {
                "$ref": "#/components/schemas/Subscription"
              },
              "examples": {
                "one-region,-and-the-last-two-hours": {
                  "summary": "one region, and the last two hours",
                  "value": {
                    "filter": {
                      "header": "region",
                      "in": [
                        "eu"
                      ]
                    },
                    "since": "2h"
                  }
                }
              }
            }
          }
        },
        "responses": {
          "200": {
            "description": "The subscription was there. It has this filter now.",
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/Subscribed"
                },
                "examples": {
                  "replaced": {
                    "summary": "replaced",
                    "value": {
                      "topic": "orders",
                      "queue": "billing",
                      "created": false
                    }
                  }
                }
              }
            }
          },
          "201": {
            "description": "The queue has subscribed.",
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/Subscribed"
                },
                "examples": {
                  "subscribed": {
                    "summary": "subscribed",
                    "value": {
                      "topic": "orders",
                      "queue": "billing",
                      "created": true,
                      "replayed": {
                        "messages": 120,
                        "more": false
                      }
                    }
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/invalid_request-or-invalid_json"
          },
          "401": {
            "$ref": "#/components/responses/unauthorized"
          },
          "403": {
            "$ref": "#/components/responses/forbidden"
          },
          "408": {
            "$ref": "#/components/responses/body_too_slow"
          },
          "413": {
            "$ref": "#/components/responses/payload_too_large"
          },
          "415": {
            "$ref": "#/components/responses/unsupported_media_type"
          },
          "429": {
            "$ref": "#/components/responses/queue_full"
          },
          "500": {
            "$ref": "#/components/responses/internal"
          },
          "501": {
            "$ref": "#/components/responses/unsupported"
          },
          "502": {
            "$ref": "#/components/responses/redis_unauthorized-or-redis_error-or-unexpected_reply"
          },
          "503": {
            "$ref": "#/components/responses/redis_quota-or-redis_not_writable-or-newer_schema-or-auth_not_configured-or-misconfigured"
          },
          "504": {
            "$ref": "#/components/responses/redis_unreachable"
          }
        }
      },
      "delete": {
        "operationId": "unsubscribe",
        "tags": [
          "topics"
        ],
        "summary": "End a subscription",
        "description": "Publishers know of it within a minute. Tasks of the queue stay. A declared subscription comes back when its declaration changes. Scope: admin.",
        "security": [
          {
            "token": [
              "admin"
            ]
          }
        ],
        "parameters": [
          {
            "$ref": "#/components/parameters/pattern"
          },
          {
            "$ref": "#/components/parameters/queue"
          },
          {
            "$ref": "#/components/parameters/Idempotency-Key"
          }
        ],
        "responses": {
          "200": {
            "description": "The subscription has ended.",
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/Unsubscribed"
                },
                "examples": {
                  "removed": {
                    "summary": "removed",
                    "value": {
                      "topic": "orders",
                      "queue": "billing",
                      "removed": true
                    }
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/invalid_request"
          },
          "401": {
            "$ref": "#/components/responses/unauthorized"
          },
          "403": {
            "$ref": "#/components/responses/forbidden"
          },
          "500": {
            "$ref": "#/components/responses/internal"
          },
          "502": {
            "$ref": "#/components/responses/redis_unauthorized-or-redis_error-or-unexpected_reply"
          },
          "503": {
            "$ref": "#/components/responses/redis_quota-or-redis_not_writable-or-newer_schema-or-auth_not_configured-or-misconfigured"
          },
          "504": {
            "$ref": "#/components/responses/redis_unreachable"
          }
        }
      }
    },
    "/v1/topics/{topic}/subscriptions/{queue}/replay": {
      "post": {
        "operationId": "replayTopic",
        "tags": [
          "topics"
        ],
        "summary": "Give a queue what the topic has kept",
        "description": "Adds the messages that the topic has kept and that pass the filters of the queue, with their ids: what the queue still knows, it does not get again. If `more`, the next sweeps continue; do not send it again. The token also needs the scope for a queue with the name of the topic. Scope: admin.",
        "security": [
          {
            "token": [
              "admin"
            ]
          }
        ],
        "parameters": [
          {
            "$ref": "#/components/parameters/topic"
          },
          {
            "$ref": "#/components/parameters/queue"
          },
          {
            "$ref": "#/components/parameters/Idempotency-Key"
          }
        ],
        "requestBody": {
          "required": true,
          "content": {
            "application/json": {
              "schema": {
                "$ref": "#/components/schemas/ReplayTopic"
              },
              "examples": {
                "the-last-two-hours": {
                  "summary": "the last two hours",
                  "value": {
                    "since": "2h"
                  }
                }
              }
            }
          }
        },
        "responses": {
          "200": {
            "description": "The queue has got them.",
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/TopicReplayed"
                },
                "examples": {
                  "done": {
                    "summary": "done",
                    "value": {
                      "topic": "orders",
                      "queue": "billing",
                      "messages": 120,
                      "more": false
                    }
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/invalid_request-or-invalid_json"
          },
          "401": {
            "$ref": "#/components/responses/unauthorized"
          },
          "403": {
            "$ref": "#/components/responses/forbidden"
          },
          "404": {
            "$ref": "#/components/responses/not_found"
          },
          "408": {
            "$ref": "#/components/responses/body_too_slow"
          },
          "413": {
            "$ref": "#/components/responses/payload_too_large"
          },
          "415": {
            "$ref": "#/components/responses/unsupported_media_type"
          },
          "429": {
            "$ref": "#/components/responses/queue_full"
          },
          "500": {
            "$ref": "#/components/responses/internal"
          },
          "501": {
            "$ref": "#/components/responses/unsupported"
          },
          "502": {
            "$ref": "#/components/responses/redis_unauthorized-or-redis_error-or-unexpected_reply"
          },
          "503": {
            "$ref": "#/components/responses/redis_quota-or-redis_not_writable-or-newer_schema-or-auth_not_configured-or-misconfigured"
          },
          "504": {
            "$ref": "#/components/responses/redis_unreachable"
          }
        }
      }
    },
    "/v1/endpoints": {
      "get": {
        "operationId": "listEndpoints",
        "tags": [
          "endpoints"
        ],
        "summary": "List the endpoints",
        "description": "By their ids. All routes of endpoints need a token for the queue of the deliveries, `deliveries` unless the server sets another one. Scope: view.",
        "security": [
          {
            "token": [
              "view"
            ]
          }
        ],
        "parameters": [
          {
            "name": "cursor",
            "in": "query",
            "required": false,
            "description": "Where to continue: the `cursor` of the previous page.",
            "schema": {
              "type": "string",
              "minLength": 1
            }
          },
          {
            "name": "size",
            "in": "query",
            "required": false,
            "description": "At most this many endpoints per page. Default 100.",
            "schema": {
              "type": "integer",
              "minimum": 1,
              "maximum": 1000
            }
          }
        ],
        "responses": {
          "200": {
            "description": "A page of endpoints.",
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/Endpoints"
                },
                "examples": {
                  "some": {
                    "summary": "some",
                    "value": {
                      "queue": "deliveries",
                      "endpoints": [
                        {
                          "id": "acme",
                          "url": "https://acme.example/hooks",
                          "types": [
                            "orders.*"
                          ],
                          "description": null,
                          "rate": null,
                          "maxWorking": 5,
                          "order": null,
                          "headers": [],
                          "secrets": [
                            {
                              "endsWith": "Jw0=",
                              "validUntil": null
                            }
                          ],
                          "createdAt": 1792800000000,
                          "state": "active",
                          "disabledReason": null,
                          "disabledAt": null,
                          "failingSince": null,
                          "retryAt": null
                        }
                      ],
                      "cursor": null
                    }
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/invalid_request"
          },
          "401": {
            "$ref": "#/components/responses/unauthorized"
          },
          "403": {
            "$ref": "#/components/responses/forbidden"
          },
          "500": {
            "$ref": "#/components/responses/internal"
          },
          "502": {
            "$ref": "#/components/responses/redis_unauthorized-or-redis_error-or-unexpected_reply"
          },
          "503": {
            "$ref": "#/components/responses/redis_quota-or-redis_not_writable-or-newer_schema-or-auth_not_configured-or-misconfigured"
          },
          "504": {
            "$ref": "#/components/responses/redis_unreachable"
          }
        }
      },
      "post": {
        "operationId": "addEndpoint",
        "tags": [
          "endpoints"
        ],
        "summary": "Add an endpoint",
        "description": "The response has the secret that signs its deliveries. It is never shown again. If the id is known, nothing changes. Scope: admin.",
        "security": [
          {
            "token": [
              "admin"
            ]
          }
        ],
        "parameters": [
          {
            "$ref": "#/components/parameters/Idempotency-Key"
          }
        ],
        "requestBody": {
          "required": true,
          "content": {
            "application/json": {
              "schema": {
                "$ref": "#/components/schemas/NewEndpoint"
              },
              "examples": {
                "acme": {
                  "summary": "acme",
                  "value": {
                    "id": "acme",
                    "url": "https://acme.example/hooks",
                    "types": [
                      "orders.*"
                    ],
                    "maxWorking": 5
                  }
                }
              }
            }
          }
        },
        "responses": {
          "200": {
            "description": "There was an endpoint with this id.",
            "headers": {
              "Location": {
                "$ref": "#/components/headers/Location"
              }
            },
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/EndpointAdded"
                },
                "examples": {
                  "known": {
                    "summary": "known",
                    "value": {
                      "id": "acme",
                      "url": "https://acme.example/hooks",
                      "types": [
                        "orders.*"
                      ],
                      "description": null,
                      "rate": null,
                      "maxWorking": 5,
                      "order": null,
                      "headers": [],
                      "secrets": [
                        {
                          "endsWith": "Jw0=",
                          "validUntil": null
                        }
                      ],
                      "createdAt": 1792800000000,
                      "state": "active",
                      "disabledReason": null,
                      "disabledAt": null,
                      "failingSince": null,
                      "retryAt": null,
                      "created": false
                    }
                  }
                }
              }
            }
          },
          "201": {
            "description": "The endpoint was added.",
            "headers": {
              "Location": {
                "$ref": "#/components/headers/Location"
              }
            },
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/EndpointAdded"
                },
                "examples": {
                  "added": {
                    "summary": "added",
                    "value": {
                      "id": "acme",
                      "url": "https://acme.example/hooks",
                      "types": [
                        "orders.*"
                      ],
                      "description": null,
                      "rate": null,
                      "maxWorking": 5,
                      "order": null,
                      "headers": [],
                      "secrets": [
                        {
                          "endsWith": "Jw0=",
                          "validUntil": null
                        }
                      ],
                      "createdAt": 1792800000000,
                      "state": "active",
                      "disabledReason": null,
                      "disabledAt": null,
                      "failingSince": null,
                      "retryAt": null,
                      "created": true,
                      "secret": "whsec_8rC2vPbH3YdJ6nT0KqLwZx5mAeGfUs1oIiQp9RtBJw0="
                    }
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/invalid_request-or-invalid_json"
          },
          "401": {
            "$ref": "#/components/responses/unauthorized"
          },
          "403": {
            "$ref": "#/components/responses/forbidden"
          },
          "404": {
            "$ref": "#/components/responses/not_found"
          },
          "408": {
            "$ref": "#/components/responses/body_too_slow"
          },
          "413": {
            "$ref": "#/components/responses/payload_too_large"
          },
          "415": {
            "$ref": "#/components/responses/unsupported_media_type"
          },
          "500": {
            "$ref": "#/components/responses/internal"
          },
          "502": {
            "$ref": "#/components/responses/redis_unauthorized-or-redis_error-or-unexpected_reply"
          },
          "503": {
            "$ref": "#/components/responses/redis_quota-or-redis_not_writable-or-newer_schema-or-auth_not_configured-or-misconfigured"
          },
          "504": {
            "$ref": "#/components/responses/redis_unreachable"
          }
        }
      }
    },
    "/v1/endpoints/{endpoint}": {
      "get": {
        "operationId": "getEndpoint",
        "tags": [
          "endpoints"
        ],
        "summary": "Get an endpoint",
        "description": "What it is, and what has become of its deliveries. Scope: view.",
        "security": [
          {
            "token": [
              "view"
            ]
          }
        ],
        "parameters": [
          {
            "$ref": "#/components/parameters/endpoint"
          }
        ],
        "responses": {
          "200": {
            "description": "The endpoint.",
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/Endpoint"
                },
                "examples": {
                  "open": {
                    "summary": "open",
                    "value": {
                      "id": "acme",
                      "url": "https://acme.example/hooks",
                      "types": [
                        "orders.*"
                      ],
                      "description": null,
                      "rate": null,
                      "maxWorking": 5,
                      "order": null,
                      "headers": [],
                      "secrets": [
                        {
                          "endsWith": "Jw0=",
                          "validUntil": null
                        }
                      ],
                      "createdAt": 1792800000000,
                      "state": "open",
                      "disabledReason": null,
                      "disabledAt": null,
                      "failingSince": 1792800060000,
                      "retryAt": 1792800095000
                    }
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/invalid_request"
          },
          "401": {
            "$ref": "#/components/responses/unauthorized"
          },
          "403": {
            "$ref": "#/components/responses/forbidden"
          },
          "404": {
            "$ref": "#/components/responses/not_found"
          },
          "500": {
            "$ref": "#/components/responses/internal"
          },
          "502": {
            "$ref": "#/components/responses/redis_unauthorized-or-redis_error-or-unexpected_reply"
          },
          "503": {
            "$ref": "#/components/responses/redis_quota-or-redis_not_writable-or-newer_schema-or-auth_not_configured-or-misconfigured"
          },
          "504": {
            "$ref": "#/components/responses/redis_unreachable"
          }
        }
      },
      "patch": {
        "operationId": "changeEndpoint",
        "tags": [
          "endpoints"
        ],
        "summary": "Change an endpoint",
        "description": "Consumers follow within ten seconds. Headers are replaced as a whole. Scope: admin.",
        "security": [
          {
            "token": [
              "admin"
            ]
          }
        ],
        "parameters": [
          {
            "$ref": "#/components/parameters/endpoint"
          },
          {
            "$ref": "#/components/parameters/Idempotency-Key"
          }
        ],
        "requestBody": {
          "required": true,
          "content": {
            "application/json": {
              "schema": {
                "$ref": "#/components/schemas/EndpointChanges"
              },
              "examples": {
                "slower": {
                  "summary": "slower",
                  "value": {
                    "rate": {
                      "most": 5,
                      "per": "1s"
                    }
                  }
                }
              }
            }
          }
        },
        "responses": {
          "200": {
            "description": "The endpoint.",
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/Endpoint"
                },
                "examples": {
                  "changed": {
                    "summary": "changed",
                    "value": {
                      "id": "acme",
                      "url": "https://acme.example/hooks",
                      "types": [
                        "orders.*"
                      ],
                      "description": null,
                      "rate": {
                        "most": 5,
                        "per": 1000
                      },
                      "maxWorking": 5,
                      "order": null,
                      "headers": [],
                      "secrets": [
                        {
                          "endsWith": "Jw0=",
                          "validUntil": null
                        }
                      ],
                      "createdAt": 1792800000000,
                      "state": "active",
                      "disabledReason": null,
                      "disabledAt": null,
                      "failingSince": null,
                      "retryAt": null
                    }
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/invalid_request-or-invalid_json"
          },
          "401": {
            "$ref": "#/components/responses/unauthorized"
          },
          "403": {
            "$ref": "#/components/responses/forbidden"
          },
          "404": {
            "$ref": "#/components/responses/not_found"
          },
          "408": {
            "$ref": "#/components/responses/body_too_slow"
          },
          "413": {
            "$ref": "#/components/responses/payload_too_large"
          },
          "415": {
            "$ref": "#/components/responses/unsupported_media_type"
          },
          "500": {
            "$ref": "#/components/responses/internal"
          },
          "502": {
            "$ref": "#/components/responses/redis_unauthorized-or-redis_error-or-unexpected_reply"
          },
          "503": {
            "$ref": "#/components/responses/redis_quota-or-redis_not_writable-or-newer_schema-or-auth_not_configured-or-misconfigured"
          },
          "504": {
            "$ref": "#/components/responses/redis_unreachable"
          }
        }
      },
      "delete": {
        "operationId": "removeEndpoint",
        "tags": [
          "endpoints"
        ],
        "summary": "Remove an endpoint",
        "description": "Deliveries that wait for it become dead letters. Scope: admin.",
        "security": [
          {
            "token": [
              "admin"
            ]
          }
        ],
        "parameters": [
          {
            "$ref": "#/components/parameters/endpoint"
          },
          {
            "$ref": "#/components/parameters/Idempotency-Key"
          }
        ],
        "responses": {
          "200": {
            "description": "The endpoint is removed.",
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/EndpointRemoved"
                },
                "examples": {
                  "removed": {
                    "summary": "removed",
                    "value": {
                      "id": "acme",
                      "removed": true
                    }
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/invalid_request"
          },
          "401": {
            "$ref": "#/components/responses/unauthorized"
          },
          "403": {
            "$ref": "#/components/responses/forbidden"
          },
          "404": {
            "$ref": "#/components/responses/not_found"
          },
          "500": {
            "$ref": "#/components/responses/internal"
          },
          "502": {
            "$ref": "#/components/responses/redis_unauthorized-or-redis_error-or-unexpected_reply"
          },
          "503": {
            "$ref": "#/components/responses/redis_quota-or-redis_not_writable-or-newer_schema-or-auth_not_configured-or-misconfigured"
          },
          "504": {
            "$ref": "#/components/responses/redis_unreachable"
          }
        }
      }
    },
    "/v1/endpoints/{endpoint}/disable": {
      "post": {
        "operationId": "disableEndpoint",
        "tags": [
          "endpoints"
        ],
        "summary": "Disable an endpoint",
        "description": "Its deliveries become dead letters, and can be replayed. Scope: admin.",
        "security": [
          {
            "token": [
              "admin"
            ]
          }
        ],
        "parameters": [
          {
            "$ref": "#/components/parameters/endpoint"
          },
          {
            "$ref": "#/components/parameters/Idempotency-Key"
          }
        ],
        "responses": {
          "200": {
            "description": "The endpoint.",
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/Endpoint"
                },
                "examples": {
                  "disabled": {
                    "summary": "disabled",
                    "value": {
                      "id": "acme",
                      "url": "https://acme.example/hooks",
                      "types": [
                        "orders.*"
                      ],
                      "description": null,
                      "rate": null,
                      "maxWorking": 5,
                      "order": null,
                      "headers": [],
                      "secrets": [
                        {
                          "endsWith": "Jw0=",
                          "validUntil": null
                        }
                      ],
                      "createdAt": 1792800000000,
                      "state": "disabled",
                      "disabledReason": "operator",
                      "disabledAt": 1792800090000,
                      "failingSince": null,
                      "retryAt": null
                    }
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/invalid_request-or-invalid_json"
          },
          "401": {
            "$ref": "#/components/responses/unauthorized"
          },
          "403": {
            "$ref": "#/components/responses/forbidden"
          },
          "404": {
            "$ref": "#/components/responses/not_found"
          },
          "408": {
            "$ref": "#/components/responses/body_too_slow"
          },
          "413": {
            "$ref": "#/components/responses/payload_too_large"
          },
          "415": {
            "$ref": "#/components/responses/unsupported_media_type"
          },
          "500": {
            "$ref": "#/components/responses/internal"
          },
          "502": {
            "$ref": "#/components/responses/redis_unauthorized-or-redis_error-or-unexpected_reply"
          },
          "503": {
            "$ref": "#/components/responses/redis_quota-or-redis_not_writable-or-newer_schema-or-auth_not_configured-or-misconfigured"
          },
          "504": {
            "$ref": "#/components/responses/redis_unreachable"
          }
        }
      }
    },
    "/v1/endpoints/{endpoint}/enable": {
      "post": {
        "operationId": "enableEndpoint",
        "tags": [
          "endpoints"
        ],
        "summary": "Enable an endpoint",
        "description": "It goes on as if no delivery had failed. What failed before is not delivered again: replay it. Scope: admin.",
        "security": [
          {
            "token": [
              "admin"
            ]
          }
        ],
        "parameters": [
          {
            "$ref": "#/components/parameters/endpoint"
          },
          {
            "$ref": "#/components/parameters/Idempotency-Key"
          }
        ],
        "responses": {
          "200": {
            "description": "The endpoint.",
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/Endpoint"
                },
                "examples": {
                  "enabled": {
                    "summary": "enabled",
                    "value": {
                      "id": "acme",
                      "url": "https://acme.example/hooks",
                      "types": [
                        "orders.*"
                      ],
                      "description": null,
                      "rate": null,
                      "maxWorking": 5,
                      "order": null,
                      "headers": [],
                      "secrets": [
                        {
                          "endsWith": "Jw0=",
                          "validUntil": null
                        }
                      ],
                      "createdAt": 1792800000000,
                      "state": "active",
                      "disabledReason": null,
                      "disabledAt": null,
                      "failingSince": null,
                      "retryAt": null
                    }
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/invalid_request-or-invalid_json"
          },
          "401": {
            "$ref": "#/components/responses/unauthorized"
          },
          "403": {
            "$ref": "#/components/responses/forbidden"
          },
          "404": {
            "$ref": "#/components/responses/not_found"
          },
          "408": {
            "$ref": "#/components/responses/body_too_slow"
          },
          "413": {
            "$ref": "#/components/responses/payload_too_large"
          },
          "415": {
            "$ref": "#/components/responses/unsupported_media_type"
          },
          "500": {
            "$ref": "#/components/responses/internal"
          },
          "502": {
            "$ref": "#/components/responses/redis_unauthorized-or-redis_error-or-unexpected_reply"
          },
          "503": {
            "$ref": "#/components/responses/redis_quota-or-redis_not_writable-or-newer_schema-or-auth_not_configured-or-misconfigured"
          },
          "504": {
            "$ref": "#/components/responses/redis_unreachable"
          }
        }
      }
    },
    "/v1/endpoints/{endpoint}/rotate": {
      "post": {
        "operationId": "rotateEndpoint",
        "tags": [
          "endpoints"
        ],
        "summary": "Give an endpoint another secret",
        "description": "For a time the secret before signs too: a delivery then has both signatures. Scope: admin.",
        "security": [
          {
            "token": [
              "admin"
            ]
          }
        ],
        "parameters": [
          {
            "$ref": "#/components/parameters/endpoint"
          },
          {
            "$ref": "#/components/parameters/Idempotency-Key"
          }
        ],
        "requestBody": {
          "required": false,
          "content": {
            "application/json": {
              "schema": {
                "$ref": "#/components/schemas/Rotation"
              },
              "examples": {
                "for-an-hour": {
                  "summary": "for an hour",
                  "value": {
                    "keep": "1h"
                  }
                }
              }
            }
          }
        },
        "responses": {
          "200": {
            "description": "The endpoint with its new secret.",
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/EndpointWithSecret"
                },
                "examples": {
                  "rotated": {
                    "summary": "rotated",
                    "value": {
                      "id": "acme",
                      "url": "https://acme.example/hooks",
                      "types": [
                        "orders.*"
                      ],
                      "description": null,
                      "rate": null,
                      "maxWorking": 5,
                      "order": null,
                      "headers": [],
                      "secrets": [
                        {
                          "endsWith": "Jw0=",
                          "validUntil": null
                        },
                        {
                          "endsWith": "4fE=",
                          "validUntil": 1792803600000
                        }
                      ],
                      "createdAt": 1792800000000,
                      "state": "active",
                      "disabledReason": null,
                      "disabledAt": null,
                      "failingSince": null,
                      "retryAt": null,
                      "secret": "whsec_8rC2vPbH3YdJ6nT0KqLwZx5mAeGfUs1oIiQp9RtBJw0="
                    }
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/invalid_request-or-invalid_json"
          },
          "401": {
            "$ref": "#/components/responses/unauthorized"
          },
          "403": {
            "$ref": "#/components/responses/forbidden"
          },
          "404": {
            "$ref": "#/components/responses/not_found"
          },
          "408": {
            "$ref": "#/components/responses/body_too_slow"
          },
          "413": {
            "$ref": "#/components/responses/payload_too_large"
          },
          "415": {
            "$ref": "#/components/responses/unsupported_media_type"
          },
          "500": {
            "$ref": "#/components/responses/internal"
          },
          "502": {
            "$ref": "#/components/responses/redis_unauthorized-or-redis_error-or-unexpected_reply"
          },
          "503": {
            "$ref": "#/components/responses/redis_quota-or-redis_not_writable-or-newer_schema-or-auth_not_configured-or-misconfigured"
          },
          "504": {
            "$ref": "#/components/responses/redis_unreachable"
          }
        }
      }
    },
    "/v1/endpoints/{endpoint}/replay": {
      "post": {
        "operationId": "replayEndpoint",
        "tags": [
          "endpoints"
        ],
        "summary": "Deliver again what failed",
        "description": "Makes the dead letters of the endpoint pending again that died in a time. A disabled endpoint is refused. Scope: admin.",
        "security": [
          {
            "token": [
              "admin"
            ]
          }
        ],
        "parameters": [
          {
            "$ref": "#/components/parameters/endpoint"
          },
          {
            "$ref": "#/components/parameters/Idempotency-Key"
          }
        ],
        "requestBody": {
          "required": true,
          "content": {
            "application/json": {
              "schema": {
                "$ref": "#/components/schemas/Replay"
              },
              "examples": {
                "of-an-hour": {
                  "summary": "of an hour",
                  "value": {
                    "since": 1792800000000,
                    "until": 1792803600000,
                    "rate": 10
                  }
                }
              }
            }
          }
        },
        "responses": {
          "200": {
            "description": "What was replayed.",
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/Replayed"
                },
                "examples": {
                  "done": {
                    "summary": "done",
                    "value": {
                      "replayed": 12,
                      "cursor": null,
                      "unreadable": 0
                    }
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/invalid_request-or-invalid_json"
          },
          "401": {
            "$ref": "#/components/responses/unauthorized"
          },
          "403": {
            "$ref": "#/components/responses/forbidden"
          },
          "404": {
            "$ref": "#/components/responses/not_found"
          },
          "408": {
            "$ref": "#/components/responses/body_too_slow"
          },
          "413": {
            "$ref": "#/components/responses/payload_too_large"
          },
          "415": {
            "$ref": "#/components/responses/unsupported_media_type"
          },
          "500": {
            "$ref": "#/components/responses/internal"
          },
          "502": {
            "$ref": "#/components/responses/redis_unauthorized-or-redis_error-or-unexpected_reply"
          },
          "503": {
            "$ref": "#/components/responses/redis_quota-or-redis_not_writable-or-newer_schema-or-auth_not_configured-or-misconfigured"
          },
          "504": {
            "$ref": "#/components/responses/redis_unreachable"
          }
        }
      }
    },
    "/v1/endpoints/send": {
      "post": {
        "operationId": "sendEvent",
        "tags": [
          "endpoints"
        ],
        "summary": "Deliver an event to endpoints",
        "description": "Adds a task for each endpoint whose types match. A repeated request with the event's id, or with the same `Idempotency-Key`, adds only what is missing. Scope: enqueue.",
        "security": [
          {
            "token": [
              "enqueue"
            ]
          }
        ],
        "parameters": [
          {
            "$ref": "#/components/parameters/Idempotency-Key"
          }
        ],
        "requestBody": {
          "required": true,
          "content": {
            "application/json": {
              "schema": {
                "$ref": "#/components/schemas/NewEvent"
              },
              "examples": {
                "paid": {
                  "summary": "paid",
                  "value": {
                    "type": "orders.paid",
                    "id": "order-17",
                    "payload": {
                      "order": 17
                    }
                  }
                }
              }
            }
          }
        },
        "responses": {
          "200": {
            "description": "No delivery was added: the event was sent before, or no endpoint gets it.",
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/EventSent"
                },
                "examples": {
                  "none": {
                    "summary": "none",
                    "value": {
                      "id": "order-17",
                      "deliveries": []
                    }
                  }
                }
              }
            }
          },
          "201": {
            "description": "Deliveries were added.",
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/EventSent"
                },
                "examples": {
                  "sent": {
                    "summary": "sent",
                    "value": {
                      "id": "order-17",
                      "deliveries": [
                        {
                          "endpoint": "acme",
                          "id": "order-17.{acme}",
                          "created": true
                        }
                      ]
                    }
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/invalid_request-or-invalid_json"
          },
          "401": {
            "$ref": "#/components/responses/unauthorized"
          },
          "403": {
            "$ref": "#/components/responses/forbidden"
          },
          "408": {
            "$ref": "#/components/responses/body_too_slow"
          },
          "413": {
            "$ref": "#/components/responses/payload_too_large"
          },
          "415": {
            "$ref": "#/components/responses/unsupported_media_type"
          },
          "429": {
            "$ref": "#/components/responses/queue_full"
          },
          "500": {
            "$ref": "#/components/responses/internal"
          },
          "502": {
            "$ref": "#/components/responses/redis_unauthorized-or-redis_error-or-unexpected_reply"
          },
          "503": {
            "$ref": "#/components/responses/redis_quota-or-redis_not_writable-or-newer_schema-or-auth_not_configured-or-misconfigured"
          },
          "504": {
            "$ref": "#/components/responses/redis_unreachable"
          }
        }
      }
    },
    "/v1/queues": {
      "get": {
        "operationId": "listQueues",
        "tags": [
          "queues"
        ],
        "summary": "List the queues",
        "description": "Lists the queues for which the token has the scope `view`. A page can be short or empty although more follow: continue with `cursor`. With `counts=true`, each queue of the page costs 11 to 13 Redis commands more, and 3 more if its next task is cancelled; all of them are read in one request. Scope: view.",
        "security": [
          {
            "token": [
              "view"
            ]
          }
        ],
        "parameters": [
          {
            "name": "cursor",
            "in": "query",
            "required": false,
            "description": "Where to continue: the `cursor` of the previous page.",
            "schema": {
              "type": "string",
              "minLength": 1
            }
          },
          {
            "name": "size",
            "in": "query",
            "required": false,
            "description": "About this many queues per page. Default 100.",
            "schema": {
              "type": "integer",
              "minimum": 1,
              "maximum": 1000
            }
          },
          {
            "name": "counts",
            "in": "query",
            "required": false,
            "description": "True counts the tasks of each queue, as `GET /v1/queues/{queue}` does. Default false.",
            "schema": {
              "type": "boolean"
            }
          }
        ],
        "responses": {
          "200": {
            "description": "A page of queues.",
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/Queues"
                },
                "examples": {
                  "some": {
                    "summary": "some",
                    "value": {
                      "queues": [
                        {
                          "name": "emails",
                          "seenAt": 1792800000000
                        }
                      ],
                      "cursor": null
                    }
                  },
                  "with-counts": {
                    "summary": "with counts",
                    "value": {
                      "queues": [
                        {
                          "name": "emails",
                          "seenAt": 1792800000000,
                          "counts": {
                            "pending": 120,
                            "delayed": 7,
                            "working": 10,
                            "blocked": 3,
                            "rejected": 2,
                            "oldestAge": 4300,
                            "nextDueAt": 1792800030000,
                            "broken": 0,
                            "workers": 2,
                            "paused": false,
                            "pausedUntil": null,
                            "stoppedGroups": 0
                          }
                        }
                      ],
                      "cursor": null
                    }
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/invalid_request"
          },
          "401": {
            "$ref": "#/components/responses/unauthorized"
          },
          "403": {
            "$ref": "#/components/responses/forbidden"
          },
          "500": {
            "$ref": "#/components/responses/internal"
          },
          "502": {
            "$ref": "#/components/responses/redis_unauthorized-or-redis_error-or-unexpected_reply"
          },
          "503": {
            "$ref": "#/components/responses/redis_quota-or-redis_not_writable-or-newer_schema-or-auth_not_configured-or-misconfigured"
          },
          "504": {
            "$ref": "#/components/responses/redis_unreachable"
          }
        }
      }
    },
    "/v1/queues/{queue}": {
      "get": {
        "operationId": "getQueue",
        "tags": [
          "queues"
        ],
        "summary": "Get the counts of a queue",
        "description": "For a queue that does not exist, all counts are 0. Scope: view.",
        "security": [
          {
            "token": [
              "view"
            ]
          }
        ],
        "parameters": [
          {
            "$ref": "#/components/parameters/queue"
          }
        ],
        "responses": {
          "200": {
            "description": "The counts.",
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/Queue"
                },
                "examples": {
                  "some": {
                    "summary": "some",
                    "value": {
                      "queue": "emails",
                      "pending": 120,
                      "delayed": 7,
                      "working": 10,
                      "blocked": 3,
                      "rejected": 2,
                      "oldestAge": 4300,
                      "nextDueAt": 1792800030000,
                      "broken": 0,
                      "workers": 2,
                      "paused": false,
                      "pausedUntil": null,
                      "stoppedGroups": 0
                    }
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/invalid_request"
          },
          "401": {
            "$ref": "#/components/responses/unauthorized"
          },
          "403": {
            "$ref": "#/components/responses/forbidden"
          },
          "500": {
            "$ref": "#/components/responses/internal"
          },
          "502": {
            "$ref": "#/components/responses/redis_unauthorized-or-redis_error-or-unexpected_reply"
          },
          "503": {
            "$ref": "#/components/responses/redis_quota-or-redis_not_writable-or-newer_schema-or-auth_not_configured-or-misconfigured"
          },
          "504": {
            "$ref": "#/components/responses/redis_unreachable"
          }
        }
      },
      "delete": {
        "operationId": "deleteQueue",
        "tags": [
          "queues"
        ],
        "summary": "Delete a queue and everything in it",
        "description": "Deletes tasks, results, dead letters, settings and schedules. It is refused while tasks are working, unless `force=true`. Deleting a queue that does not exist succeeds. A later enqueue creates the queue again. Scope: admin.",
        "security": [
          {
            "token": [
              "admin"
            ]
          }
        ],
        "parameters": [
          {
            "$ref": "#/components/parameters/queue"
          },
          {
            "name": "force",
            "in": "query",
            "required": false,
            "description": "True deletes the queue even if tasks are working. Their holders get `lease_lost`.",
            "schema": {
              "type": "boolean"
            }
          },
          {
            "$ref": "#/components/parameters/Idempotency-Key"
          }
        ],
        "responses": {
          "200": {
            "description": "The queue is deleted.",
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/QueueDeleted"
                },
                "examples": {
                  "deleted": {
                    "summary": "deleted",
                    "value": {
                      "queue": "emails",
                      "deleted": true
                    }
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/invalid_request"
          },
          "401": {
            "$ref": "#/components/responses/unauthorized"
          },
          "403": {
            "$ref": "#/components/responses/forbidden"
          },
          "409": {
            "$ref": "#/components/responses/still_working"
          },
          "500": {
            "$ref": "#/components/responses/internal"
          },
          "502": {
            "$ref": "#/components/responses/redis_unauthorized-or-redis_error-or-unexpected_reply"
          },
          "503": {
            "$ref": "#/components/responses/redis_quota-or-redis_not_writable-or-newer_schema-or-auth_not_configured-or-misconfigured"
          },
          "504": {
            "$ref": "#/components/responses/redis_unreachable"
          }
        }
      }
    },
    "/v1/queues/{queue}/pause": {
      "post": {
        "operationId": "pauseQueue",
        "tags": [
          "queues"
        ],
        "summary": "Pause a queue",
        "description": "Pulls return no tasks and `paused: true` until the queue is resumed, or for a time. Working tasks can be settled, and tasks can be enqueued. Scope: admin.",
        "security": [
          {
            "token": [
              "admin"
            ]
          }
        ],
        "parameters": [
          {
            "$ref": "#/components/parameters/queue"
          },
          {
            "$ref": "#/components/parameters/Idempotency-Key"
          }
        ],
        "requestBody": {
          "required": false,
          "content": {
            "application/json": {
              "schema": {
                "$ref": "#/components/schemas/Pause"
              },
              "examples": {
                "for-five-minutes": {
                  "summary": "for five minutes",
                  "value": {
                    "for": "5m"
                  }
                }
              }
            }
          }
        },
        "responses": {
          "200": {
            "description": "The new settings.",
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/QueueSettings"
                },
                "examples": {
                  "paused": {
                    "summary": "paused",
                    "value": {
                      "paused": true,
                      "pausedUntil": null,
                      "maxWorking": null,
                      "rate": null,
                      "maxPending": 10000,
                      "events": false,
                      "statistics": true,
                      "order": null,
                      "onDead": "continue"
                    }
                  },
                  "for-a-time": {
                    "summary": "for a time",
                    "value": {
                      "paused": true,
                      "pausedUntil": 1792800300000,
                      "maxWorking": null,
                      "rate": null,
                      "maxPending": 10000,
                      "events": false,
                      "statistics": true,
                      "order": null,
                      "onDead": "continue"
                    }
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/invalid_request-or-invalid_json"
          },
          "401": {
            "$ref": "#/components/responses/unauthorized"
          },
          "403": {
            "$ref": "#/components/responses/forbidden"
          },
          "408": {
            "$ref": "#/components/responses/body_too_slow"
          },
          "413": {
            "$ref": "#/components/responses/payload_too_large"
          },
          "415": {
            "$ref": "#/components/responses/unsupported_media_type"
          },
          "500": {
            "$ref": "#/components/responses/internal"
          },
          "502": {
            "$ref": "#/components/responses/redis_unauthorized-or-redis_error-or-unexpected_reply"
          },
          "503": {
            "$ref": "#/components/responses/redis_quota-or-redis_not_writable-or-newer_schema-or-auth_not_configured-or-misconfigured"
          },
          "504": {
            "$ref": "#/components/responses/redis_unreachable"
          }
        }
      }
    },
    "/v1/queues/{queue}/resume": {
      "post": {
        "operationId": "resumeQueue",
        "tags": [
          "queues"
        ],
        "summary": "Resume a paused queue",
        "description": "Pulls return tasks again at once. Scope: admin.",
        "security": [
          {
            "token": [
              "admin"
            ]
          }
        ],
        "parameters": [
          {
            "$ref": "#/components/parameters/queue"
          },
          {
            "$ref": "#/components/parameters/Idempotency-Key"
          }
        ],
        "responses": {
          "200": {
            "description": "The new settings.",
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/QueueSettings"
                },
                "examples": {
                  "running": {
                    "summary": "running",
                    "value": {
                      "paused": false,
                      "pausedUntil": null,
                      "maxWorking": null,
                      "rate": null,
                      "maxPending": 10000,
                      "events": false,
                      "statistics": true,
                      "order": null,
                      "onDead": "continue"
                    }
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/invalid_request-or-invalid_json"
          },
          "401": {
            "$ref": "#/components/responses/unauthorized"
          },
          "403": {
            "$ref": "#/components/responses/forbidden"
          },
          "408": {
            "$ref": "#/components/responses/body_too_slow"
          },
          "413": {
            "$ref": "#/components/responses/payload_too_large"
          },
          "415": {
            "$ref": "#/components/responses/unsupported_media_type"
          },
          "500": {
            "$ref": "#/components/responses/internal"
          },
          "502": {
            "$ref": "#/components/responses/redis_unauthorized-or-redis_error-or-unexpected_reply"
          },
          "503": {
            "$ref": "#/components/responses/redis_quota-or-redis_not_writable-or-newer_schema-or-auth_not_configured-or-misconfigured"
          },
          "504": {
            "$ref": "#/components/responses/redis_unreachable"
          }
        }
      }
    },
    "/v1/queues/{queue}/settings": {
      "get": {
        "operationId": "getSettings",
        "tags": [
          "queues"
        ],
        "summary": "Get the settings of a queue",
        "description": "The settings are stored in Redis and apply to every producer and consumer of the queue. Scope: view.",
        "security": [
          {
            "token": [
              "view"
            ]
          }
        ],
        "parameters": [
          {
            "$ref": "#/components/parameters/queue"
          }
        ],
        "responses": {
          "200": {
            "description": "The settings.",
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/QueueSettings"
                },
                "examples": {
                  "some": {
                    "summary": "some",
                    "value": {
                      "paused": false,
                      "pausedUntil": null,
                      "maxWorking": null,
                      "rate": null,
                      "maxPending": 10000,
                      "events": false,
                      "statistics": true,
                      "order": null,
                      "onDead": "continue"
                    }
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/invalid_request"
          },
          "401": {
            "$ref": "#/components/responses/unauthorized"
          },
          "403": {
            "$ref": "#/components/responses/forbidden"
          },
          "500": {
            "$ref": "#/components/responses/internal"
          },
          "502": {
            "$ref": "#/components/responses/redis_unauthorized-or-redis_error-or-unexpected_reply"
          },
          "503": {
            "$ref": "#/components/responses/redis_quota-or-redis_not_writable-or-newer_schema-or-auth_not_configured-or-misconfigured"
          },
          "504": {
            "$ref": "#/components/responses/redis_unreachable"
          }
        }
      },
      "patch": {
        "operationId": "configureQueue",
        "tags": [
          "queues"
        ],
        "summary": "Change settings of a queue",
        "description": "Fields that are left out keep their value; null removes a setting. Limits apply from the next pull on. Producers apply `maxPending`, `events` and `statistics` within a minute. Scope: admin.",
        "security": [
          {
            "token": [
              "admin"
            ]
          }
        ],
        "parameters": [
          {
            "$ref": "#/components/parameters/queue"
          },
          {
            "$ref": "#/components/parameters/Idempotency-Key"
          }
        ],
        "requestBody": {
          "required": true,
          "content": {
            "application/json": {
              "schema": {
                "$ref": "#/components/schemas/QueueChanges"
              },
              "examples": {
                "limits": {
                  "summary": "limits",
                  "value": {
                    "maxWorking": 50,
                    "rate": {
                      "most": 100,
                      "per": "1m"
                    },
                    "maxPending": 10000
                  }
                },
                "without-limits": {
                  "summary": "without limits",
                  "value": {
                    "maxWorking": null,
                    "rate": null
                  }
                },
                "counts-and-events": {
                  "summary": "counts and events",
                  "value": {
                    "statistics": true,
                    "events": true
                  }
                },
                "a-strict-order": {
                  "summary": "a strict order",
                  "value": {
                    "order": "strict",
                    "onDead": "stop"
                  }
                }
              }
            }
          }
        },
        "responses": {
          "200": {
            "description": "The new settings.",
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/QueueSettings"
                },
                "examples": {
                  "some": {
                    "summary": "some",
                    "value": {
                      "paused": false,
                      "pausedUntil": null,
                      "maxWorking": 50,
                      "rate": {
                        "most": 100,
                        "per": 60000
                      },
                      "maxPending": 10000,
                      "events": false,
                      "statistics": true,
                      "order": null,
                      "onDead": "continue"
                    }
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/invalid_request-or-invalid_json"
          },
          "401": {
            "$ref": "#/components/responses/unauthorized"
          },
          "403": {
            "$ref": "#/components/responses/forbidden"
          },
          "408": {
            "$ref": "#/components/responses/body_too_slow"
          },
          "413": {
            "$ref": "#/components/responses/payload_too_large"
          },
          "415": {
            "$ref": "#/components/responses/unsupported_media_type"
          },
          "500": {
            "$ref": "#/components/responses/internal"
          },
          "501": {
            "$ref": "#/components/responses/unsupported"
          },
          "502": {
            "$ref": "#/components/responses/redis_unauthorized-or-redis_error-or-unexpected_reply"
          },
          "503": {
            "$ref": "#/components/responses/redis_quota-or-redis_not_writable-or-newer_schema-or-auth_not_configured-or-misconfigured"
          },
          "504": {
            "$ref": "#/components/responses/redis_unreachable"
          }
        }
      }
    },
    "/v1/queues/{queue}/groups": {
      "get": {
        "operationId": "listGroups",
        "tags": [
          "queues"
        ],
        "summary": "List the groups that have waiting tasks",
        "description": "Groups with tasks that a pull may return come first, by name. Those all of whose waiting tasks wait for limits follow. Groups with only working or delayed tasks are not listed. A page can be short or empty although more follow: continue with `cursor`. Scope: view.",
        "security": [
          {
            "token": [
              "view"
            ]
          }
        ],
        "parameters": [
          {
            "$ref": "#/components/parameters/queue"
          },
          {
            "name": "cursor",
            "in": "query",
            "required": false,
            "description": "Where to continue: the `cursor` of the previous page.",
            "schema": {
              "type": "string",
              "minLength": 1
            }
          },
          {
            "name": "size",
            "in": "query",
            "required": false,
            "description": "At most this many groups per page. Default 100.",
            "schema": {
              "type": "integer",
              "minimum": 1,
              "maximum": 1000
            }
          }
        ],
        "responses": {
          "200": {
            "description": "A page of groups.",
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/Groups"
                },
                "examples": {
                  "some": {
                    "summary": "some",
                    "value": {
                      "groups": [
                        {
                          "queue": "emails",
                          "group": "tenant-7",
                          "paused": false,
                          "pausedUntil": null,
                          "weight": 2,
                          "maxWorking": null,
                          "rate": null,
                          "order": null,
                          "onDead": null,
                          "ready": 40,
                          "working": 5,
                          "limited": 0,
                          "inLine": 0,
                          "stoppedBy": null
                        }
                      ],
                      "cursor": null
                    }
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/invalid_request"
          },
          "401": {
            "$ref": "#/components/responses/unauthorized"
          },
          "403": {
            "$ref": "#/components/responses/forbidden"
          },
          "500": {
            "$ref": "#/components/responses/internal"
          },
          "502": {
            "$ref": "#/components/responses/redis_unauthorized-or-redis_error-or-unexpected_reply"
          },
          "503": {
            "$ref": "#/components/responses/redis_quota-or-redis_not_writable-or-newer_schema-or-auth_not_configured-or-misconfigured"
          },
          "504": {
            "$ref": "#/components/responses/redis_unreachable"
          }
        }
      }
    },
    "/v1/queues/{queue}/stopped-groups": {
      "get": {
        "operationId": "listStoppedGroups",
        "tags": [
          "queues"
        ],
        "summary": "List the groups that a dead letter has stopped",
        "description": "Of a queue or groups in strict order with `onDead: \"stop\"`. A group goes on when its dead letter is redriven, deleted or skipped. Scope: view.",
        "security": [
          {
            "token": [
              "view"
            ]
          }
        ],
        "parameters": [
          {
            "$ref": "#/components/parameters/queue"
          },
          {
            "name": "cursor",
            "in": "query",
            "required": false,
            "description": "Where to continue: the `cursor` of the previous page.",
            "schema": {
              "type": "string",
              "minLength": 1
            }
          },
          {
            "name": "size",
            "in": "query",
            "required": false,
            "description": "At most this many groups per page. Default 100.",
            "schema": {
              "type": "integer",
              "minimum": 1,
              "maximum": 1000
            }
          }
        ],
        "responses": {
          "200": {
            "description": "A page of groups, by name.",
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/StoppedGroups"
                },
                "examples": {
                  "some": {
                    "summary": "some",
                    "value": {
                      "total": 1,
                      "groups": [
                        {
                          "group": "account-7",
                          "id": "entry-17"
                        }
                      ],
                      "cursor": null
                    }
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/invalid_request"
          },
          "401": {
            "$ref": "#/components/responses/unauthorized"
          },
          "403": {
            "$ref": "#/components/responses/forbidden"
          },
          "500": {
            "$ref": "#/components/responses/internal"
          },
          "502": {
            "$ref": "#/components/responses/redis_unauthorized-or-redis_error-or-unexpected_reply"
          },
          "503": {
            "$ref": "#/components/responses/redis_quota-or-redis_not_writable-or-newer_schema-or-auth_not_configured-or-misconfigured"
          },
          "504": {
            "$ref": "#/components/responses/redis_unreachable"
          }
        }
      }
    },
    "/v1/queues/{queue}/tasks/{id}/skip": {
      "post": {
        "operationId": "skipTask",
        "tags": [
          "tasks"
        ],
        "summary": "Let the group of a dead letter go on",
        "description": "The group that the dead letter has stopped goes on with its next task. The dead letter stays. If it stops no group, nothing changes. Scope: admin.",
        "security": [
          {
            "token": [
              "admin"
            ]
          }
        ],
        "parameters": [
          {
            "$ref": "#/components/parameters/queue"
          },
          {
            "$ref": "#/components/parameters/id"
          },
          {
            "$ref": "#/components/parameters/Idempotency-Key"
          }
        ],
        "responses": {
          "200": {
            "description": "It stops no group now.",
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/Skipped"
                },
                "examples": {
                  "skipped": {
                    "summary": "skipped",
                    "value": {
                      "id": "entry-17",
                      "skipped": true
                    }
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/invalid_request-or-invalid_json"
          },
          "401": {
            "$ref": "#/components/responses/unauthorized"
          },
          "403": {
            "$ref": "#/components/responses/forbidden"
          },
          "404": {
            "$ref": "#/components/responses/not_found"
          },
          "408": {
            "$ref": "#/components/responses/body_too_slow"
          },
          "409": {
            "$ref": "#/components/responses/not_dead_letter"
          },
          "413": {
            "$ref": "#/components/responses/payload_too_large"
          },
          "415": {
            "$ref": "#/components/responses/unsupported_media_type"
          },
          "500": {
            "$ref": "#/components/responses/internal"
          },
          "502": {
            "$ref": "#/components/responses/redis_unauthorized-or-redis_error-or-unexpected_reply"
          },
          "503": {
            "$ref": "#/components/responses/redis_quota-or-redis_not_writable-or-newer_schema-or-auth_not_configured-or-misconfigured"
          },
          "504": {
            "$ref": "#/components/responses/redis_unreachable"
          }
        }
      }
    },
    "/v1/queues/{queue}/groups/{group}": {
      "get": {
        "operationId": "getGroup",
        "tags": [
          "queues"
        ],
        "summary": "Get the settings and counts of a group",
        "description": "An unused group has weight 1, no limits and no tasks. Scope: view.",
        "security": [
          {
            "token": [
              "view"
            ]
          }
        ],
        "parameters": [
          {
            "$ref": "#/components/parameters/queue"
          },
          {
            "$ref": "#/components/parameters/group"
          }
        ],
        "responses": {
          "200": {
            "description": "The group.",
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/Group"
                },
                "examples": {
                  "some": {
                    "summary": "some",
                    "value": {
                      "queue": "emails",
                      "group": "tenant-7",
                      "paused": false,
                      "pausedUntil": null,
                      "weight": 2,
                      "maxWorking": null,
                      "rate": null,
                      "order": null,
                      "onDead": null,
                      "ready": 40,
                      "working": 5,
                      "limited": 0,
                      "inLine": 0,
                      "stoppedBy": null
                    }
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/invalid_request"
          },
          "401": {
            "$ref": "#/components/responses/unauthorized"
          },
          "403": {
            "$ref": "#/components/responses/forbidden"
          },
          "500": {
            "$ref": "#/components/responses/internal"
          },
          "502": {
            "$ref": "#/components/responses/redis_unauthorized-or-redis_error-or-unexpected_reply"
          },
          "503": {
            "$ref": "#/components/responses/redis_quota-or-redis_not_writable-or-newer_schema-or-auth_not_configured-or-misconfigured"
          },
          "504": {
            "$ref": "#/components/responses/redis_unreachable"
          }
        }
      },
      "patch": {
        "operationId": "configureGroup",
        "tags": [
          "queues"
        ],
        "summary": "Change settings of a group",
        "description": "Fields that are left out keep their value; null removes a setting. A group at its limit does not delay other groups. Scope: admin.",
        "security": [
          {
            "token": [
              "admin"
            ]
          }
        ],
        "parameters": [
          {
            "$ref": "#/components/parameters/queue"
          },
          {
            "$ref": "#/components/parameters/group"
          },
          {
            "$ref": "#/components/parameters/Idempotency-Key"
          }
        ],
        "requestBody": {
          "required": true,
          "content": {
            "application/json": {
              "schema": {
                "$ref": "#/components/schemas/GroupChanges"
              },
              "examples": {
                "a-double-share": {
                  "summary": "a double share",
                  "value": {
                    "weight": 2
                  }
                },
                "a-limit": {
                  "summary": "a limit",
                  "value": {
                    "rate": {
                      "most": 10,
                      "per": "1s"
                    }
                  }
                },
                "a-pause-of-five-minutes": {
                  "summary": "a pause of five minutes",
                  "value": {
                    "paused": {
                      "for": "5m"
                    }
                  }
                }
              }
            }
          }
        },
        "responses": {
          "200": {
            "description": "The new settings.",
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/GroupSettings"
                },
                "examples": {
                  "some": {
                    "summary": "some",
                    "value": {
                      "paused": false,
                      "pausedUntil": null,
                      "weight": 2,
                      "maxWorking": null,
                      "rate": null,
                      "order": null,
                      "onDead": null
                    }
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/invalid_request-or-invalid_json"
          },
          "401": {
            "$ref": "#/components/responses/unauthorized"
          },
          "403": {
            "$ref": "#/components/responses/forbidden"
          },
          "408": {
            "$ref": "#/components/responses/body_too_slow"
          },
          "413": {
            "$ref": "#/components/responses/payload_too_large"
          },
          "415": {
            "$ref": "#/components/responses/unsupported_media_type"
          },
          "500": {
            "$ref": "#/components/responses/internal"
          },
          "501": {
            "$ref": "#/components/responses/unsupported"
          },
          "502": {
            "$ref": "#/components/responses/redis_unauthorized-or-redis_error-or-unexpected_reply"
          },
          "503": {
            "$ref": "#/components/responses/redis_quota-or-redis_not_writable-or-newer_schema-or-auth_not_configured-or-misconfigured"
          },
          "504": {
            "$ref": "#/components/responses/redis_unreachable"
          }
        }
      }
    },
    "/v1/queues/{queue}/statistics": {
      "get": {
        "operationId": "getStatistics",
        "tags": [
          "queues"
        ],
        "summary": "Get the events of the last hour, per minute",
        "description": "The number of tasks per event and minute, and the mean of the last five complete minutes, for example to scale consumers. Also how long tasks waited and ran, and the sums of all minutes. The queue counts if its setting `statistics` is on. With `history=true` also the last 24 hours by five minutes. Scope: view.",
        "security": [
          {
            "token": [
              "view"
            ]
          }
        ],
        "parameters": [
          {
            "$ref": "#/components/parameters/queue"
          },
          {
            "name": "history",
            "in": "query",
            "required": false,
            "description": "True includes the last 24 hours by five minutes. Default false.",
            "schema": {
              "type": "boolean"
            }
          }
        ],
        "responses": {
          "200": {
            "description": "The counts.",
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/Statistics"
                },
                "examples": {
                  "some": {
                    "summary": "some",
                    "value": {
                      "queue": "emails",
                      "on": true,
                      "minutes": [
                        {
                          "startsAt": 1792800000000,
                          "enqueued": 30,
                          "dequeued": 28,
                          "completed": 27,
                          "requeued": 1,
                          "rejected": 0,
                          "cancelled": 0,
                          "cancelRequested": 0,
                          "reclaimed": 0,
                          "redriven": 0,
                          "released": 0,
                          "deleted": 0,
                          "attempts": 28,
                          "takenBack": 0,
                          "waits": {
                            "count": 27,
                            "total": 8400,
                            "classes": [
                              0,
                              2,
                              9,
                              12,
                              4,
                              0,
                              0,
                              0,
                              0,
                              0,
                              0,
                              0,
                              0
                            ]
                          },
                          "runs": {
                            "count": 28,
                            "total": 3900,
                            "classes": [
                              0,
                              0,
                              16,
                              12,
                              0,
                              0,
                              0,
                              0,
                              0,
                              0,
                              0,
                              0,
                              0
                            ]
                          },
                          "calls": {
                            "enqueue": 30,
                            "dequeue": 6,
                            "settle": 6,
                            "other": 0
                          }
                        }
                      ],
                      "perMinute": {
                        "enqueued": 29.4,
                        "dequeued": 28.2,
                        "completed": 27.8,
                        "requeued": 0.4,
                        "rejected": 0,
                        "cancelled": 0,
                        "cancelRequested": 0,
                        "reclaimed": 0,
                        "redriven": 0,
                        "released": 0,
                        "deleted": 0
                      },
                      "totals": {
                        "since": 1792800000000,
                        "enqueued": 30,
                        "dequeued": 28,
                        "completed": 27,
                        "requeued": 1,
                        "rejected": 0,
                        "cancelled": 0,
                        "cancelRequested": 0,
                        "reclaimed": 0,
                        "redriven": 0,
                        "released": 0,
                        "deleted": 0,
                        "attempts": 28,
                        "takenBack": 0,
                        "waits": {
                          "count": 27,
                          "total": 8400,
                          "classes": [
                            0,
                            2,
                            9,
                            12,
                            4,
                            0,
                            0,
                            0,
                            0,
                            0,
                            0,
                            0,
                            0
                          ]
                        },
                        "runs": {
                          "count": 28,
                          "total": 3900,
                          "classes": [
                            0,
                            0,
                            16,
                            12,
                            0,
                            0,
                            0,
                            0,
                            0,
                            0,
                            0,
                            0,
                            0
                          ]
                        },
                        "calls": {
                          "enqueue": 30,
                          "dequeue": 6,
                          "settle": 6,
                          "other": 0
                        }
                      }
                    }
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/invalid_request"
          },
          "401": {
            "$ref": "#/components/responses/unauthorized"
          },
          "403": {
            "$ref": "#/components/responses/forbidden"
          },
          "500": {
            "$ref": "#/components/responses/internal"
          },
          "502": {
            "$ref": "#/components/responses/redis_unauthorized-or-redis_error-or-unexpected_reply"
          },
          "503": {
            "$ref": "#/components/responses/redis_quota-or-redis_not_writable-or-newer_schema-or-auth_not_configured-or-misconfigured"
          },
          "504": {
            "$ref": "#/components/responses/redis_unreachable"
          }
        }
      }
    },
    "/v1/queues/{queue}/partitions": {
      "get": {
        "operationId": "listPartitions",
        "tags": [
          "queues"
        ],
        "summary": "List the partitions of a queue",
        "description": "Counts the tasks in each partition. A queue without partitions has one. Scope: view.",
        "security": [
          {
            "token": [
              "view"
            ]
          }
        ],
        "parameters": [
          {
            "$ref": "#/components/parameters/queue"
          }
        ],
        "responses": {
          "200": {
            "description": "The partitions.",
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/Partitions"
                },
                "examples": {
                  "two": {
                    "summary": "two",
                    "value": {
                      "queue": "emails",
                      "count": 2,
                      "changing": false,
                      "partitions": [
                        {
                          "partition": 0,
                          "slots": 128,
                          "pending": 12041,
                          "delayed": 30,
                          "blocked": 0,
                          "working": 8,
                          "rejected": 2
                        },
                        {
                          "partition": 1,
                          "slots": 128,
                          "pending": 11986,
                          "delayed": 30,
                          "blocked": 0,
                          "working": 8,
                          "rejected": 2
                        }
                      ]
                    }
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/invalid_request"
          },
          "401": {
            "$ref": "#/components/responses/unauthorized"
          },
          "403": {
            "$ref": "#/components/responses/forbidden"
          },
          "500": {
            "$ref": "#/components/responses/internal"
          },
          "502": {
            "$ref": "#/components/responses/redis_unauthorized-or-redis_error-or-unexpected_reply"
          },
          "503": {
            "$ref": "#/components/responses/redis_quota-or-redis_not_writable-or-newer_schema-or-auth_not_configured-or-misconfigured"
          },
          "504": {
            "$ref": "#/components/responses/redis_unreachable"
          }
        }
      },
      "put": {
        "operationId": "resizeQueue",
        "tags": [
          "queues"
        ],
        "summary": "Change the number of partitions",
        "description": "The queue stays in use, and no task is lost or delivered twice. Tasks stay in the partition that they are in. If a change stops on the way, the next enqueue or sweep completes it. The number of a deployment's declaration applies again when the declaration changes. Scope: admin.",
        "security": [
          {
            "token": [
              "admin"
            ]
          }
        ],
        "parameters": [
          {
            "$ref": "#/components/parameters/queue"
          },
          {
            "$ref": "#/components/parameters/Idempotency-Key"
          }
        ],
        "requestBody": {
          "required": true,
          "content": {
            "application/json": {
              "schema": {
                "$ref": "#/components/schemas/PartitionCount"
              },
              "examples": {
                "two": {
                  "summary": "two",
                  "value": {
                    "count": 2
                  }
                }
              }
            }
          }
        },
        "responses": {
          "200": {
            "description": "The partitions as they are now.",
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/Partitions"
                },
                "examples": {
                  "of-a-queue-that-is-in-use": {
                    "summary": "of a queue that is in use",
                    "value": {
                      "queue": "emails",
                      "count": 2,
                      "changing": true,
                      "partitions": [
                        {
                          "partition": 0,
                          "slots": 256,
                          "pending": 12041,
                          "delayed": 30,
                          "blocked": 0,
                          "working": 8,
                          "rejected": 2
                        },
                        {
                          "partition": 1,
                          "slots": 0,
                          "pending": 0,
                          "delayed": 0,
                          "blocked": 0,
                          "working": 0,
                          "rejected": 0
                        }
                      ]
                    }
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/invalid_request-or-invalid_json"
          },
          "401": {
            "$ref": "#/components/responses/unauthorized"
          },
          "403": {
            "$ref": "#/components/responses/forbidden"
          },
          "408": {
            "$ref": "#/components/responses/body_too_slow"
          },
          "413": {
            "$ref": "#/components/responses/payload_too_large"
          },
          "415": {
            "$ref": "#/components/responses/unsupported_media_type"
          },
          "500": {
            "$ref": "#/components/responses/internal"
          },
          "502": {
            "$ref": "#/components/responses/redis_unauthorized-or-redis_error-or-unexpected_reply"
          },
          "503": {
            "$ref": "#/components/responses/redis_quota-or-redis_not_writable-or-newer_schema-or-auth_not_configured-or-misconfigured"
          },
          "504": {
            "$ref": "#/components/responses/redis_unreachable"
          }
        }
      }
    },
    "/v1/overview": {
      "get": {
        "operationId": "getOverview",
        "tags": [
          "queues"
        ],
        "summary": "Get the counts, settings and last hour of several queues",
        "description": "For dashboards. All queues are read in one request to Redis; each costs as many commands as its counts. The token needs the scope for each of them. A queue that does not exist has no tasks. Scope: view.",
        "security": [
          {
            "token": [
              "view"
            ]
          }
        ],
        "parameters": [
          {
            "name": "queues",
            "in": "query",
            "required": true,
            "description": "The names of 1 to 100 queues, with commas between, each once.",
            "schema": {
              "type": "string",
              "pattern": "^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,127}(?:,[A-Za-z0-9_-][A-Za-z0-9_.-]{0,127}){0,99}$"
            },
            "example": "emails,reports"
          }
        ],
        "responses": {
          "200": {
            "description": "What there is to see of each queue.",
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/Overviews"
                },
                "examples": {
                  "some": {
                    "summary": "some",
                    "value": {
                      "now": 1792800000000,
                      "queues": [
                        {
                          "queue": "emails",
                          "pending": 120,
                          "delayed": 7,
                          "working": 10,
                          "blocked": 3,
                          "rejected": 2,
                          "oldestAge": 4300,
                          "nextDueAt": 1792800030000,
                          "broken": 0,
                          "workers": 2,
                          "paused": false,
                          "pausedUntil": null,
                          "stoppedGroups": 0,
                          "settings": {
                            "paused": false,
                            "pausedUntil": null,
                            "maxWorking": null,
                            "rate": null,
                            "maxPending": 10000,
                            "events": false,
                            "statistics": true,
                            "order": null,
                            "onDead": "continue"
                          },
                          "statistics": {
                            "on": true,
                            "perMinute": {
                              "enqueued": 29.4,
                              "dequeued": 28.2,
                              "completed": 27.8,
                              "requeued": 0.4,
                              "rejected": 0,
                              "cancelled": 0,
                              "cancelRequested": 0,
                              "reclaimed": 0,
                              "redriven": 0,
                              "released": 0,
                              "deleted": 0
                            },
                            "series": {
                              "enqueued": [
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                30
                              ],
                              "dequeued": [
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                28
                              ],
                              "completed": [
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                27
                              ],
                              "failed": [
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                1
                              ]
                            },
                            "waits": {
                              "count": 27,
                              "total": 8400,
                              "classes": [
                                0,
                                2,
                                9,
                                12,
                                4,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0
                              ]
                            },
                            "waitP95": 1000,
                            "runs": {
                              "count": 28,
                              "total": 3900,
                              "classes": [
                                0,
                                0,
                                16,
                                12,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0,
                                0
                              ]
                            },
                            "calls": {
                              "enqueue": 30,
                              "dequeue": 6,
                              "settle": 6,
                              "other": 0
                            }
                          },
                          "partitions": 1
                        },
                        {
                          "queue": "reports",
                          "code": "newer_schema"
                        }
                      ]
                    }
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/invalid_request"
          },
          "401": {
            "$ref": "#/components/responses/unauthorized"
          },
          "403": {
            "$ref": "#/components/responses/forbidden"
          },
          "500": {
            "$ref": "#/components/responses/internal"
          },
          "502": {
            "$ref": "#/components/responses/redis_unauthorized-or-redis_error-or-unexpected_reply"
          },
          "503": {
            "$ref": "#/components/responses/redis_quota-or-redis_not_writable-or-newer_schema-or-auth_not_configured-or-misconfigured"
          },
          "504": {
            "$ref": "#/components/responses/redis_unreachable"
          }
        }
      }
    },
    "/v1/health/queues": {
      "get": {
        "operationId": "getQueuesHealth",
        "tags": [
          "operation"
        ],
        "summary": "Get what is wrong with the queues, and what to do",
        "description": "The findings of `sluice doctor`, about the queues for which the token has the scope, at most 1,000. Those about the settings of Redis need a token for all queues. `no_queue`: none in use matches `queues`. One that has been empty for an hour is not in use. Each queue costs as many Redis commands as its counts, and 2 if it is empty, else about 10. Scope: view.",
        "security": [
          {
            "token": [
              "view"
            ]
          }
        ],
        "parameters": [
          {
            "name": "queues",
            "in": "query",
            "required": false,
            "description": "Queues whose names match this pattern, in which `*` matches any characters. Default: all that the token matches.",
            "schema": {
              "type": "string",
              "pattern": "^[A-Za-z0-9_.*-]{1,128}$"
            }
          },
          {
            "name": "after",
            "in": "query",
            "required": false,
            "description": "How long a queue may be stuck, and how long a dead letter is new, 1 second to 59 minutes. Default \"10m\".",
            "schema": {
              "anyOf": [
                {
                  "type": "integer",
                  "minimum": 1000,
                  "maximum": 3540000
                },
                {
                  "type": "string",
                  "pattern": "^(?:(?=0*[1-9]\\d{3})\\d{1,12}ms|(?=[0.]*[1-9])\\d{1,12}(?:\\.\\d{1,3})?(?:s|m|h|d))$"
                }
              ]
            },
            "example": "5m"
          },
          {
            "name": "fail",
            "in": "query",
            "required": false,
            "description": "Respond 503 `unhealthy` if the status is as bad as this, or worse: for monitors that look at the status code alone.",
            "schema": {
              "enum": [
                "problem",
                "warning"
              ],
              "type": "string"
            },
            "example": "problem"
          }
        ],
        "responses": {
          "200": {
            "description": "The findings.",
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/QueuesHealth"
                },
                "examples": {
                  "some": {
                    "summary": "some",
                    "value": {
                      "status": "problem",
                      "now": 1792800000000,
                      "findings": [
                        {
                          "status": "ok",
                          "code": "clock_off",
                          "about": "clock",
                          "found": "this server and Redis agree"
                        },
                        {
                          "status": "problem",
                          "code": "nothing_ends",
                          "about": "emails",
                          "found": "2 working, the longest for 22m 5s, and nothing has ended for 20m",
                          "advice": "a handler hangs: sluice ls emails --state working. Restart its process, and give the consumer a timeout",
                          "queue": "emails"
                        },
                        {
                          "status": "warning",
                          "code": "schedule_paused",
                          "about": "reports",
                          "found": "schedule daily has been paused for 6h (1 occurrence missed, the last 2h ago)",
                          "advice": "sluice schedules reports --resume daily; what was missed is not made up: sluice schedules reports --run daily",
                          "queue": "reports",
                          "names": [
                            "daily"
                          ]
                        }
                      ],
                      "queues": [
                        {
                          "queue": "emails",
                          "status": "problem",
                          "pending": 40,
                          "working": 2
                        },
                        {
                          "queue": "reports",
                          "status": "warning",
                          "pending": 0,
                          "working": 0
                        }
                      ],
                      "truncated": false
                    }
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/invalid_request"
          },
          "401": {
            "$ref": "#/components/responses/unauthorized"
          },
          "403": {
            "$ref": "#/components/responses/forbidden"
          },
          "500": {
            "$ref": "#/components/responses/internal"
          },
          "502": {
            "$ref": "#/components/responses/redis_unauthorized-or-redis_error-or-unexpected_reply"
          },
          "503": {
            "$ref": "#/components/responses/redis_quota-or-redis_not_writable-or-newer_schema-or-auth_not_configured-or-unhealthy-or-misconfigured"
          },
          "504": {
            "$ref": "#/components/responses/redis_unreachable"
          }
        }
      }
    },
    "/metrics": {
      "get": {
        "operationId": "getMetrics",
        "tags": [
          "operation"
        ],
        "summary": "Get the metrics of all queues, for Prometheus",
        "description": "OpenMetrics text, or the older Prometheus text if `Accept` names only `text/plain`. It has the queues for which the token has the scope, at most 1,000 of them. Queues that keep statistics also have counters and histograms. Each queue costs as many Redis commands as its counts, and the list of queues 3. Scope: view.",
        "security": [
          {
            "token": [
              "view"
            ]
          }
        ],
        "parameters": [
          {
            "name": "queues",
            "in": "query",
            "required": false,
            "description": "Queues whose names match this pattern, in which `*` matches any characters. Default: all that the token matches.",
            "schema": {
              "type": "string",
              "pattern": "^[A-Za-z0-9_.*-]{1,128}$"
            },
            "example": "emails-*"
          }
        ],
        "responses": {
          "200": {
            "description": "The metrics.",
            "content": {
              "application/openmetrics-text": {
                "schema": {
                  "type": "string"
                },
                "examples": {
                  "some": {
                    "summary": "some",
                    "value": "# TYPE sluice_queue_tasks gauge\n# HELP sluice_queue_tasks Tasks by state. Rejected tasks are dead letters.\nsluice_queue_tasks{queue=\"emails\",state=\"pending\"} 120\nsluice_queue_tasks{queue=\"emails\",state=\"delayed\"} 7\nsluice_queue_tasks{queue=\"emails\",state=\"working\"} 10\nsluice_queue_tasks{queue=\"emails\",state=\"rejected\"} 2\n# EOF\n"
                  }
                }
              },
              "text/plain": {
                "schema": {
                  "type": "string"
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/invalid_request"
          },
          "401": {
            "$ref": "#/components/responses/unauthorized"
          },
          "403": {
            "$ref": "#/components/responses/forbidden"
          },
          "500": {
            "$ref": "#/components/responses/internal"
          },
          "502": {
            "$ref": "#/components/responses/redis_unauthorized-or-redis_error-or-unexpected_reply"
          },
          "503": {
            "$ref": "#/components/responses/redis_quota-or-redis_not_writable-or-newer_schema-or-auth_not_configured-or-misconfigured"
          },
          "504": {
            "$ref": "#/components/responses/redis_unreachable"
          }
        }
      }
    },
    "/v1/queues/{queue}/load": {
      "get": {
        "operationId": "getLoad",
        "tags": [
          "queues"
        ],
        "summary": "Get the load of a queue, to scale its consumers",
        "description": "Numbers for autoscalers. Divide `backlog` by the tasks that one consumer works on at once. A queue that does not exist has no load. Scope: view.",
        "security": [
          {
            "token": [
              "view"
            ]
          }
        ],
        "parameters": [
          {
            "$ref": "#/components/parameters/queue"
          }
        ],
        "responses": {
          "200": {
            "description": "The load.",
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/Load"
                },
                "examples": {
                  "some": {
                    "summary": "some",
                    "value": {
                      "queue": "emails",
                      "pending": 120,
                      "working": 10,
                      "paused": false,
                      "backlog": 130,
                      "workers": 2,
                      "perWorker": 60,
                      "oldestAge": 4300,
                      "perMinute": {
                        "enqueued": 29.4,
                        "completed": 27.8
                      }
                    }
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/invalid_request"
          },
          "401": {
            "$ref": "#/components/responses/unauthorized"
          },
          "403": {
            "$ref": "#/components/responses/forbidden"
          },
          "500": {
            "$ref": "#/components/responses/internal"
          },
          "502": {
            "$ref": "#/components/responses/redis_unauthorized-or-redis_error-or-unexpected_reply"
          },
          "503": {
            "$ref": "#/components/responses/redis_quota-or-redis_not_writable-or-newer_schema-or-auth_not_configured-or-misconfigured"
          },
          "504": {
            "$ref": "#/components/responses/redis_unreachable"
          }
        }
      }
    },
    "/v1/queues/{queue}/declaration": {
      "put": {
        "operationId": "declareQueue",
        "tags": [
          "queues"
        ],
        "summary": "Apply the declaration of a queue",
        "description": "Applies settings and schedules, if they differ from the declaration that was applied last. What was set in another way since then stays. A deployment does the same with the queues that its code declares; `sluice deploy` calls this route. Scope: admin.",
        "security": [
          {
            "token": [
              "admin"
            ]
          }
        ],
        "parameters": [
          {
            "$ref": "#/components/parameters/queue"
          },
          {
            "$ref": "#/components/parameters/Idempotency-Key"
          }
        ],
        "requestBody": {
          "required": true,
          "content": {
            "application/json": {
              "schema": {
                "$ref": "#/components/schemas/Declaration"
              },
              "examples": {
                "some": {
                  "summary": "some",
                  "value": {
                    "settings": {
                      "rate": {
                        "most": 5,
                        "per": "1s"
                      },
                      "events": true
                    },
                    "schedules": [
                      {
                        "name": "digest",
                        "cron": "0 9 * * 1",
                        "payload": {
                          "to": "team@example.com"
                        }
                      }
                    ]
                  }
                }
              }
            }
          }
        },
        "responses": {
          "200": {
            "description": "What was done.",
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/Declared"
                },
                "examples": {
                  "some": {
                    "summary": "some",
                    "value": {
                      "queue": "emails",
                      "status": "applied"
                    }
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/invalid_request-or-invalid_json"
          },
          "401": {
            "$ref": "#/components/responses/unauthorized"
          },
          "403": {
            "$ref": "#/components/responses/forbidden"
          },
          "408": {
            "$ref": "#/components/responses/body_too_slow"
          },
          "413": {
            "$ref": "#/components/responses/payload_too_large"
          },
          "415": {
            "$ref": "#/components/responses/unsupported_media_type"
          },
          "500": {
            "$ref": "#/components/responses/internal"
          },
          "501": {
            "$ref": "#/components/responses/unsupported"
          },
          "502": {
            "$ref": "#/components/responses/redis_unauthorized-or-redis_error-or-unexpected_reply"
          },
          "503": {
            "$ref": "#/components/responses/redis_quota-or-redis_not_writable-or-newer_schema-or-auth_not_configured-or-misconfigured"
          },
          "504": {
            "$ref": "#/components/responses/redis_unreachable"
          }
        }
      }
    },
    "/v1/queues/{queue}/workers/heartbeat": {
      "post": {
        "operationId": "heartbeat",
        "tags": [
          "workers"
        ],
        "summary": "Heartbeat of a worker, which extends all its leases",
        "description": "Registers the worker as a listener of the queue, and extends the lease of each task that this incarnation has. A deadline never becomes earlier. Leases of other workers and incarnations are not changed, even if their receipts are sent. Scope: consume.",
        "security": [
          {
            "token": [
              "consume"
            ]
          }
        ],
        "parameters": [
          {
            "$ref": "#/components/parameters/queue"
          },
          {
            "$ref": "#/components/parameters/Idempotency-Key"
          }
        ],
        "requestBody": {
          "required": true,
          "content": {
            "application/json": {
              "schema": {
                "$ref": "#/components/schemas/Heartbeat"
              },
              "examples": {
                "every-minute": {
                  "summary": "every minute",
                  "value": {
                    "worker": {
                      "name": "mailer-1",
                      "incarnation": "0VsJ0dW2",
                      "silentAfter": "3m"
                    },
                    "lease": "5m"
                  }
                }
              }
            }
          }
        },
        "responses": {
          "200": {
            "description": "The worker's leases.",
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/HeartbeatReply"
                },
                "examples": {
                  "with-tasks": {
                    "summary": "with tasks",
                    "value": {
                      "leases": 12,
                      "deadlineAt": 1792800300000,
                      "cancelRequested": [
                        "welcome-17"
                      ]
                    }
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/invalid_request-or-invalid_json"
          },
          "401": {
            "$ref": "#/components/responses/unauthorized"
          },
          "403": {
            "$ref": "#/components/responses/forbidden"
          },
          "408": {
            "$ref": "#/components/responses/body_too_slow"
          },
          "409": {
            "$ref": "#/components/responses/worker_lost"
          },
          "413": {
            "$ref": "#/components/responses/payload_too_large"
          },
          "415": {
            "$ref": "#/components/responses/unsupported_media_type"
          },
          "500": {
            "$ref": "#/components/responses/internal"
          },
          "502": {
            "$ref": "#/components/responses/redis_unauthorized-or-redis_error-or-unexpected_reply"
          },
          "503": {
            "$ref": "#/components/responses/redis_quota-or-redis_not_writable-or-newer_schema-or-auth_not_configured-or-misconfigured"
          },
          "504": {
            "$ref": "#/components/responses/redis_unreachable"
          }
        }
      }
    },
    "/v1/queues/{queue}/workers": {
      "get": {
        "operationId": "listWorkers",
        "tags": [
          "workers"
        ],
        "summary": "List the workers and their tasks",
        "description": "Lists the named workers of the queue, in no particular order. If the list changes between pages, a worker may appear twice. A worker that stays in the list is never left out. Scope: view.",
        "security": [
          {
            "token": [
              "view"
            ]
          }
        ],
        "parameters": [
          {
            "$ref": "#/components/parameters/queue"
          },
          {
            "name": "cursor",
            "in": "query",
            "required": false,
            "description": "Where to continue: the `cursor` of the previous page.",
            "schema": {
              "type": "string",
              "minLength": 1
            }
          },
          {
            "name": "size",
            "in": "query",
            "required": false,
            "description": "About this many workers per page. Default 100.",
            "schema": {
              "type": "integer",
              "minimum": 1,
              "maximum": 1000
            }
          }
        ],
        "responses": {
          "200": {
            "description": "A page of workers.",
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/Workers"
                },
                "examples": {
                  "some": {
                    "summary": "some",
                    "value": {
                      "workers": [
                        {
                          "name": "mailer-1",
                          "incarnation": "0VsJ0dW2",
                          "node": "fra1",
                          "pid": 4711,
                          "silentAfter": 180000,
                          "state": "working",
                          "seenAt": 1792800000000,
                          "silentAt": 1792800180000,
                          "working": 1,
                          "tasks": [
                            "welcome-17"
                          ]
                        }
                      ],
                      "now": 1792800012000,
                      "cursor": null
                    }
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/invalid_request"
          },
          "401": {
            "$ref": "#/components/responses/unauthorized"
          },
          "403": {
            "$ref": "#/components/responses/forbidden"
          },
          "500": {
            "$ref": "#/components/responses/internal"
          },
          "502": {
            "$ref": "#/components/responses/redis_unauthorized-or-redis_error-or-unexpected_reply"
          },
          "503": {
            "$ref": "#/components/responses/redis_quota-or-redis_not_writable-or-newer_schema-or-auth_not_configured-or-misconfigured"
          },
          "504": {
            "$ref": "#/components/responses/redis_unreachable"
          }
        }
      }
    },
    "/v1/queues/{queue}/workers/{name}": {
      "delete": {
        "operationId": "forgetWorker",
        "tags": [
          "workers"
        ],
        "summary": "Take a worker that has ended off the list",
        "description": "Changes no task, and is refused while the worker has tasks. A worker that still runs comes back to the list. An unknown worker counts as forgotten. Scope: admin.",
        "security": [
          {
            "token": [
              "admin"
            ]
          }
        ],
        "parameters": [
          {
            "$ref": "#/components/parameters/queue"
          },
          {
            "$ref": "#/components/parameters/name"
          },
          {
            "name": "incarnation",
            "in": "query",
            "required": false,
            "description": "Which one of this name. Default: the one without an incarnation.",
            "schema": {
              "type": "string",
              "pattern": "^[A-Za-z0-9][!-~]{0,127}$"
            }
          },
          {
            "$ref": "#/components/parameters/Idempotency-Key"
          }
        ],
        "responses": {
          "200": {
            "description": "The worker is not on the list.",
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/WorkerForgotten"
                },
                "examples": {
                  "forgotten": {
                    "summary": "forgotten",
                    "value": {
                      "name": "mailer-1",
                      "forgotten": true
                    }
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/invalid_request"
          },
          "401": {
            "$ref": "#/components/responses/unauthorized"
          },
          "403": {
            "$ref": "#/components/responses/forbidden"
          },
          "409": {
            "$ref": "#/components/responses/still_working"
          },
          "500": {
            "$ref": "#/components/responses/internal"
          },
          "502": {
            "$ref": "#/components/responses/redis_unauthorized-or-redis_error-or-unexpected_reply"
          },
          "503": {
            "$ref": "#/components/responses/redis_quota-or-redis_not_writable-or-newer_schema-or-auth_not_configured-or-misconfigured"
          },
          "504": {
            "$ref": "#/components/responses/redis_unreachable"
          }
        }
      }
    },
    "/v1/queues/{queue}/workers/{name}/fail": {
      "post": {
        "operationId": "failWorker",
        "tags": [
          "workers"
        ],
        "summary": "Take the tasks back from a dead worker",
        "description": "Its tasks become pending again, in the order in which it took them: at the front of the queue, or at the back of their group if they have a group or a priority. Tasks without another attempt become dead letters. The worker's next heartbeat gets `worker_lost`. A process that hangs must be restarted: it works on, though what it settles is refused with `lease_lost`. An unknown worker has no tasks. Scope: admin.",
        "security": [
          {
            "token": [
              "admin"
            ]
          }
        ],
        "parameters": [
          {
            "$ref": "#/components/parameters/queue"
          },
          {
            "$ref": "#/components/parameters/name"
          },
          {
            "$ref": "#/components/parameters/Idempotency-Key"
          }
        ],
        "requestBody": {
          "required": false,
          "content": {
            "application/json": {
              "schema": {
                "$ref": "#/components/schemas/FailWorker"
              },
              "examples": {
                "one-incarnation": {
                  "summary": "one incarnation",
                  "value": {
                    "incarnation": "0VsJ0dW2"
                  }
                }
              }
            }
          }
        },
        "responses": {
          "200": {
            "description": "What happened to its tasks.",
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/WorkerFailed"
                },
                "examples": {
                  "some": {
                    "summary": "some",
                    "value": {
                      "name": "mailer-1",
                      "returned": 12,
                      "rejected": 1,
                      "more": false
                    }
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/invalid_request-or-invalid_json"
          },
          "401": {
            "$ref": "#/components/responses/unauthorized"
          },
          "403": {
            "$ref": "#/components/responses/forbidden"
          },
          "408": {
            "$ref": "#/components/responses/body_too_slow"
          },
          "413": {
            "$ref": "#/components/responses/payload_too_large"
          },
          "415": {
            "$ref": "#/components/responses/unsupported_media_type"
          },
          "500": {
            "$ref": "#/components/responses/internal"
          },
          "502": {
            "$ref": "#/components/responses/redis_unauthorized-or-redis_error-or-unexpected_reply"
          },
          "503": {
            "$ref": "#/components/responses/redis_quota-or-redis_not_writable-or-newer_schema-or-auth_not_configured-or-misconfigured"
          },
          "504": {
            "$ref": "#/components/responses/redis_unreachable"
          }
        }
      }
    },
    "/v1/queues/{queue}/schedules": {
      "get": {
        "operationId": "listSchedules",
        "tags": [
          "schedules"
        ],
        "summary": "List the schedules of a queue",
        "description": "Lists the schedules without their tasks, in no particular order. If the list changes between pages, a schedule may appear twice. A schedule that stays is never left out. Scope: view.",
        "security": [
          {
            "token": [
              "view"
            ]
          }
        ],
        "parameters": [
          {
            "$ref": "#/components/parameters/queue"
          },
          {
            "name": "cursor",
            "in": "query",
            "required": false,
            "description": "Where to continue: the `cursor` of the previous page.",
            "schema": {
              "type": "string",
              "minLength": 1
            }
          },
          {
            "name": "size",
            "in": "query",
            "required": false,
            "description": "About this many schedules per page. Default 100.",
            "schema": {
              "type": "integer",
              "minimum": 1,
              "maximum": 1000
            }
          }
        ],
        "responses": {
          "200": {
            "description": "A page of schedules.",
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/Schedules"
                },
                "examples": {
                  "some": {
                    "summary": "some",
                    "value": {
                      "schedules": [
                        {
                          "name": "nightly",
                          "queue": "reports",
                          "cron": "30 2 * * *",
                          "timeZone": "Europe/Berlin",
                          "missed": "last",
                          "paused": false,
                          "createdAt": 1792800000000,
                          "nextAt": 1792836000000,
                          "lastAt": null
                        }
                      ],
                      "cursor": null
                    }
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/invalid_request"
          },
          "401": {
            "$ref": "#/components/responses/unauthorized"
          },
          "403": {
            "$ref": "#/components/responses/forbidden"
          },
          "500": {
            "$ref": "#/components/responses/internal"
          },
          "502": {
            "$ref": "#/components/responses/redis_unauthorized-or-redis_error-or-unexpected_reply"
          },
          "503": {
            "$ref": "#/components/responses/redis_quota-or-redis_not_writable-or-newer_schema-or-auth_not_configured-or-misconfigured"
          },
          "504": {
            "$ref": "#/components/responses/redis_unreachable"
          }
        }
      }
    },
    "/v1/queues/{queue}/schedules/{schedule}": {
      "put": {
        "operationId": "putSchedule",
        "tags": [
          "schedules"
        ],
        "summary": "Create or replace a schedule",
        "description": "The first sweep after an occurrence enqueues its task, once, even if several sweeps run. So a task is late by up to the interval of the sweep. The task's id is `<name>.<epoch ms of the occurrence>`. If a task with this id is already known, it counts as the occurrence. The task's headers contain the name as `schedule` and the time as `scheduled-at`.\n\nThe body is the whole schedule: fields that are left out get the values of a new schedule, except `paused`. If `cron` and `timeZone`, or `every` and `from`, are unchanged, the next occurrence stays as it is; a `from` that is left out counts as unchanged. Otherwise the first occurrence from now on is next.\n\nWhen the clock of the time zone is set forward, a cron expression with one hour and one minute that is skipped occurs right after the gap. When the clock is set back, it occurs the first time only. A cron expression with several hours or minutes does not occur at the skipped times, and occurs twice at the repeated ones. Scope: admin.",
        "security": [
          {
            "token": [
              "admin"
            ]
          }
        ],
        "parameters": [
          {
            "$ref": "#/components/parameters/queue"
          },
          {
            "$ref": "#/components/parameters/schedule"
          },
          {
            "$ref": "#/components/parameters/Idempotency-Key"
          }
        ],
        "requestBody": {
          "required": true,
          "content": {
            "application/json": {
              "schema": {
                "$ref": "#/components/schemas/NewSchedule"
              },
              "examples": {
                "every-night": {
                  "summary": "every night",
                  "value": {
                    "cron": "30 2 * * *",
                    "timeZone": "Europe/Berlin",
                    "payload": {
                      "report": "daily"
                    },
                    "lease": "10m"
                  }
                },
                "every-ten-minutes,-none-left-out": {
                  "summary": "every ten minutes, none left out",
                  "value": {
                    "every": "10m",
                    "missed": "all",
                    "payload": {
                      "check": "links"
                    }
                  }
                }
              }
            }
          }
        },
        "responses": {
          "200": {
            "description": "The schedule was replaced.",
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/SchedulePut"
                },
                "examples": {
                  "changed": {
                    "summary": "changed",
                    "value": {
                      "name": "nightly",
                      "queue": "reports",
                      "cron": "30 2 * * *",
                      "timeZone": "Europe/Berlin",
                      "missed": "last",
                      "paused": false,
                      "createdAt": 1792800000000,
                      "nextAt": 1792836000000,
                      "lastAt": 1792749600000,
                      "created": false
                    }
                  }
                }
              }
            }
          },
          "201": {
            "description": "The schedule was created.",
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/SchedulePut"
                },
                "examples": {
                  "created": {
                    "summary": "created",
                    "value": {
                      "name": "nightly",
                      "queue": "reports",
                      "cron": "30 2 * * *",
                      "timeZone": "Europe/Berlin",
                      "missed": "last",
                      "paused": false,
                      "createdAt": 1792800000000,
                      "nextAt": 1792836000000,
                      "lastAt": null,
                      "created": true
                    }
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/invalid_request-or-invalid_json"
          },
          "401": {
            "$ref": "#/components/responses/unauthorized"
          },
          "403": {
            "$ref": "#/components/responses/forbidden"
          },
          "408": {
            "$ref": "#/components/responses/body_too_slow"
          },
          "413": {
            "$ref": "#/components/responses/payload_too_large"
          },
          "415": {
            "$ref": "#/components/responses/unsupported_media_type"
          },
          "429": {
            "$ref": "#/components/responses/queue_full"
          },
          "500": {
            "$ref": "#/components/responses/internal"
          },
          "502": {
            "$ref": "#/components/responses/redis_unauthorized-or-redis_error-or-unexpected_reply"
          },
          "503": {
            "$ref": "#/components/responses/redis_quota-or-redis_not_writable-or-newer_schema-or-auth_not_configured-or-misconfigured"
          },
          "504": {
            "$ref": "#/components/responses/redis_unreachable"
          }
        }
      },
      "get": {
        "operationId": "getSchedule",
        "tags": [
          "schedules"
        ],
        "summary": "Get a schedule with its task",
        "description": "Options of the task that were not set are absent. Scope: view.",
        "security": [
          {
            "token": [
              "view"
            ]
          }
        ],
        "parameters": [
          {
            "$ref": "#/components/parameters/queue"
          },
          {
            "$ref": "#/components/parameters/schedule"
          }
        ],
        "responses": {
          "200": {
            "description": "The schedule.",
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/Schedule"
                },
                "examples": {
                  "some": {
                    "summary": "some",
                    "value": {
                      "name": "nightly",
                      "queue": "reports",
                      "cron": "30 2 * * *",
                      "timeZone": "Europe/Berlin",
                      "missed": "last",
                      "paused": false,
                      "createdAt": 1792800000000,
                      "nextAt": 1792836000000,
                      "lastAt": null,
                      "payload": {
                        "report": "daily"
                      },
                      "lease": 600000
                    }
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/invalid_request"
          },
          "401": {
            "$ref": "#/components/responses/unauthorized"
          },
          "403": {
            "$ref": "#/components/responses/forbidden"
          },
          "404": {
            "$ref": "#/components/responses/not_found"
          },
          "500": {
            "$ref": "#/components/responses/internal"
          },
          "502": {
            "$ref": "#/components/responses/redis_unauthorized-or-redis_error-or-unexpected_reply"
          },
          "503": {
            "$ref": "#/components/responses/redis_quota-or-redis_not_writable-or-newer_schema-or-auth_not_configured-or-misconfigured"
          },
          "504": {
            "$ref": "#/components/responses/redis_unreachable"
          }
        }
      },
      "delete": {
        "operationId": "removeSchedule",
        "tags": [
          "schedules"
        ],
        "summary": "Remove a schedule",
        "description": "Tasks that it has already enqueued stay. Scope: admin.",
        "security": [
          {
            "token": [
              "admin"
            ]
          }
        ],
        "parameters": [
          {
            "$ref": "#/components/parameters/queue"
          },
          {
            "$ref": "#/components/parameters/schedule"
          },
          {
            "$ref": "#/components/parameters/Idempotency-Key"
          }
        ],
        "responses": {
          "200": {
            "description": "The schedule is removed.",
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/ScheduleRemoved"
                },
                "examples": {
                  "removed": {
                    "summary": "removed",
                    "value": {
                      "name": "nightly",
                      "removed": true
                    }
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/invalid_request"
          },
          "401": {
            "$ref": "#/components/responses/unauthorized"
          },
          "403": {
            "$ref": "#/components/responses/forbidden"
          },
          "404": {
            "$ref": "#/components/responses/not_found"
          },
          "500": {
            "$ref": "#/components/responses/internal"
          },
          "502": {
            "$ref": "#/components/responses/redis_unauthorized-or-redis_error-or-unexpected_reply"
          },
          "503": {
            "$ref": "#/components/responses/redis_quota-or-redis_not_writable-or-newer_schema-or-auth_not_configured-or-misconfigured"
          },
          "504": {
            "$ref": "#/components/responses/redis_unreachable"
          }
        }
      }
    },
    "/v1/queues/{queue}/schedules/{schedule}/pause": {
      "post": {
        "operationId": "pauseSchedule",
        "tags": [
          "schedules"
        ],
        "summary": "Pause a schedule",
        "description": "The schedule does not occur until it is resumed. Scope: admin.",
        "security": [
          {
            "token": [
              "admin"
            ]
          }
        ],
        "parameters": [
          {
            "$ref": "#/components/parameters/queue"
          },
          {
            "$ref": "#/components/parameters/schedule"
          },
          {
            "$ref": "#/components/parameters/Idempotency-Key"
          }
        ],
        "responses": {
          "200": {
            "description": "The new state of the schedule.",
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/ListedSchedule"
                },
                "examples": {
                  "paused": {
                    "summary": "paused",
                    "value": {
                      "name": "nightly",
                      "queue": "reports",
                      "cron": "30 2 * * *",
                      "timeZone": "Europe/Berlin",
                      "missed": "last",
                      "paused": true,
                      "createdAt": 1792800000000,
                      "nextAt": null,
                      "lastAt": null
                    }
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/invalid_request-or-invalid_json"
          },
          "401": {
            "$ref": "#/components/responses/unauthorized"
          },
          "403": {
            "$ref": "#/components/responses/forbidden"
          },
          "404": {
            "$ref": "#/components/responses/not_found"
          },
          "408": {
            "$ref": "#/components/responses/body_too_slow"
          },
          "413": {
            "$ref": "#/components/responses/payload_too_large"
          },
          "415": {
            "$ref": "#/components/responses/unsupported_media_type"
          },
          "500": {
            "$ref": "#/components/responses/internal"
          },
          "502": {
            "$ref": "#/components/responses/redis_unauthorized-or-redis_error-or-unexpected_reply"
          },
          "503": {
            "$ref": "#/components/responses/redis_quota-or-redis_not_writable-or-newer_schema-or-auth_not_configured-or-misconfigured"
          },
          "504": {
            "$ref": "#/components/responses/redis_unreachable"
          }
        }
      }
    },
    "/v1/queues/{queue}/schedules/{schedule}/run": {
      "post": {
        "operationId": "runSchedule",
        "tags": [
          "schedules"
        ],
        "summary": "Enqueue a task of a schedule now",
        "description": "Enqueues a task as an occurrence does, also while the schedule is paused. Its next occurrence stays as it is. With an `Idempotency-Key`, a copy of the request enqueues nothing. Scope: admin.",
        "security": [
          {
            "token": [
              "admin"
            ]
          }
        ],
        "parameters": [
          {
            "$ref": "#/components/parameters/queue"
          },
          {
            "$ref": "#/components/parameters/schedule"
          },
          {
            "$ref": "#/components/parameters/Idempotency-Key"
          }
        ],
        "responses": {
          "200": {
            "description": "A copy of an earlier request: the task was known.",
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/Enqueued"
                },
                "examples": {
                  "known": {
                    "summary": "known",
                    "value": {
                      "id": "digest.1795451700000",
                      "created": false
                    }
                  }
                }
              }
            }
          },
          "201": {
            "description": "The task is enqueued.",
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/Enqueued"
                },
                "examples": {
                  "created": {
                    "summary": "created",
                    "value": {
                      "id": "digest.1795451700000",
                      "created": true
                    }
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/invalid_request-or-invalid_json"
          },
          "401": {
            "$ref": "#/components/responses/unauthorized"
          },
          "403": {
            "$ref": "#/components/responses/forbidden"
          },
          "404": {
            "$ref": "#/components/responses/not_found"
          },
          "408": {
            "$ref": "#/components/responses/body_too_slow"
          },
          "413": {
            "$ref": "#/components/responses/payload_too_large"
          },
          "415": {
            "$ref": "#/components/responses/unsupported_media_type"
          },
          "429": {
            "$ref": "#/components/responses/queue_full"
          },
          "500": {
            "$ref": "#/components/responses/internal"
          },
          "502": {
            "$ref": "#/components/responses/redis_unauthorized-or-redis_error-or-unexpected_reply"
          },
          "503": {
            "$ref": "#/components/responses/redis_quota-or-redis_not_writable-or-newer_schema-or-auth_not_configured-or-misconfigured"
          },
          "504": {
            "$ref": "#/components/responses/redis_unreachable"
          }
        }
      }
    },
    "/v1/queues/{queue}/schedules/{schedule}/resume": {
      "post": {
        "operationId": "resumeSchedule",
        "tags": [
          "schedules"
        ],
        "summary": "Resume a schedule",
        "description": "The schedule occurs again from now on. Occurrences during the pause are not enqueued. Scope: admin.",
        "security": [
          {
            "token": [
              "admin"
            ]
          }
        ],
        "parameters": [
          {
            "$ref": "#/components/parameters/queue"
          },
          {
            "$ref": "#/components/parameters/schedule"
          },
          {
            "$ref": "#/components/parameters/Idempotency-Key"
          }
        ],
        "responses": {
          "200": {
            "description": "The new state of the schedule.",
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/ScheduleResumed"
                },
                "examples": {
                  "running": {
                    "summary": "running",
                    "value": {
                      "name": "nightly",
                      "queue": "reports",
                      "cron": "30 2 * * *",
                      "timeZone": "Europe/Berlin",
                      "missed": "last",
                      "paused": false,
                      "createdAt": 1792800000000,
                      "nextAt": 1792836000000,
                      "lastAt": null,
                      "skipped": 1
                    }
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/invalid_request-or-invalid_json"
          },
          "401": {
            "$ref": "#/components/responses/unauthorized"
          },
          "403": {
            "$ref": "#/components/responses/forbidden"
          },
          "404": {
            "$ref": "#/components/responses/not_found"
          },
          "408": {
            "$ref": "#/components/responses/body_too_slow"
          },
          "413": {
            "$ref": "#/components/responses/payload_too_large"
          },
          "415": {
            "$ref": "#/components/responses/unsupported_media_type"
          },
          "500": {
            "$ref": "#/components/responses/internal"
          },
          "502": {
            "$ref": "#/components/responses/redis_unauthorized-or-redis_error-or-unexpected_reply"
          },
          "503": {
            "$ref": "#/components/responses/redis_quota-or-redis_not_writable-or-newer_schema-or-auth_not_configured-or-misconfigured"
          },
          "504": {
            "$ref": "#/components/responses/redis_unreachable"
          }
        }
      }
    },
    "/v1/sweep": {
      "post": {
        "operationId": "sweep",
        "tags": [
          "operation"
        ],
        "summary": "Promote due tasks and reclaim expired leases, or scan and repair the queues",
        "description": "Call it once a minute, unless the platform's cron already does. It also enqueues the due occurrences of schedules. A token sweeps the queues for which it has the scope `admin`; the cron secret sweeps all queues.\n\nWith `deep: true` it scans every entry for contradictions, repairs them and reports what it found: tasks in no key or in two, leases without a holder, unreadable records, wrong counts. A failover that restores an older state of some keys can cause them. The deep sweep works beside live traffic and does not change valid entries. If `cursor` is not null, call again with it. A queue with up to 100 tasks costs at most 91 Redis commands, or 110 if they have groups. Each further 100 tasks cost about 5, or 15. It is refused with `unsupported` if the server has not turned it on. Scope: admin.",
        "security": [
          {
            "token": [
              "admin"
            ]
          },
          {
            "cronSecret": []
          }
        ],
        "parameters": [
          {
            "$ref": "#/components/parameters/Idempotency-Key"
          }
        ],
        "requestBody": {
          "required": false,
          "content": {
            "application/json": {
              "schema": {
                "anyOf": [
                  {
                    "$ref": "#/components/schemas/Sweep"
                  },
                  {
                    "$ref": "#/components/schemas/DeepSweep"
                  }
                ]
              },
              "examples": {
                "short": {
                  "summary": "short",
                  "value": {
                    "budget": "5s"
                  }
                },
                "deep": {
                  "summary": "deep",
                  "value": {
                    "deep": true,
                    "queue": "emails",
                    "budget": "30s"
                  }
                }
              }
            }
          }
        },
        "responses": {
          "200": {
            "description": "The counts of what was done.",
            "content": {
              "application/json": {
                "schema": {
                  "anyOf": [
                    {
                      "$ref": "#/components/schemas/Swept"
                    },
                    {
                      "$ref": "#/components/schemas/DeepSwept"
                    }
                  ]
                },
                "examples": {
                  "some": {
                    "summary": "some",
                    "value": {
                      "queues": 3,
                      "promoted": 12,
                      "reclaimed": 1,
                      "rejected": 0,
                      "expired": 40,
                      "more": false,
                      "scheduled": 1,
                      "woken": 0,
                      "failed": []
                    }
                  },
                  "deep": {
                    "summary": "deep",
                    "value": {
                      "queues": 1,
                      "entries": 1204,
                      "faults": [
                        {
                          "queue": "emails",
                          "fault": "place_missing",
                          "count": 2,
                          "ids": [
                            "welcome-17",
                            "welcome-18"
                          ]
                        }
                      ],
                      "failed": [],
                      "cursor": null
                    }
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/invalid_request-or-invalid_json"
          },
          "401": {
            "$ref": "#/components/responses/unauthorized"
          },
          "403": {
            "$ref": "#/components/responses/forbidden"
          },
          "408": {
            "$ref": "#/components/responses/body_too_slow"
          },
          "413": {
            "$ref": "#/components/responses/payload_too_large"
          },
          "415": {
            "$ref": "#/components/responses/unsupported_media_type"
          },
          "500": {
            "$ref": "#/components/responses/internal"
          },
          "501": {
            "$ref": "#/components/responses/unsupported"
          },
          "502": {
            "$ref": "#/components/responses/redis_unauthorized-or-redis_error-or-unexpected_reply"
          },
          "503": {
            "$ref": "#/components/responses/redis_quota-or-redis_not_writable-or-newer_schema-or-auth_not_configured-or-misconfigured"
          },
          "504": {
            "$ref": "#/components/responses/redis_unreachable"
          }
        }
      },
      "get": {
        "operationId": "sweepByCron",
        "tags": [
          "operation"
        ],
        "summary": "Sweep, for a cron that can only GET",
        "description": "Accepts only the cron secret, in `Authorization: Bearer …`. Sweeps all queues, for at most 20 seconds.",
        "security": [
          {
            "cronSecret": []
          }
        ],
        "responses": {
          "200": {
            "description": "The counts of what was done.",
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/Swept"
                },
                "examples": {
                  "some": {
                    "summary": "some",
                    "value": {
                      "queues": 3,
                      "promoted": 12,
                      "reclaimed": 1,
                      "rejected": 0,
                      "expired": 40,
                      "more": false,
                      "scheduled": 1,
                      "woken": 0,
                      "failed": []
                    }
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/invalid_request"
          },
          "401": {
            "$ref": "#/components/responses/unauthorized"
          },
          "403": {
            "$ref": "#/components/responses/forbidden"
          },
          "500": {
            "$ref": "#/components/responses/internal"
          },
          "502": {
            "$ref": "#/components/responses/redis_unauthorized-or-redis_error-or-unexpected_reply"
          },
          "503": {
            "$ref": "#/components/responses/redis_quota-or-redis_not_writable-or-newer_schema-or-auth_not_configured-or-misconfigured"
          },
          "504": {
            "$ref": "#/components/responses/redis_unreachable"
          }
        }
      }
    },
    "/v1/token": {
      "get": {
        "operationId": "getToken",
        "tags": [
          "about"
        ],
        "summary": "Get what the token may do",
        "description": "The scopes of the caller's token, each with the pattern of its queues. Scope: enqueue, consume, view.",
        "security": [
          {
            "token": [
              "enqueue",
              "consume",
              "view"
            ]
          }
        ],
        "responses": {
          "200": {
            "description": "What the token may do.",
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/Token"
                },
                "examples": {
                  "some": {
                    "summary": "some",
                    "value": {
                      "grants": [
                        {
                          "scopes": [
                            "enqueue",
                            "consume"
                          ],
                          "queues": "emails-*"
                        }
                      ]
                    }
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/invalid_request"
          },
          "401": {
            "$ref": "#/components/responses/unauthorized"
          },
          "403": {
            "$ref": "#/components/responses/forbidden"
          },
          "500": {
            "$ref": "#/components/responses/internal"
          },
          "502": {
            "$ref": "#/components/responses/redis_unauthorized-or-redis_error-or-unexpected_reply"
          },
          "503": {
            "$ref": "#/components/responses/redis_quota-or-redis_not_writable-or-newer_schema-or-auth_not_configured-or-misconfigured"
          },
          "504": {
            "$ref": "#/components/responses/redis_unreachable"
          }
        }
      }
    },
    "/v1/diagnostics": {
      "get": {
        "operationId": "getDiagnostics",
        "tags": [
          "operation"
        ],
        "summary": "Get the state of Redis",
        "description": "What Redis reports of itself, and how long a script call takes. `sluice doctor` says what to do about it. Scope: view.",
        "security": [
          {
            "token": [
              "view"
            ]
          }
        ],
        "responses": {
          "200": {
            "description": "The state of Redis.",
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/Diagnostics"
                },
                "examples": {
                  "some": {
                    "summary": "some",
                    "value": {
                      "now": 1792800000000,
                      "roundTrip": 4,
                      "version": "7.2.4",
                      "evictionPolicy": "noeviction",
                      "usedMemory": 41000000,
                      "maxMemory": 268435456,
                      "appendOnly": true
                    }
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/invalid_request"
          },
          "401": {
            "$ref": "#/components/responses/unauthorized"
          },
          "403": {
            "$ref": "#/components/responses/forbidden"
          },
          "500": {
            "$ref": "#/components/responses/internal"
          },
          "502": {
            "$ref": "#/components/responses/redis_unauthorized-or-redis_error-or-unexpected_reply"
          },
          "503": {
            "$ref": "#/components/responses/redis_quota-or-redis_not_writable-or-newer_schema-or-auth_not_configured-or-misconfigured"
          },
          "504": {
            "$ref": "#/components/responses/redis_unreachable"
          }
        }
      }
    },
    "/v1/queues/{queue}/diagnostics": {
      "get": {
        "operationId": "getQueueDiagnostics",
        "tags": [
          "operation"
        ],
        "summary": "Check the keys of a queue",
        "description": "Checks a small queue in one script call, and changes nothing. It also reports the size of the hash that holds the tasks; Upstash allows 100 MB a key. Scope: view.",
        "security": [
          {
            "token": [
              "view"
            ]
          }
        ],
        "parameters": [
          {
            "$ref": "#/components/parameters/queue"
          }
        ],
        "responses": {
          "200": {
            "description": "The state of the queue's keys.",
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/QueueDiagnostics"
                },
                "examples": {
                  "some": {
                    "summary": "some",
                    "value": {
                      "queue": "emails",
                      "fields": 320,
                      "bytes": 81000,
                      "valid": true,
                      "entries": 96
                    }
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/invalid_request"
          },
          "401": {
            "$ref": "#/components/responses/unauthorized"
          },
          "403": {
            "$ref": "#/components/responses/forbidden"
          },
          "500": {
            "$ref": "#/components/responses/internal"
          },
          "502": {
            "$ref": "#/components/responses/redis_unauthorized-or-redis_error-or-unexpected_reply"
          },
          "503": {
            "$ref": "#/components/responses/redis_quota-or-redis_not_writable-or-newer_schema-or-auth_not_configured-or-misconfigured"
          },
          "504": {
            "$ref": "#/components/responses/redis_unreachable"
          }
        }
      }
    },
    "/health": {
      "get": {
        "operationId": "health",
        "tags": [
          "about"
        ],
        "summary": "Check that the server and Redis run",
        "description": "Deletes a key that never exists. Only a Redis that takes writes answers this. It costs one command.",
        "security": [],
        "responses": {
          "200": {
            "description": "Redis takes writes.",
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/Health"
                },
                "examples": {
                  "ok": {
                    "summary": "ok",
                    "value": {
                      "status": "ok"
                    }
                  }
                }
              }
            }
          },
          "500": {
            "$ref": "#/components/responses/internal"
          },
          "502": {
            "$ref": "#/components/responses/redis_unauthorized-or-redis_error-or-unexpected_reply"
          },
          "503": {
            "$ref": "#/components/responses/redis_quota-or-redis_not_writable-or-misconfigured"
          },
          "504": {
            "$ref": "#/components/responses/redis_unreachable"
          },
          "4XX": {
            "$ref": "#/components/responses/no_route-or-method_not_allowed-or-foreign_origin"
          }
        }
      }
    },
    "/openapi.json": {
      "get": {
        "operationId": "openapi",
        "tags": [
          "about"
        ],
        "summary": "This document",
        "description": "OpenAPI 3.1, built from the schemas that check the requests.",
        "security": [],
        "responses": {
          "200": {
            "description": "The document.",
            "content": {
              "application/json": {
                "schema": {
                  "type": "object"
                }
              }
            }
          },
          "503": {
            "$ref": "#/components/responses/misconfigured"
          },
          "4XX": {
            "$ref": "#/components/responses/no_route-or-method_not_allowed-or-foreign_origin"
          }
        }
      }
    },
    "/docs": {
      "get": {
        "operationId": "docs",
        "tags": [
          "about"
        ],
        "summary": "This document as a web page",
        "description": "One page, without scripts and without resources from elsewhere.",
        "security": [],
        "responses": {
          "200": {
            "description": "The page.",
            "content": {
              "text/html": {
                "schema": {
                  "type": "string"
                }
              }
            }
          },
          "503": {
            "$ref": "#/components/responses/misconfigured"
          },
          "4XX": {
            "$ref": "#/components/responses/no_route-or-method_not_allowed-or-foreign_origin"
          }
        }
      }
    }
  },
  "components": {
    "securitySchemes": {
      "token": {
        "type": "http",
        "scheme": "bearer",
        "description": "A token with the scope that the route needs, for the queue. `admin` includes `view`."
      },
      "cronSecret": {
        "type": "http",
        "scheme": "bearer",
        "description": "The server's CRON_SECRET."
      }
    },
    "schemas": {
      "NewTask": {
        "type": "object",
        "properties": {
          "payload": {
            "description": "Any JSON value; with `encoding`, bytes in base64. Numbers are 64-bit floats: extra digits are rounded, and a number out of range, such as 1e400, is refused."
          },
          "encoding": {
            "const": "base64",
            "description": "Set it if the value is bytes in base64."
          },
          "id": {
            "$ref": "#/components/schemas/TaskId",
            "description": "An id of your own. While the task is known, another enqueue with this id changes nothing. Default: a generated id."
          },
          "unique": {
            "$ref": "#/components/schemas/Duration",
            "description": "How long the `id` is refused from this enqueue on, such as \"24h\": another enqueue with it changes nothing, even if the task has completed, was cancelled, or its record was deleted. Needs an `id`; not with `again`. Default 0: as long as the task or its record is kept."
          },
          "again": {
            "type": "boolean",
            "description": "True: if the task with this `id` has ended, enqueue it anew and replace the old record. Default false."
          },
          "dedup": {
            "type": "object",
            "properties": {
              "key": {
                "$ref": "#/components/schemas/Name",
                "description": "Tasks of one queue with the same key are the same work."
              },
              "window": {
                "$ref": "#/components/schemas/PositiveDuration",
                "description": "How long the key is kept from the first task on, even if that task ends; at least 1 ms."
              }
            },
            "required": [
              "key",
              "window"
            ],
            "additionalProperties": false,
            "description": "Deduplication: of the tasks with the same key, only the first within its window is added. The others get its id in the response."
          },
          "group": {
            "$ref": "#/components/schemas/Name",
            "description": "The tenant or client that the task belongs to. Groups share a queue fairly."
          },
          "priority": {
            "type": "integer",
            "minimum": 0,
            "maximum": 9,
            "description": "Tasks with a higher priority are pulled first. Default 0."
          },
          "delay": {
            "$ref": "#/components/schemas/Duration",
            "description": "How long until the task becomes pending. Default 0."
          },
          "at": {
            "anyOf": [
              {
                "type": "integer",
                "minimum": 0,
                "maximum": 999999999
              },
              {
                "type": "integer",
                "minimum": 10000000000,
                "maximum": 4503599627370495
              }
            ],
            "description": "When the task becomes pending, epoch ms; instead of `delay`."
          },
          "lease": {
            "$ref": "#/components/schemas/PositiveDuration",
            "description": "How long one attempt may take. Default: the lease of the pull."
          },
          "maxAttempts": {
            "type": "integer",
            "minimum": 0,
            "maximum": 1000000,
            "description": "Charged attempts after which the task becomes a dead letter; 0 is no limit. Default 10."
          },
          "resultTtl": {
            "$ref": "#/components/schemas/Duration",
            "description": "How long the record and the result of the completed task are kept, at least 5 minutes. With 0 no result is kept, and the id stays known for 5 minutes. Default \"1h\"."
          },
          "deadTtl": {
            "$ref": "#/components/schemas/Duration",
            "description": "How long the dead letter, with its payload and error, is kept, at least 5 minutes. With 0 no dead letter is kept, and the id stays known for 5 minutes. Default \"7d\"."
          },
          "headers": {
            "type": "object",
            "propertyNames": {
              "minLength": 1
            },
            "additionalProperties": {
              "type": "string"
            },
            "description": "Texts that are stored with the payload, at most 16 KiB in total."
          },
          "debounce": {
            "type": "object",
            "properties": {
              "key": {
                "$ref": "#/components/schemas/Name",
                "description": "Tasks of one queue with the same key are joined."
              },
              "wait": {
                "$ref": "#/components/schemas/PositiveDuration",
                "description": "How long after the last enqueue the task is due."
              },
              "maxWait": {
                "$ref": "#/components/schemas/PositiveDuration",
                "description": "How long after the first enqueue it is due at the latest. Default: no bound."
              },
              "keep": {
                "enum": [
                  "last",
                  "first",
                  "all"
                ],
                "type": "string",
                "description": "Which payload the task gets: the last one, with its options; the first one; or all, as a list. A list with 1,000 payloads, or 1 MiB of JSON, starts at once, and the next enqueue begins another. Default last."
              }
            },
            "required": [
              "key",
              "wait"
            ],
            "additionalProperties": false,
            "description": "Joins the enqueues with one key into one task, which is due when no other has come for a while. Not with `delay` or `at`."
          },
          "throttle": {
            "type": "object",
            "properties": {
              "key": {
                "$ref": "#/components/schemas/Name",
                "description": "Tasks of one queue with the same key are counted together."
              },
              "most": {
                "type": "integer",
                "minimum": 1,
                "maximum": 1000000,
                "description": "How many tasks a period may have."
              },
              "per": {
                "$ref": "#/components/schemas/PositiveDuration",
                "description": "The period."
              },
              "excess": {
                "enum": [
                  "drop",
                  "delay"
                ],
                "type": "string",
                "description": "What becomes of the tasks beyond: they are dropped, or delayed until there is room. Default drop."
              }
            },
            "required": [
              "key",
              "most",
              "per"
            ],
            "additionalProperties": false,
            "description": "Adds at most so many tasks of a key in a period."
          },
          "singleton": {
            "type": "object",
            "properties": {
              "key": {
                "$ref": "#/components/schemas/Name",
                "description": "Tasks of one queue with the same key are the same work."
              },
              "while": {
                "enum": [
                  "waiting",
                  "unfinished"
                ],
                "type": "string",
                "description": "Which task of the key is in the way of another one: one that no consumer has begun, or one that has not ended."
              },
              "then": {
                "enum": [
                  "drop",
                  "replace",
                  "cancel"
                ],
                "type": "string",
                "description": "What happens if one is: the new task is dropped, or replaces the payload and the options of the one that waits, or the old one is cancelled. One that works is not replaced: another one waits beside it. Default drop."
              }
            },
            "required": [
              "key",
              "while"
            ],
            "additionalProperties": false,
            "description": "Keeps one task of a key in the queue."
          },
          "replace": {
            "type": "boolean",
            "description": "True replaces the payload and the options of the task with this `id`, if no consumer has begun it. Default false."
          }
        },
        "required": [
          "payload"
        ],
        "additionalProperties": false
      },
      "NewTaskOfMany": {
        "type": "object",
        "properties": {
          "payload": {
            "description": "Any JSON value; with `encoding`, bytes in base64. Numbers are 64-bit floats: extra digits are rounded, and a number out of range, such as 1e400, is refused."
          },
          "encoding": {
            "const": "base64",
            "description": "Set it if the value is bytes in base64."
          },
          "id": {
            "$ref": "#/components/schemas/TaskId",
            "description": "An id of your own. While the task is known, another enqueue with this id changes nothing. Default: a generated id."
          },
          "unique": {
            "$ref": "#/components/schemas/Duration",
            "description": "How long the `id` is refused from this enqueue on, such as \"24h\": another enqueue with it changes nothing, even if the task has completed, was cancelled, or its record was deleted. Needs an `id`; not with `again`. Default 0: as long as the task or its record is kept."
          },
          "again": {
            "type": "boolean",
            "description": "True: if the task with this `id` has ended, enqueue it anew and replace the old record. Default false."
          },
          "dedup": {
            "type": "object",
            "properties": {
              "key": {
                "$ref": "#/components/schemas/Name",
                "description": "Tasks of one queue with the same key are the same work."
              },
              "window": {
                "$ref": "#/components/schemas/PositiveDuration",
                "description": "How long the key is kept from the first task on, even if that task ends; at least 1 ms."
              }
            },
            "required": [
              "key",
              "window"
            ],
            "additionalProperties": false,
            "description": "Deduplication: of the tasks with the same key, only the first within its window is added. The others get its id in the response."
          },
          "group": {
            "$ref": "#/components/schemas/Name",
            "description": "The tenant or client that the task belongs to. Groups share a queue fairly."
          },
          "priority": {
            "type": "integer",
            "minimum": 0,
            "maximum": 9,
            "description": "Tasks with a higher priority are pulled first. Default 0."
          },
          "delay": {
            "$ref": "#/components/schemas/Duration",
            "description": "How long until the task becomes pending. Default 0."
          },
          "at": {
            "anyOf": [
              {
                "type": "integer",
                "minimum": 0,
                "maximum": 999999999
              },
              {
                "type": "integer",
                "minimum": 10000000000,
                "maximum": 4503599627370495
              }
            ],
            "description": "When the task becomes pending, epoch ms; instead of `delay`."
          },
          "lease": {
            "$ref": "#/components/schemas/PositiveDuration",
            "description": "How long one attempt may take. Default: the lease of the pull."
          },
          "maxAttempts": {
            "type": "integer",
            "minimum": 0,
            "maximum": 1000000,
            "description": "Charged attempts after which the task becomes a dead letter; 0 is no limit. Default 10."
          },
          "resultTtl": {
            "$ref": "#/components/schemas/Duration",
            "description": "How long the record and the result of the completed task are kept, at least 5 minutes. With 0 no result is kept, and the id stays known for 5 minutes. Default \"1h\"."
          },
          "deadTtl": {
            "$ref": "#/components/schemas/Duration",
            "description": "How long the dead letter, with its payload and error, is kept, at least 5 minutes. With 0 no dead letter is kept, and the id stays known for 5 minutes. Default \"7d\"."
          },
          "headers": {
            "type": "object",
            "propertyNames": {
              "minLength": 1
            },
            "additionalProperties": {
              "type": "string"
            },
            "description": "Texts that are stored with the payload, at most 16 KiB in total."
          }
        },
        "required": [
          "payload"
        ],
        "additionalProperties": false
      },
      "NewTasks": {
        "type": "object",
        "properties": {
          "tasks": {
            "type": "array",
            "items": {
              "$ref": "#/components/schemas/NewTaskOfMany"
            },
            "maxItems": 1000,
            "minItems": 1
          }
        },
        "required": [
          "tasks"
        ],
        "additionalProperties": false
      },
      "Pull": {
        "type": "object",
        "properties": {
          "max": {
            "type": "integer",
            "minimum": 1,
            "maximum": 100,
            "description": "The most tasks to pull. Default 1."
          },
          "lease": {
            "$ref": "#/components/schemas/PositiveDuration",
            "description": "The lease of tasks that were enqueued without one. Default \"5m\"."
          },
          "token": {
            "type": "string",
            "pattern": "^[A-Za-z0-9_-]{8,64}$",
            "description": "Identifies this pull; make a new one for each. If the pull is sent again with the same token, it gets the same tasks, without those whose lease has ended. A pull that found nothing stays empty."
          },
          "worker": {
            "$ref": "#/components/schemas/Worker",
            "description": "The worker that pulls. It counts as a listener of the queue. When it fails, its tasks can be taken back at once."
          },
          "wait": {
            "$ref": "#/components/schemas/Wait",
            "description": "How long to wait if there is no task, at most \"60s\". Each second costs about 3 Redis commands. Default 0: do not wait."
          },
          "maxBytes": {
            "type": "integer",
            "minimum": 1,
            "maximum": 8000000,
            "description": "The most payload bytes in the response. One task is always included. Default 8,000,000."
          }
        },
        "additionalProperties": false
      },
      "Settlement": {
        "oneOf": [
          {
            "type": "object",
            "properties": {
              "receipt": {
                "type": "string"
              },
              "outcome": {
                "const": "complete"
              },
              "result": {
                "description": "Any JSON value; with `encoding`, bytes in base64."
              },
              "encoding": {
                "const": "base64",
                "description": "Set it if the value is bytes in base64."
              },
              "ttl": {
                "$ref": "#/components/schemas/Duration",
                "description": "How long the record and the result are kept. Default: the task's resultTtl."
              }
            },
            "required": [
              "receipt",
              "outcome"
            ],
            "additionalProperties": false
          },
          {
            "type": "object",
            "properties": {
              "receipt": {
                "type": "string"
              },
              "outcome": {
                "const": "reject"
              },
              "error": {
                "description": "What went wrong: any JSON value; with `encoding`, bytes in base64."
              },
              "encoding": {
                "const": "base64",
                "description": "Set it if the value is bytes in base64."
              },
              "ttl": {
                "$ref": "#/components/schemas/Duration",
                "description": "How long the dead letter is kept. Default: the task's deadTtl."
              }
            },
            "required": [
              "receipt",
              "outcome"
            ],
            "additionalProperties": false
          },
          {
            "type": "object",
            "properties": {
              "receipt": {
                "type": "string"
              },
              "outcome": {
                "const": "requeue"
              },
              "error": {
                "description": "What went wrong: any JSON value; with `encoding`, bytes in base64."
              },
              "encoding": {
                "const": "base64",
                "description": "Set it if the value is bytes in base64."
              },
              "delay": {
                "$ref": "#/components/schemas/Duration",
                "description": "How long until the task is pending again. Default 0."
              },
              "backoff": {
                "anyOf": [
                  {
                    "const": true
                  },
                  {
                    "type": "array",
                    "items": {
                      "$ref": "#/components/schemas/Duration"
                    },
                    "maxItems": 100,
                    "minItems": 1
                  },
                  {
                    "type": "object",
                    "properties": {
                      "base": {
                        "$ref": "#/components/schemas/Duration",
                        "description": "The longest delay before the second attempt. Default 10s."
                      },
                      "factor": {
                        "type": "number",
                        "minimum": 1,
                        "maximum": 100,
                        "description": "The factor by which each further attempt multiplies the longest delay, from 1 to 100. Default 3."
                      },
                      "most": {
                        "$ref": "#/components/schemas/Duration",
                        "description": "The longest delay before any attempt. Default 1h."
                      }
                    },
                    "additionalProperties": false
                  }
                ],
                "description": "A delay that depends on the number of attempts that count, instead of `delay`. True: up to 10 s after the first attempt, 30 s after the second, 90 s after the third, and so on up to 1 hour. Each delay is random, between half of that time and the whole. An object sets these times. A list has the exact delay after each attempt; its last entry applies to all further attempts."
              },
              "count": {
                "type": "boolean",
                "description": "False: the attempt does not count towards maxAttempts. Default true."
              },
              "unstarted": {
                "type": "boolean",
                "description": "True hands back a task that was not started. The attempt does not count. The task goes to the front, or to its old place if it has a group or a priority. Not with `delay`, `backoff`, `error` or `queue`."
              },
              "queue": {
                "type": "boolean",
                "description": "True also pauses the queue for the delay, unless it is paused for longer: for a service that refuses all requests. Default false."
              }
            },
            "required": [
              "receipt",
              "outcome"
            ],
            "additionalProperties": false
          },
          {
            "type": "object",
            "properties": {
              "receipt": {
                "type": "string"
              },
              "outcome": {
                "const": "extend"
              },
              "lease": {
                "$ref": "#/components/schemas/PositiveDuration",
                "description": "The new lease, from now. Default: the task's own lease."
              },
              "progress": {
                "description": "Progress of the work: any JSON value, at most 1 KiB. Replaces the previous one."
              }
            },
            "required": [
              "receipt",
              "outcome"
            ],
            "additionalProperties": false
          }
        ]
      },
      "Settle": {
        "type": "object",
        "properties": {
          "settlements": {
            "type": "array",
            "items": {
              "$ref": "#/components/schemas/Settlement"
            },
            "maxItems": 1000
          },
          "pull": {
            "$ref": "#/components/schemas/Pull"
          }
        },
        "required": [
          "settlements"
        ],
        "additionalProperties": false
      },
      "Cancel": {
        "type": "object",
        "properties": {
          "lease": {
            "type": "integer",
            "minimum": 0,
            "maximum": 9007199254740991,
            "description": "Cancel only if the task is under the lease with this number."
          }
        },
        "additionalProperties": false
      },
      "CancelMany": {
        "type": "object",
        "properties": {
          "ids": {
            "type": "array",
            "items": {
              "anyOf": [
                {
                  "$ref": "#/components/schemas/TaskId"
                },
                {
                  "type": "object",
                  "properties": {
                    "id": {
                      "$ref": "#/components/schemas/TaskId"
                    },
                    "lease": {
                      "type": "integer",
                      "minimum": 0,
                      "maximum": 9007199254740991,
                      "description": "Cancel only if the task is under the lease with this number."
                    }
                  },
                  "required": [
                    "id"
                  ],
                  "additionalProperties": false
                }
              ]
            },
            "maxItems": 1000,
            "description": "The tasks to cancel."
          }
        },
        "required": [
          "ids"
        ],
        "additionalProperties": false
      },
      "DeleteMany": {
        "type": "object",
        "properties": {
          "ids": {
            "type": "array",
            "items": {
              "$ref": "#/components/schemas/TaskId"
            },
            "maxItems": 1000,
            "description": "The tasks to delete."
          }
        },
        "required": [
          "ids"
        ],
        "additionalProperties": false
      },
      "Redrive": {
        "type": "object",
        "properties": {
          "ids": {
            "type": "array",
            "items": {
              "anyOf": [
                {
                  "$ref": "#/components/schemas/TaskId"
                },
                {
                  "type": "object",
                  "properties": {
                    "id": {
                      "$ref": "#/components/schemas/TaskId"
                    },
                    "lease": {
                      "type": "integer",
                      "minimum": 0,
                      "maximum": 9007199254740991,
                      "description": "Redrive only if the task has this lease number. Its record has it as `lease`."
                    }
                  },
                  "required": [
                    "id"
                  ],
                  "additionalProperties": false
                }
              ]
            },
            "maxItems": 1000,
            "description": "The dead letters to redrive, instead of a filter. With `lease`, a late copy of the request does not redrive a task that has since become a dead letter again."
          },
          "text": {
            "type": "string",
            "minLength": 1,
            "maxLength": 1000,
            "description": "Text that the last error, or the result, contains. Of a task without an error, and of one whose last lease expired, also the text of its reason."
          },
          "group": {
            "$ref": "#/components/schemas/Name",
            "description": "Tasks of this group."
          },
          "reason": {
            "anyOf": [
              {
                "enum": [
                  "rejected",
                  "attempts_exhausted",
                  "lease_expired",
                  "taken_back",
                  "cancelled",
                  "dependency_failed"
                ],
                "type": "string"
              },
              {
                "type": "array",
                "items": {
                  "enum": [
                    "rejected",
                    "attempts_exhausted",
                    "lease_expired",
                    "taken_back",
                    "dependency_failed"
                  ],
                  "type": "string"
                },
                "minItems": 1
              }
            ],
            "description": "The reason for which they were rejected, or several of which one must match. Default: `attempts_exhausted`, `lease_expired` and `taken_back`, so that those that a consumer rejected for good stay."
          },
          "endedSince": {
            "anyOf": [
              {
                "type": "integer",
                "minimum": 0,
                "maximum": 999999999
              },
              {
                "type": "integer",
                "minimum": 10000000000,
                "maximum": 8640000000000000
              }
            ],
            "description": "Ended at this time or later, epoch ms."
          },
          "endedUntil": {
            "anyOf": [
              {
                "type": "integer",
                "minimum": 0,
                "maximum": 999999999
              },
              {
                "type": "integer",
                "minimum": 10000000000,
                "maximum": 8640000000000000
              }
            ],
            "description": "Ended before this time, epoch ms."
          },
          "enqueuedSince": {
            "anyOf": [
              {
                "type": "integer",
                "minimum": 0,
                "maximum": 999999999
              },
              {
                "type": "integer",
                "minimum": 10000000000,
                "maximum": 8640000000000000
              }
            ],
            "description": "Enqueued at this time or later, epoch ms."
          },
          "enqueuedUntil": {
            "anyOf": [
              {
                "type": "integer",
                "minimum": 0,
                "maximum": 999999999
              },
              {
                "type": "integer",
                "minimum": 10000000000,
                "maximum": 8640000000000000
              }
            ],
            "description": "Enqueued before this time, epoch ms."
          },
          "dryRun": {
            "type": "boolean",
            "description": "True counts the tasks that would be redriven and changes nothing. Default false."
          },
          "rate": {
            "type": "number",
            "minimum": 0.001,
            "maximum": 1000000,
            "description": "The most tasks that become pending per second. The others are delayed. Default: all at once."
          },
          "limit": {
            "type": "integer",
            "minimum": 1,
            "maximum": 1000000000,
            "description": "The most tasks. Default: all."
          },
          "cursor": {
            "type": "string",
            "minLength": 1,
            "description": "Where to continue: the `cursor` of the previous call. The filter must be the same."
          },
          "budget": {
            "$ref": "#/components/schemas/Budget",
            "description": "How long the call may take. Default \"20s\", or two fifths of the deployment's budget if that is less; at most \"60s\"."
          }
        },
        "additionalProperties": false
      },
      "Purge": {
        "type": "object",
        "properties": {
          "state": {
            "enum": [
              "pending",
              "delayed",
              "blocked",
              "completed",
              "rejected"
            ],
            "type": "string",
            "description": "The state of the tasks. Pending, delayed and blocked tasks are cancelled. The records of completed and rejected tasks are deleted."
          },
          "text": {
            "type": "string",
            "minLength": 1,
            "maxLength": 1000,
            "description": "Text that the last error, or the result, contains. Of a task without an error, and of one whose last lease expired, also the text of its reason."
          },
          "group": {
            "$ref": "#/components/schemas/Name",
            "description": "Tasks of this group."
          },
          "reason": {
            "anyOf": [
              {
                "enum": [
                  "rejected",
                  "attempts_exhausted",
                  "lease_expired",
                  "taken_back",
                  "cancelled",
                  "dependency_failed"
                ],
                "type": "string"
              },
              {
                "type": "array",
                "items": {
                  "enum": [
                    "rejected",
                    "attempts_exhausted",
                    "lease_expired",
                    "taken_back",
                    "dependency_failed"
                  ],
                  "type": "string"
                },
                "minItems": 1
              }
            ],
            "description": "The reason for which they were rejected, or several of which one must match. `cancelled` cannot be one of several: cancelled tasks are no dead letters."
          },
          "endedSince": {
            "anyOf": [
              {
                "type": "integer",
                "minimum": 0,
                "maximum": 999999999
              },
              {
                "type": "integer",
                "minimum": 10000000000,
                "maximum": 8640000000000000
              }
            ],
            "description": "Ended at this time or later, epoch ms."
          },
          "endedUntil": {
            "anyOf": [
              {
                "type": "integer",
                "minimum": 0,
                "maximum": 999999999
              },
              {
                "type": "integer",
                "minimum": 10000000000,
                "maximum": 8640000000000000
              }
            ],
            "description": "Ended before this time, epoch ms."
          },
          "enqueuedSince": {
            "anyOf": [
              {
                "type": "integer",
                "minimum": 0,
                "maximum": 999999999
              },
              {
                "type": "integer",
                "minimum": 10000000000,
                "maximum": 8640000000000000
              }
            ],
            "description": "Enqueued at this time or later, epoch ms."
          },
          "enqueuedUntil": {
            "anyOf": [
              {
                "type": "integer",
                "minimum": 0,
                "maximum": 999999999
              },
              {
                "type": "integer",
                "minimum": 10000000000,
                "maximum": 8640000000000000
              }
            ],
            "description": "Enqueued before this time, epoch ms."
          },
          "limit": {
            "type": "integer",
            "minimum": 1,
            "maximum": 1000000000,
            "description": "The most tasks. Default: all."
          },
          "cursor": {
            "type": "string",
            "minLength": 1,
            "description": "Where to continue: the `cursor` of the previous call. The filter must be the same."
          },
          "budget": {
            "$ref": "#/components/schemas/Budget",
            "description": "How long the call may take. Default \"20s\", or two fifths of the deployment's budget if that is less; at most \"60s\"."
          }
        },
        "required": [
          "state"
        ],
        "additionalProperties": false
      },
      "NewFlow": {
        "type": "object",
        "properties": {
          "tasks": {
            "type": "array",
            "items": {
              "$ref": "#/components/schemas/FlowItem"
            },
            "maxItems": 10000,
            "minItems": 1,
            "description": "In any order."
          },
          "id": {
            "type": "string",
            "pattern": "^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$",
            "description": "The name of the flow. A flow whose name is known is not added again. Default: a generated name."
          },
          "onFailure": {
            "const": "cancel",
            "description": "`cancel`: if a task fails, those that have not ended are cancelled, except what waits for their ends alone. Default: only what waits for it is rejected."
          }
        },
        "required": [
          "tasks"
        ],
        "additionalProperties": false
      },
      "NewBatch": {
        "type": "object",
        "properties": {
          "tasks": {
            "type": "array",
            "items": {
              "type": "object",
              "properties": {
                "ref": {
                  "type": "string",
                  "pattern": "^[A-Za-z0-9][!-.0-~]{0,127}$",
                  "description": "Default: its place in the list, from 1."
                },
                "queue": {
                  "$ref": "#/components/schemas/QueueName",
                  "description": "The queue of the task."
                },
                "payload": {
                  "description": "Any JSON value; with `encoding`, bytes in base64. Numbers are 64-bit floats: extra digits are rounded, and a number out of range, such as 1e400, is refused."
                },
                "encoding": {
                  "const": "base64",
                  "description": "Set it if the value is bytes in base64."
                },
                "group": {
                  "$ref": "#/components/schemas/Name",
                  "description": "The tenant or client that the task belongs to. Groups share a queue fairly."
                },
                "priority": {
                  "type": "integer",
                  "minimum": 0,
                  "maximum": 9,
                  "description": "Tasks with a higher priority are pulled first. Default 0."
                },
                "delay": {
                  "$ref": "#/components/schemas/Duration",
                  "description": "How long until the task becomes pending, once nothing that it waits for is left. Default 0."
                },
                "lease": {
                  "$ref": "#/components/schemas/PositiveDuration",
                  "description": "How long one attempt may take. Default: the lease of the pull."
                },
                "maxAttempts": {
                  "type": "integer",
                  "minimum": 0,
                  "maximum": 1000000,
                  "description": "Charged attempts after which the task becomes a dead letter; 0 is no limit. Default 10."
                },
                "resultTtl": {
                  "$ref": "#/components/schemas/Duration",
                  "description": "How long the record and the result of the completed task are kept, at least 5 minutes. With 0 no result is kept, and the id stays known for 5 minutes. Default \"1h\"."
                },
                "deadTtl": {
                  "$ref": "#/components/schemas/Duration",
                  "description": "How long the dead letter, with its payload and error, is kept, at least 5 minutes. With 0 no dead letter is kept, and the id stays known for 5 minutes. Default \"7d\"."
                },
                "headers": {
                  "type": "object",
                  "propertyNames": {
                    "minLength": 1
                  },
                  "additionalProperties": {
                    "type": "string"
                  },
                  "description": "Texts that are stored with the payload, at most 16 KiB in total."
                }
              },
              "required": [
                "queue",
                "payload"
              ],
              "additionalProperties": false
            },
            "maxItems": 10000,
            "minItems": 1,
            "description": "They do not wait for each other."
          },
          "completed": {
            "type": "object",
            "properties": {
              "queue": {
                "$ref": "#/components/schemas/QueueName",
                "description": "The queue of the task."
              },
              "payload": {
                "description": "Any JSON value; with `encoding`, bytes in base64. Numbers are 64-bit floats: extra digits are rounded, and a number out of range, such as 1e400, is refused."
              },
              "encoding": {
                "const": "base64",
                "description": "Set it if the value is bytes in base64."
              },
              "group": {
                "$ref": "#/components/schemas/Name",
                "description": "The tenant or client that the task belongs to. Groups share a queue fairly."
              },
              "priority": {
                "type": "integer",
                "minimum": 0,
                "maximum": 9,
                "description": "Tasks with a higher priority are pulled first. Default 0."
              },
              "delay": {
                "$ref": "#/components/schemas/Duration",
                "description": "How long until the task becomes pending, once nothing that it waits for is left. Default 0."
              },
              "lease": {
                "$ref": "#/components/schemas/PositiveDuration",
                "description": "How long one attempt may take. Default: the lease of the pull."
              },
              "maxAttempts": {
                "type": "integer",
                "minimum": 0,
                "maximum": 1000000,
                "description": "Charged attempts after which the task becomes a dead letter; 0 is no limit. Default 10."
              },
              "resultTtl": {
                "$ref": "#/components/schemas/Duration",
                "description": "How long the record and the result of the completed task are kept, at least 5 minutes. With 0 no result is kept, and the id stays known for 5 minutes. Default \"1h\"."
              },
              "deadTtl": {
                "$ref": "#/components/schemas/Duration",
                "description": "How long the dead letter, with its payload and error, is kept, at least 5 minutes. With 0 no dead letter is kept, and the id stays known for 5 minutes. Default \"7d\"."
              },
              "headers": {
                "type": "object",
                "propertyNames": {
                  "minLength": 1
                },
                "additionalProperties": {
                  "type": "string"
                },
                "description": "Texts that are stored with the payload, at most 16 KiB in total."
              }
            },
            "required": [
              "queue",
              "payload"
            ],
            "additionalProperties": false,
            "description": "A task that begins when all tasks have ended, if all completed. Else it is rejected with the reason `dependency_failed`."
          },
          "failed": {
            "type": "object",
            "properties": {
              "queue": {
                "$ref": "#/components/schemas/QueueName",
                "description": "The queue of the task."
              },
              "payload": {
                "description": "Any JSON value; with `encoding`, bytes in base64. Numbers are 64-bit floats: extra digits are rounded, and a number out of range, such as 1e400, is refused."
              },
              "encoding": {
                "const": "base64",
                "description": "Set it if the value is bytes in base64."
              },
              "group": {
                "$ref": "#/components/schemas/Name",
                "description": "The tenant or client that the task belongs to. Groups share a queue fairly."
              },
              "priority": {
                "type": "integer",
                "minimum": 0,
                "maximum": 9,
                "description": "Tasks with a higher priority are pulled first. Default 0."
              },
              "delay": {
                "$ref": "#/components/schemas/Duration",
                "description": "How long until the task becomes pending, once nothing that it waits for is left. Default 0."
              },
              "lease": {
                "$ref": "#/components/schemas/PositiveDuration",
                "description": "How long one attempt may take. Default: the lease of the pull."
              },
              "maxAttempts": {
                "type": "integer",
                "minimum": 0,
                "maximum": 1000000,
                "description": "Charged attempts after which the task becomes a dead letter; 0 is no limit. Default 10."
              },
              "resultTtl": {
                "$ref": "#/components/schemas/Duration",
                "description": "How long the record and the result of the completed task are kept, at least 5 minutes. With 0 no result is kept, and the id stays known for 5 minutes. Default \"1h\"."
              },
              "deadTtl": {
                "$ref": "#/components/schemas/Duration",
                "description": "How long the dead letter, with its payload and error, is kept, at least 5 minutes. With 0 no dead letter is kept, and the id stays known for 5 minutes. Default \"7d\"."
              },
              "headers": {
                "type": "object",
                "propertyNames": {
                  "minLength": 1
                },
                "additionalProperties": {
                  "type": "string"
                },
                "description": "Texts that are stored with the payload, at most 16 KiB in total."
              }
            },
            "required": [
              "queue",
              "payload"
            ],
            "additionalProperties": false,
            "description": "A task that begins then if one of them did not complete. Else it ends as cancelled."
          },
          "ended": {
            "type": "object",
            "properties": {
              "queue": {
                "$ref": "#/components/schemas/QueueName",
                "description": "The queue of the task."
              },
              "payload": {
                "description": "Any JSON value; with `encoding`, bytes in base64. Numbers are 64-bit floats: extra digits are rounded, and a number out of range, such as 1e400, is refused."
              },
              "encoding": {
                "const": "base64",
                "description": "Set it if the value is bytes in base64."
              },
              "group": {
                "$ref": "#/components/schemas/Name",
                "description": "The tenant or client that the task belongs to. Groups share a queue fairly."
              },
              "priority": {
                "type": "integer",
                "minimum": 0,
                "maximum": 9,
                "description": "Tasks with a higher priority are pulled first. Default 0."
              },
              "delay": {
                "$ref": "#/components/schemas/Duration",
                "description": "How long until the task becomes pending, once nothing that it waits for is left. Default 0."
              },
              "lease": {
                "$ref": "#/components/schemas/PositiveDuration",
                "description": "How long one attempt may take. Default: the lease of the pull."
              },
              "maxAttempts": {
                "type": "integer",
                "minimum": 0,
                "maximum": 1000000,
                "description": "Charged attempts after which the task becomes a dead letter; 0 is no limit. Default 10."
              },
              "resultTtl": {
                "$ref": "#/components/schemas/Duration",
                "description": "How long the record and the result of the completed task are kept, at least 5 minutes. With 0 no result is kept, and the id stays known for 5 minutes. Default \"1h\"."
              },
              "deadTtl": {
                "$ref": "#/components/schemas/Duration",
                "description": "How long the dead letter, with its payload and error, is kept, at least 5 minutes. With 0 no dead letter is kept, and the id stays known for 5 minutes. Default \"7d\"."
              },
              "headers": {
                "type": "object",
                "propertyNames": {
                  "minLength": 1
                },
                "additionalProperties": {
                  "type": "string"
                },
                "description": "Texts that are stored with the payload, at most 16 KiB in total."
              }
            },
            "required": [
              "queue",
              "payload"
            ],
            "additionalProperties": false,
            "description": "A task that begins then in any case."
          },
          "id": {
            "type": "string",
            "pattern": "^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$",
            "description": "The name of the flow. A flow whose name is known is not added again. Default: a generated name."
          },
          "onFailure": {
            "const": "cancel",
            "description": "`cancel`: if a task fails, those that have not ended are cancelled, except what waits for their ends alone. Default: only what waits for it is rejected."
          }
        },
        "required": [
          "tasks"
        ],
        "additionalProperties": false
      },
      "NewBefore": {
        "type": "object",
        "properties": {
          "receipt": {
            "type": "string",
            "description": "Proof of the lease of the task that adds them."
          },
          "ref": {
            "type": "string",
            "pattern": "^[A-Za-z0-9][!-.0-~]{0,127}$",
            "description": "What waits for that task: a task or an inner flow; or the inner flow or `batch` that it is in."
          },
          "tasks": {
            "type": "array",
            "items": {
              "$ref": "#/components/schemas/FlowItem"
            },
            "maxItems": 10000,
            "minItems": 1,
            "description": "As of a flow."
          }
        },
        "required": [
          "receipt",
          "ref",
          "tasks"
        ],
        "additionalProperties": false
      },
      "FlowItem": {
        "anyOf": [
          {
            "$ref": "#/components/schemas/FlowTask"
          },
          {
            "$ref": "#/components/schemas/InnerFlow"
          }
        ]
      },
      "FlowTask": {
        "type": "object",
        "properties": {
          "ref": {
            "type": "string",
            "pattern": "^[A-Za-z0-9][!-.0-~]{0,127}$",
            "description": "The name of the item, unique in its list."
          },
          "after": {
            "anyOf": [
              {
                "anyOf": [
                  {
                    "type": "string",
                    "pattern": "^[A-Za-z0-9][!-.0-~]{0,127}$"
                  },
                  {
                    "type": "object",
                    "properties": {
                      "ref": {
                        "type": "string",
                        "pattern": "^[A-Za-z0-9][!-.0-~]{0,127}$",
                        "description": "The item that must end first."
                      },
                      "on": {
                        "enum": [
                          "completed",
                          "ended"
                        ],
                        "type": "string",
                        "description": "`completed`: that item must complete; if it ends otherwise, this one is rejected with the reason `dependency_failed`. `ended`: it may end in any way. Default completed."
                      }
                    },
                    "required": [
                      "ref"
                    ],
                    "additionalProperties": false
                  }
                ]
              },
              {
                "type": "array",
                "items": {
                  "anyOf": [
                    {
                      "type": "string",
                      "pattern": "^[A-Za-z0-9][!-.0-~]{0,127}$"
                    },
                    {
                      "type": "object",
                      "properties": {
                        "ref": {
                          "type": "string",
                          "pattern": "^[A-Za-z0-9][!-.0-~]{0,127}$",
                          "description": "The item that must end first."
                        },
                        "on": {
                          "enum": [
                            "completed",
                            "ended"
                          ],
                          "type": "string",
                          "description": "`completed`: that item must complete; if it ends otherwise, this one is rejected with the reason `dependency_failed`. `ended`: it may end in any way. Default completed."
                        }
                      },
                      "required": [
                        "ref"
                      ],
                      "additionalProperties": false
                    }
                  ]
                },
                "maxItems": 10000
              }
            ],
            "description": "What the item waits for: refs of the same list. Default: it begins at once, in an inner flow with that."
          },
          "queue": {
            "$ref": "#/components/schemas/QueueName",
            "description": "The queue of the task."
          },
          "payload": {
            "description": "Any JSON value; with `encoding`, bytes in base64. Numbers are 64-bit floats: extra digits are rounded, and a number out of range, such as 1e400, is refused."
          },
          "encoding": {
            "const": "base64",
            "description": "Set it if the value is bytes in base64."
          },
          "group": {
            "$ref": "#/components/schemas/Name",
            "description": "The tenant or client that the task belongs to. Groups share a queue fairly."
          },
          "priority": {
            "type": "integer",
            "minimum": 0,
            "maximum": 9,
            "description": "Tasks with a higher priority are pulled first. Default 0."
          },
          "delay": {
            "$ref": "#/components/schemas/Duration",
            "description": "How long until the task becomes pending, once nothing that it waits for is left. Default 0."
          },
          "lease": {
            "$ref": "#/components/schemas/PositiveDuration",
            "description": "How long one attempt may take. Default: the lease of the pull."
          },
          "maxAttempts": {
            "type": "integer",
            "minimum": 0,
            "maximum": 1000000,
            "description": "Charged attempts after which the task becomes a dead letter; 0 is no limit. Default 10."
          },
          "resultTtl": {
            "$ref": "#/components/schemas/Duration",
            "description": "How long the record and the result of the completed task are kept, at least 5 minutes. With 0 no result is kept, and the id stays known for 5 minutes. Default \"1h\"."
          },
          "deadTtl": {
            "$ref": "#/components/schemas/Duration",
            "description": "How long the dead letter, with its payload and error, is kept, at least 5 minutes. With 0 no dead letter is kept, and the id stays known for 5 minutes. Default \"7d\"."
          },
          "headers": {
            "type": "object",
            "propertyNames": {
              "minLength": 1
            },
            "additionalProperties": {
              "type": "string"
            },
            "description": "Texts that are stored with the payload, at most 16 KiB in total."
          }
        },
        "required": [
          "ref",
          "queue",
          "payload"
        ],
        "additionalProperties": false
      },
      "InnerFlow": {
        "type": "object",
        "properties": {
          "ref": {
            "type": "string",
            "pattern": "^[A-Za-z0-9][!-.0-~]{0,127}$",
            "description": "The name of the item, unique in its list."
          },
          "flow": {
            "type": "array",
            "items": {
              "$ref": "#/components/schemas/FlowItem"
            },
            "maxItems": 10000,
            "description": "Tasks and flows, which name only each other. The item ends when all of them have ended, as completed if all of them completed."
          },
          "after": {
            "anyOf": [
              {
                "anyOf": [
                  {
                    "type": "string",
                    "pattern": "^[A-Za-z0-9][!-.0-~]{0,127}$"
                  },
                  {
                    "type": "object",
                    "properties": {
                      "ref": {
                        "type": "string",
                        "pattern": "^[A-Za-z0-9][!-.0-~]{0,127}$",
                        "description": "The item that must end first."
                      },
                      "on": {
                        "enum": [
                          "completed",
                          "ended"
                        ],
                        "type": "string",
                        "description": "`completed`: that item must complete; if it ends otherwise, this one is rejected with the reason `dependency_failed`. `ended`: it may end in any way. Default completed."
                      }
                    },
                    "required": [
                      "ref"
                    ],
                    "additionalProperties": false
                  }
                ]
              },
              {
                "type": "array",
                "items": {
                  "anyOf": [
                    {
                      "type": "string",
                      "pattern": "^[A-Za-z0-9][!-.0-~]{0,127}$"
                    },
                    {
                      "type": "object",
                      "properties": {
                        "ref": {
                          "type": "string",
                          "pattern": "^[A-Za-z0-9][!-.0-~]{0,127}$",
                          "description": "The item that must end first."
                        },
                        "on": {
                          "enum": [
                            "completed",
                            "ended"
                          ],
                          "type": "string",
                          "description": "`completed`: that item must complete; if it ends otherwise, this one is rejected with the reason `dependency_failed`. `ended`: it may end in any way. Default completed."
                        }
                      },
                      "required": [
                        "ref"
                      ],
                      "additionalProperties": false
                    }
                  ]
                },
                "maxItems": 10000
              }
            ],
            "description": "What the item waits for: refs of the same list. Default: it begins at once, in an inner flow with that."
          }
        },
        "required": [
          "ref",
          "flow"
        ],
        "additionalProperties": false
      },
      "NewMessages": {
        "type": "object",
        "properties": {
          "messages": {
            "type": "array",
            "items": {
              "$ref": "#/components/schemas/NewTaskOfMany"
            },
            "maxItems": 1000,
            "minItems": 1
          }
        },
        "required": [
          "messages"
        ],
        "additionalProperties": false
      },
      "PreviewPublish": {
        "type": "object",
        "properties": {
          "headers": {
            "type": "object",
            "propertyNames": {
              "minLength": 1
            },
            "additionalProperties": {
              "type": "string"
            },
            "description": "Those of the message. Default: none."
          }
        },
        "additionalProperties": false
      },
      "Subscription": {
        "type": "object",
        "properties": {
          "filter": {
            "anyOf": [
              {
                "anyOf": [
                  {
                    "type": "object",
                    "properties": {
                      "header": {
                        "type": "string",
                        "description": "The name of a header of the message."
                      },
                      "in": {
                        "type": "array",
                        "items": {
                          "type": "string"
                        },
                        "maxItems": 100,
                        "minItems": 1,
                        "description": "The header must be one of these texts."
                      }
                    },
                    "required": [
                      "header",
                      "in"
                    ],
                    "additionalProperties": false
                  },
                  {
                    "type": "object",
                    "properties": {
                      "header": {
                        "type": "string",
                        "description": "The name of a header of the message."
                      },
                      "notIn": {
                        "type": "array",
                        "items": {
                          "type": "string"
                        },
                        "maxItems": 100,
                        "minItems": 1,
                        "description": "The header must be absent, or none of these texts."
                      }
                    },
                    "required": [
                      "header",
                      "notIn"
                    ],
                    "additionalProperties": false
                  },
                  {
                    "type": "object",
                    "properties": {
                      "header": {
                        "type": "string",
                        "description": "The name of a header of the message."
                      },
                      "exists": {
                        "type": "boolean",
                        "description": "Whether the header must be there, or absent."
                      }
                    },
                    "required": [
                      "header",
                      "exists"
                    ],
                    "additionalProperties": false
                  }
                ]
              },
              {
                "type": "array",
                "items": {
                  "anyOf": [
                    {
                      "type": "object",
                      "properties": {
                        "header": {
                          "type": "string",
                          "description": "The name of a header of the message."
                        },
                        "in": {
                          "type": "array",
                          "items": {
                            "type": "string"
                          },
                          "maxItems": 100,
                          "minItems": 1,
                          "description": "The header must be one of these texts."
                        }
                      },
                      "required": [
                        "header",
                        "in"
                      ],
                      "additionalProperties": false
                    },
                    {
                      "type": "object",
                      "properties": {
                        "header": {
                          "type": "string",
                          "description": "The name of a header of the message."
                        },
                        "notIn": {
                          "type": "array",
                          "items": {
                            "type": "string"
                          },
                          "maxItems": 100,
                          "minItems": 1,
                          "description": "The header must be absent, or none of these texts."
                        }
                      },
                      "required": [
                        "header",
                        "notIn"
                      ],
                      "additionalProperties": false
                    },
                    {
                      "type": "object",
                      "properties": {
                        "header": {
                          "type": "string",
                          "description": "The name of a header of the message."
                        },
                        "exists": {
                          "type": "boolean",
                          "description": "Whether the header must be there, or absent."
                        }
                      },
                      "required": [
                        "header",
                        "exists"
                      ],
                      "additionalProperties": false
                    }
                  ]
                },
                "maxItems": 10
              }
            ],
            "description": "Which messages the queue gets: those that meet the condition, or all conditions of the list. Default: all messages."
          },
          "since": {
            "anyOf": [
              {
                "anyOf": [
                  {
                    "type": "integer",
                    "minimum": 0,
                    "maximum": 999999999
                  },
                  {
                    "type": "integer",
                    "minimum": 10000000000,
                    "maximum": 8640000000000000
                  }
                ]
              },
              {
                "type": "string",
                "pattern": "^\\d{1,12}(?:\\.\\d{1,3})?(?:ms|s|m|h|d)$"
              }
            ],
            "description": "What a new subscription also gets of what the topic has kept: from this instant on, epoch ms, or of this time until now."
          }
        },
        "additionalProperties": false
      },
      "ReplayTopic": {
        "type": "object",
        "properties": {
          "since": {
            "anyOf": [
              {
                "anyOf": [
                  {
                    "type": "integer",
                    "minimum": 0,
                    "maximum": 999999999
                  },
                  {
                    "type": "integer",
                    "minimum": 10000000000,
                    "maximum": 8640000000000000
                  }
                ]
              },
              {
                "type": "string",
                "pattern": "^\\d{1,12}(?:\\.\\d{1,3})?(?:ms|s|m|h|d)$"
              }
            ],
            "description": "What to replay: from this instant on, epoch ms, or of this time until now."
          },
          "budget": {
            "$ref": "#/components/schemas/Budget",
            "description": "How long the call may take. Default \"20s\", or two fifths of the deployment's budget if that is less; at most \"60s\"."
          }
        },
        "required": [
          "since"
        ],
        "additionalProperties": false
      },
      "NewEndpoint": {
        "type": "object",
        "properties": {
          "id": {
            "type": "string",
            "pattern": "^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$",
            "description": "Its id. Default: a generated one."
          },
          "url": {
            "type": "string",
            "description": "Where events are delivered, by POST. It must have a public host."
          },
          "secret": {
            "type": "string",
            "description": "What signs deliveries: `whsec_` and 24 to 64 bytes in base64. Default: a generated one."
          },
          "types": {
            "type": "array",
            "items": {
              "$ref": "#/components/schemas/TopicPattern"
            },
            "maxItems": 100,
            "minItems": 1,
            "description": "The types of the events that it gets: names, or patterns in which `*` is one word and `#` any number. Default: `[\"#\"]`, all."
          },
          "headers": {
            "type": "object",
            "propertyNames": {
              "minLength": 1
            },
            "additionalProperties": {
              "type": "string"
            },
            "description": "Headers of each delivery. Responses have only their names."
          },
          "rate": {
            "anyOf": [
              {
                "type": "object",
                "properties": {
                  "most": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": 1000000,
                    "description": "1 to 1,000,000."
                  },
                  "per": {
                    "$ref": "#/components/schemas/PositiveDuration",
                    "description": "The length of the period."
                  }
                },
                "required": [
                  "most",
                  "per"
                ],
                "additionalProperties": false
              },
              {
                "type": "null"
              }
            ],
            "description": "The most deliveries in a period."
          },
          "maxWorking": {
            "anyOf": [
              {
                "type": "integer",
                "minimum": 1,
                "maximum": 1000000
              },
              {
                "type": "null"
              }
            ],
            "description": "The most deliveries at the same time."
          },
          "order": {
            "anyOf": [
              {
                "const": "strict"
              },
              {
                "type": "null"
              }
            ],
            "description": "`strict`: one delivery at a time, in the order of the events."
          },
          "description": {
            "anyOf": [
              {
                "type": "string",
                "maxLength": 500
              },
              {
                "type": "null"
              }
            ],
            "description": "A text for people, at most 500 characters."
          }
        },
        "required": [
          "url"
        ],
        "additionalProperties": false
      },
      "EndpointChanges": {
        "type": "object",
        "properties": {
          "url": {
            "type": "string",
            "description": "Where events are delivered, by POST. It must have a public host."
          },
          "types": {
            "type": "array",
            "items": {
              "$ref": "#/components/schemas/TopicPattern"
            },
            "maxItems": 100,
            "minItems": 1,
            "description": "The types of the events that it gets: names, or patterns in which `*` is one word and `#` any number. Default: `[\"#\"]`, all."
          },
          "headers": {
            "type": "object",
            "propertyNames": {
              "minLength": 1
            },
            "additionalProperties": {
              "type": "string"
            },
            "description": "Headers of each delivery. Responses have only their names."
          },
          "rate": {
            "anyOf": [
              {
                "type": "object",
                "properties": {
                  "most": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": 1000000,
                    "description": "1 to 1,000,000."
                  },
                  "per": {
                    "$ref": "#/components/schemas/PositiveDuration",
                    "description": "The length of the period."
                  }
                },
                "required": [
                  "most",
                  "per"
                ],
                "additionalProperties": false
              },
              {
                "type": "null"
              }
            ],
            "description": "The most deliveries in a period."
          },
          "maxWorking": {
            "anyOf": [
              {
                "type": "integer",
                "minimum": 1,
                "maximum": 1000000
              },
              {
                "type": "null"
              }
            ],
            "description": "The most deliveries at the same time."
          },
          "order": {
            "anyOf": [
              {
                "const": "strict"
              },
              {
                "type": "null"
              }
            ],
            "description": "`strict`: one delivery at a time, in the order of the events."
          },
          "description": {
            "anyOf": [
              {
                "type": "string",
                "maxLength": 500
              },
              {
                "type": "null"
              }
            ],
            "description": "A text for people, at most 500 characters."
          }
        },
        "additionalProperties": false,
        "description": "Fields that are left out keep their value. null removes the setting."
      },
      "Rotation": {
        "type": "object",
        "properties": {
          "secret": {
            "type": "string",
            "description": "What signs deliveries: `whsec_` and 24 to 64 bytes in base64. Default: a generated one."
          },
          "keep": {
            "$ref": "#/components/schemas/Duration",
            "description": "For how long the secret before signs too. Default \"24h\"."
          }
        },
        "additionalProperties": false
      },
      "Replay": {
        "type": "object",
        "properties": {
          "since": {
            "anyOf": [
              {
                "type": "integer",
                "minimum": 0,
                "maximum": 999999999
              },
              {
                "type": "integer",
                "minimum": 10000000000,
                "maximum": 8640000000000000
              }
            ],
            "description": "Deliveries that failed for good at or after this instant, epoch ms."
          },
          "until": {
            "anyOf": [
              {
                "type": "integer",
                "minimum": 0,
                "maximum": 999999999
              },
              {
                "type": "integer",
                "minimum": 10000000000,
                "maximum": 8640000000000000
              }
            ],
            "description": "Deliveries that did so before this instant, epoch ms. Default: all."
          },
          "limit": {
            "type": "integer",
            "minimum": 1,
            "maximum": 1000000000,
            "description": "The most deliveries in all. Default: all."
          },
          "rate": {
            "type": "number",
            "minimum": 0.001,
            "maximum": 1000000,
            "description": "How many become pending in a second, 0.001 to 1,000,000; the others are delayed. Default: all at once."
          },
          "budget": {
            "$ref": "#/components/schemas/Budget",
            "description": "How long the replay may take. Default \"20s\", or two fifths of the deployment's budget if that is less; at most \"60s\"."
          },
          "cursor": {
            "type": "string",
            "minLength": 1,
            "description": "Where to continue: the `cursor` of the previous response."
          },
          "dryRun": {
            "type": "boolean",
            "description": "True counts the deliveries, and changes nothing. Default false."
          }
        },
        "required": [
          "since"
        ],
        "additionalProperties": false
      },
      "NewEvent": {
        "type": "object",
        "properties": {
          "type": {
            "$ref": "#/components/schemas/TopicName",
            "description": "Such as `orders.paid`: words with dots between."
          },
          "id": {
            "type": "string",
            "pattern": "^[A-Za-z0-9][!-z|~]{0,79}$",
            "description": "An event with the same id is sent once. At most 80 characters. Default: a generated one."
          },
          "payload": {
            "description": "The body of each delivery. Any JSON value; with `encoding`, bytes in base64."
          },
          "encoding": {
            "const": "base64",
            "description": "Set it if the value is bytes in base64."
          }
        },
        "required": [
          "type",
          "payload"
        ],
        "additionalProperties": false
      },
      "QueueChanges": {
        "type": "object",
        "properties": {
          "maxWorking": {
            "anyOf": [
              {
                "type": "integer",
                "minimum": 1,
                "maximum": 1000000
              },
              {
                "type": "null"
              }
            ],
            "description": "The most tasks that are working at the same time."
          },
          "rate": {
            "anyOf": [
              {
                "type": "object",
                "properties": {
                  "most": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": 1000000,
                    "description": "The most pulled tasks."
                  },
                  "per": {
                    "$ref": "#/components/schemas/PositiveDuration",
                    "description": "The length of the period, at least 1 ms."
                  }
                },
                "required": [
                  "most",
                  "per"
                ],
                "additionalProperties": false
              },
              {
                "type": "null"
              }
            ],
            "description": "The most tasks (`most`) that are pulled in any period of the length `per`."
          },
          "maxPending": {
            "anyOf": [
              {
                "type": "integer",
                "minimum": 1,
                "maximum": 100000000
              },
              {
                "type": "null"
              }
            ],
            "description": "An enqueue that would exceed this number of pending tasks is refused with `queue_full`. Delayed tasks count from when they are due. Requeued and redriven tasks are never refused."
          },
          "events": {
            "anyOf": [
              {
                "type": "boolean"
              },
              {
                "type": "null"
              }
            ],
            "description": "Whether the queue publishes events of its tasks."
          },
          "statistics": {
            "anyOf": [
              {
                "type": "boolean"
              },
              {
                "type": "null"
              }
            ],
            "description": "Whether the queue counts events of its tasks: per minute for an hour, per five minutes for a day."
          },
          "order": {
            "anyOf": [
              {
                "enum": [
                  "strict"
                ],
                "type": "string"
              },
              {
                "type": "null"
              }
            ],
            "description": "`strict`: of each group, one task at a time is worked on, in the order in which they were added. The next one begins when it has ended, and not while it waits for another attempt."
          },
          "onDead": {
            "anyOf": [
              {
                "enum": [
                  "continue",
                  "stop"
                ],
                "type": "string"
              },
              {
                "type": "null"
              }
            ],
            "description": "In strict order, what follows a dead letter: the next task of its group (`continue`), or none (`stop`) until it is redriven, deleted or skipped. Default continue."
          }
        },
        "additionalProperties": false,
        "description": "Fields that are left out keep their value. null removes the setting."
      },
      "Pause": {
        "type": "object",
        "properties": {
          "for": {
            "$ref": "#/components/schemas/PositiveDuration",
            "description": "For how long, at least 1 ms. It does not end a pause that lasts until it is resumed. Default: until it is resumed."
          }
        },
        "additionalProperties": false
      },
      "GroupChanges": {
        "type": "object",
        "properties": {
          "paused": {
            "anyOf": [
              {
                "anyOf": [
                  {
                    "type": "boolean"
                  },
                  {
                    "$ref": "#/components/schemas/Pause"
                  }
                ]
              },
              {
                "type": "null"
              }
            ],
            "description": "True delivers no task of the group until it is unset; `{for}` for that time."
          },
          "weight": {
            "anyOf": [
              {
                "type": "integer",
                "minimum": 1,
                "maximum": 100
              },
              {
                "type": "null"
              }
            ],
            "description": "The group's share of the queue relative to other groups. Default 1."
          },
          "maxWorking": {
            "anyOf": [
              {
                "type": "integer",
                "minimum": 1,
                "maximum": 1000000
              },
              {
                "type": "null"
              }
            ],
            "description": "The most tasks that are working at the same time."
          },
          "rate": {
            "anyOf": [
              {
                "type": "object",
                "properties": {
                  "most": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": 1000000,
                    "description": "The most pulled tasks."
                  },
                  "per": {
                    "$ref": "#/components/schemas/PositiveDuration",
                    "description": "The length of the period, at least 1 ms."
                  }
                },
                "required": [
                  "most",
                  "per"
                ],
                "additionalProperties": false
              },
              {
                "type": "null"
              }
            ],
            "description": "The most tasks (`most`) that are pulled in any period of the length `per`."
          },
          "order": {
            "anyOf": [
              {
                "enum": [
                  "strict",
                  "none"
                ],
                "type": "string"
              },
              {
                "type": "null"
              }
            ],
            "description": "As of the queue; `none` for a group without an order. Default: that of the queue."
          },
          "onDead": {
            "anyOf": [
              {
                "enum": [
                  "continue",
                  "stop"
                ],
                "type": "string"
              },
              {
                "type": "null"
              }
            ],
            "description": "As of the queue. Default: that of the queue."
          }
        },
        "additionalProperties": false,
        "description": "Fields that are left out keep their value. null removes the setting."
      },
      "PartitionCount": {
        "type": "object",
        "properties": {
          "count": {
            "type": "integer",
            "minimum": 1,
            "maximum": 62,
            "description": "How many partitions new tasks are to go to."
          }
        },
        "required": [
          "count"
        ],
        "additionalProperties": false
      },
      "NewSchedule": {
        "type": "object",
        "properties": {
          "cron": {
            "type": "string",
            "description": "A cron expression: five fields (minute, hour, day of month, month, day of week), six with seconds first, or a name such as `@daily`. Either `cron` or `every` is required."
          },
          "timeZone": {
            "type": "string",
            "description": "The IANA time zone of `cron`, such as `Europe/Berlin`. Default \"UTC\"."
          },
          "every": {
            "$ref": "#/components/schemas/Interval",
            "description": "The time from one occurrence to the next, at least 1 s. Either `cron` or `every` is required."
          },
          "from": {
            "anyOf": [
              {
                "type": "integer",
                "minimum": 0,
                "maximum": 999999999
              },
              {
                "type": "integer",
                "minimum": 10000000000,
                "maximum": 8640000000000000
              }
            ],
            "description": "With `every`: the first occurrence, epoch ms. If it is in the past, the schedule starts with the next occurrence counted from it. Default: one interval from now."
          },
          "until": {
            "anyOf": [
              {
                "type": "integer",
                "minimum": 0,
                "maximum": 999999999
              },
              {
                "type": "integer",
                "minimum": 10000000000,
                "maximum": 8640000000000000
              }
            ],
            "description": "The end of the schedule, epoch ms. No occurrence is later."
          },
          "missed": {
            "enum": [
              "last",
              "all"
            ],
            "type": "string",
            "description": "Which occurrences are enqueued if no sweep ran in time: only the last, or all. Default last."
          },
          "paused": {
            "type": "boolean",
            "description": "True pauses the schedule, false resumes it. Default: unchanged. A new schedule is not paused."
          },
          "payload": {
            "description": "Any JSON value; with `encoding`, bytes in base64. Numbers are 64-bit floats: extra digits are rounded, and a number out of range, such as 1e400, is refused."
          },
          "encoding": {
            "const": "base64",
            "description": "Set it if the value is bytes in base64."
          },
          "lease": {
            "$ref": "#/components/schemas/PositiveDuration",
            "description": "How long one attempt may take. Default: the lease of the pull."
          },
          "maxAttempts": {
            "type": "integer",
            "minimum": 0,
            "maximum": 1000000,
            "description": "Charged attempts after which the task becomes a dead letter; 0 is no limit. Default 10."
          },
          "resultTtl": {
            "$ref": "#/components/schemas/Duration",
            "description": "How long the record and the result of the completed task are kept, at least 5 minutes. With 0 no result is kept, and the id stays known for 5 minutes. Default \"1h\"."
          },
          "deadTtl": {
            "$ref": "#/components/schemas/Duration",
            "description": "How long the dead letter, with its payload and error, is kept, at least 5 minutes. With 0 no dead letter is kept, and the id stays known for 5 minutes. Default \"7d\"."
          },
          "group": {
            "$ref": "#/components/schemas/Name",
            "description": "The tenant or client that the task belongs to. Groups share a queue fairly."
          },
          "priority": {
            "type": "integer",
            "minimum": 0,
            "maximum": 9,
            "description": "Tasks with a higher priority are pulled first. Default 0."
          },
          "headers": {
            "type": "object",
            "propertyNames": {
              "minLength": 1
            },
            "additionalProperties": {
              "type": "string"
            },
            "description": "Texts that are stored with the payload, at most 16 KiB in total."
          }
        },
        "required": [
          "payload"
        ],
        "additionalProperties": false
      },
      "Heartbeat": {
        "type": "object",
        "properties": {
          "worker": {
            "$ref": "#/components/schemas/Worker",
            "description": "As in pull. It replaces what the worker last sent."
          },
          "lease": {
            "$ref": "#/components/schemas/PositiveDuration",
            "description": "The new lease of all its tasks, from now. Default: for each task the lease with which it was pulled."
          },
          "receipts": {
            "type": "array",
            "items": {
              "type": "string"
            },
            "maxItems": 1000,
            "description": "Receipts of the leases to extend. A lease that was pulled without a worker is extended by any worker with its receipt. A lease of another worker or incarnation is not extended, and its id is in `lost`. Default: all leases that the worker pulled, including those of a pull whose response was lost."
          }
        },
        "required": [
          "worker"
        ],
        "additionalProperties": false
      },
      "FailWorker": {
        "type": "object",
        "properties": {
          "incarnation": {
            "anyOf": [
              {
                "$ref": "#/components/schemas/Name"
              },
              {
                "type": "null"
              }
            ],
            "description": "Fails only this incarnation; null is the one without an incarnation. Default: all with this name."
          },
          "limit": {
            "type": "integer",
            "minimum": 1,
            "maximum": 1000,
            "description": "The most tasks that are taken back in this call. Default 1,000."
          }
        },
        "additionalProperties": false
      },
      "Sweep": {
        "type": "object",
        "properties": {
          "budget": {
            "$ref": "#/components/schemas/Budget",
            "description": "How long the sweep may take. Default \"20s\", or two fifths of the deployment's budget if that is less; at most \"60s\"."
          }
        },
        "additionalProperties": false
      },
      "DeepSweep": {
        "type": "object",
        "properties": {
          "deep": {
            "const": true
          },
          "queue": {
            "$ref": "#/components/schemas/QueueName",
            "description": "Only this queue, registered or not. Default: all registered queues."
          },
          "cursor": {
            "type": "string",
            "minLength": 1,
            "description": "Where to continue: the `cursor` of the previous response."
          },
          "examples": {
            "type": "integer",
            "minimum": 0,
            "maximum": 1000,
            "description": "The most ids that are listed for each fault in each queue. Default 10."
          },
          "budget": {
            "$ref": "#/components/schemas/Budget",
            "description": "How long the sweep may take. Default \"20s\", or two fifths of the deployment's budget if that is less; at most \"60s\"."
          }
        },
        "required": [
          "deep"
        ],
        "additionalProperties": false
      },
      "Duration": {
        "anyOf": [
          {
            "type": "integer",
            "minimum": 0,
            "maximum": 315360000000
          },
          {
            "type": "string",
            "pattern": "^\\d{1,12}(?:\\.\\d{1,3})?(?:ms|s|m|h|d)$"
          }
        ],
        "description": "Milliseconds, or a text: `\"250ms\"`, `\"30s\"`, `\"5m\"`, `\"2h\"`, `\"7d\"`. At most ten years."
      },
      "PositiveDuration": {
        "anyOf": [
          {
            "type": "integer",
            "minimum": 1,
            "maximum": 315360000000
          },
          {
            "type": "string",
            "pattern": "^(?=[0.]*[1-9])\\d{1,12}(?:\\.\\d{1,3})?(?:ms|s|m|h|d)$"
          }
        ],
        "description": "As Duration, from 1 ms to ten years."
      },
      "Interval": {
        "anyOf": [
          {
            "type": "integer",
            "minimum": 1000,
            "maximum": 315360000000
          },
          {
            "type": "string",
            "pattern": "^(?:(?=0*[1-9]\\d{3})\\d{1,12}ms|(?=[0.]*[1-9])\\d{1,12}(?:\\.\\d{1,3})?(?:s|m|h|d))$"
          }
        ],
        "description": "As Duration, from 1 second to ten years."
      },
      "Wait": {
        "anyOf": [
          {
            "type": "integer",
            "minimum": 0,
            "maximum": 60000
          },
          {
            "type": "string",
            "pattern": "^\\d{1,12}(?:\\.\\d{1,3})?(?:ms|s|m|h|d)$"
          }
        ],
        "description": "As Duration, at most 1 minute."
      },
      "Budget": {
        "anyOf": [
          {
            "type": "integer",
            "minimum": 1,
            "maximum": 60000
          },
          {
            "type": "string",
            "pattern": "^(?=[0.]*[1-9])\\d{1,12}(?:\\.\\d{1,3})?(?:ms|s|m|h|d)$"
          }
        ],
        "description": "As Duration, from 1 ms to 1 minute."
      },
      "QueueName": {
        "type": "string",
        "pattern": "^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,127}$",
        "description": "The name of a queue."
      },
      "TopicName": {
        "type": "string",
        "maxLength": 128,
        "pattern": "^[A-Za-z0-9_-]+(?:\\.[A-Za-z0-9_-]+)*$",
        "description": "The name of a topic: words with dots between."
      },
      "TopicPattern": {
        "type": "string",
        "maxLength": 128,
        "pattern": "^(?:[A-Za-z0-9_-]+|[*#])(?:\\.(?:[A-Za-z0-9_-]+|[*#]))*$",
        "description": "The name of a topic, or a pattern of names: `*` is one word, `#` any number of words."
      },
      "TaskId": {
        "type": "string",
        "pattern": "^[A-Za-z0-9][!-~]{0,127}$",
        "description": "Visible ASCII characters, the first one a letter or digit."
      },
      "Name": {
        "type": "string",
        "pattern": "^[A-Za-z0-9][!-~]{0,127}$",
        "description": "The name of a group, a worker, a schedule or a key. It has the form of an id."
      },
      "Worker": {
        "type": "object",
        "properties": {
          "name": {
            "$ref": "#/components/schemas/Name",
            "description": "The name of the worker."
          },
          "incarnation": {
            "$ref": "#/components/schemas/Name",
            "description": "Identifies this process among those with the same name. Use a new one for each start."
          },
          "node": {
            "type": "string",
            "maxLength": 128,
            "description": "The machine that it runs on, for display."
          },
          "pid": {
            "type": "integer",
            "minimum": 0,
            "maximum": 9007199254740991,
            "description": "Its process id on that machine."
          },
          "silentAfter": {
            "$ref": "#/components/schemas/PositiveDuration",
            "description": "How long without a pull or heartbeat until a sweep takes its tasks back. Default: never; its leases expire one by one."
          },
          "goneAfter": {
            "$ref": "#/components/schemas/PositiveDuration",
            "description": "How long without a pull or heartbeat until lists call it gone. It keeps its tasks until their leases expire."
          }
        },
        "required": [
          "name"
        ],
        "additionalProperties": false
      },
      "Enqueued": {
        "type": "object",
        "properties": {
          "id": {
            "type": "string",
            "pattern": "^[A-Za-z0-9][!-~]{0,127}$",
            "description": "The id of the task. With `dedup`, the id of the first task with the key; with another key, of the task concerned."
          },
          "created": {
            "type": "boolean",
            "description": "False if the id or the key was already known from another enqueue. Then nothing was changed. A resent request gets the first response."
          }
        },
        "required": [
          "id",
          "created"
        ]
      },
      "EnqueuedOne": {
        "type": "object",
        "properties": {
          "id": {
            "type": "string",
            "pattern": "^[A-Za-z0-9][!-~]{0,127}$",
            "description": "The id of the task. With `dedup`, the id of the first task with the key; with another key, of the task concerned."
          },
          "created": {
            "type": "boolean",
            "description": "False if the id or the key was already known from another enqueue. Then nothing was changed. A resent request gets the first response."
          },
          "outcome": {
            "enum": [
              "created",
              "replaced",
              "dropped",
              "appended"
            ],
            "type": "string",
            "description": "With `debounce`, `throttle`, `singleton` or `replace`, what was done: a task was created; the payload of one that waits was replaced; the new payload was dropped; or it was appended to those of a task that waits."
          }
        },
        "required": [
          "id",
          "created"
        ]
      },
      "EnqueuedMany": {
        "type": "object",
        "properties": {
          "tasks": {
            "type": "array",
            "items": {
              "$ref": "#/components/schemas/Enqueued"
            }
          }
        },
        "required": [
          "tasks"
        ]
      },
      "KeyForgotten": {
        "type": "object",
        "properties": {
          "key": {
            "$ref": "#/components/schemas/Name"
          },
          "known": {
            "type": "boolean",
            "description": "Whether the key was known."
          }
        },
        "required": [
          "key",
          "known"
        ]
      },
      "Pulled": {
        "type": "object",
        "properties": {
          "tasks": {
            "type": "array",
            "items": {
              "type": "object",
              "properties": {
                "id": {
                  "$ref": "#/components/schemas/TaskId"
                },
                "receipt": {
                  "type": "string",
                  "description": "Proof of the lease, opaque. Send it with settle."
                },
                "payload": {},
                "encoding": {
                  "const": "base64",
                  "description": "The payload is bytes, in base64."
                },
                "attempt": {
                  "type": "integer",
                  "minimum": 0,
                  "description": "Delivery number, from 1."
                },
                "enqueuedAt": {
                  "type": "integer",
                  "minimum": 0,
                  "description": "When it was enqueued, epoch ms."
                },
                "deadlineAt": {
                  "type": "integer",
                  "minimum": 0,
                  "description": "When the lease ends, epoch ms."
                },
                "leasedFor": {
                  "type": "integer",
                  "minimum": 0,
                  "description": "Length of the lease, ms. An extend without a lease uses the same length again."
                },
                "group": {
                  "$ref": "#/components/schemas/Name"
                },
                "headers": {
                  "type": "object",
                  "propertyNames": {
                    "type": "string"
                  },
                  "additionalProperties": {
                    "type": "string"
                  }
                }
              },
              "required": [
                "id",
                "receipt",
                "attempt",
                "enqueuedAt",
                "deadlineAt",
                "leasedFor"
              ]
            }
          },
          "nextDueAt": {
            "anyOf": [
              {
                "type": "integer",
                "minimum": 0
              },
              {
                "type": "null"
              }
            ],
            "description": "When to pull again, epoch ms. It is now if a pull may return more tasks. Otherwise it is when the next delayed task is due, the next lease expires, or a limit allows more. null if no task waits."
          },
          "paused": {
            "type": "boolean",
            "description": "True if the queue is paused. Pulls return no tasks until it is resumed, or until `nextDueAt`."
          }
        },
        "required": [
          "tasks",
          "nextDueAt",
          "paused"
        ]
      },
      "Settled": {
        "type": "object",
        "properties": {
          "results": {
            "type": "array",
            "items": {
              "anyOf": [
                {
                  "type": "object",
                  "properties": {
                    "receipt": {
                      "type": "string"
                    },
                    "ok": {
                      "const": true
                    },
                    "state": {
                      "enum": [
                        "pending",
                        "delayed",
                        "blocked",
                        "working",
                        "completed",
                        "rejected"
                      ],
                      "type": "string",
                      "description": "The new state. A requeue on the last attempt rejects the task."
                    },
                    "reason": {
                      "enum": [
                        "rejected",
                        "attempts_exhausted",
                        "lease_expired",
                        "taken_back",
                        "cancelled",
                        "dependency_failed"
                      ],
                      "type": "string",
                      "description": "Why it was rejected: `rejected`: its consumer rejected it for good; `attempts_exhausted`: its attempts are used up; `lease_expired`: the lease expired: crashed, hung, or too slow; `taken_back`: an operator took it back from its worker; `cancelled`: it was cancelled; `dependency_failed`: a task that it waited for did not complete."
                    },
                    "deadlineAt": {
                      "type": "integer",
                      "minimum": 0,
                      "description": "When the extended lease ends, epoch ms."
                    },
                    "dueAt": {
                      "type": "integer",
                      "minimum": 0,
                      "description": "When the requeued task is due again, epoch ms."
                    },
                    "cancelRequested": {
                      "const": true,
                      "description": "The task was cancelled while it was working. Stop the work."
                    }
                  },
                  "required": [
                    "receipt",
                    "ok",
                    "state"
                  ]
                },
                {
                  "type": "object",
                  "properties": {
                    "receipt": {
                      "type": "string"
                    },
                    "ok": {
                      "const": false
                    },
                    "code": {
                      "enum": [
                        "lease_lost",
                        "newer_schema"
                      ],
                      "type": "string",
                      "description": "`lease_lost`: the receipt is no longer that of the current lease. `newer_schema`: a newer release of Sluice has changed the task. Nothing was changed."
                    }
                  },
                  "required": [
                    "receipt",
                    "ok",
                    "code"
                  ]
                }
              ]
            }
          },
          "pull": {
            "$ref": "#/components/schemas/Pulled"
          }
        },
        "required": [
          "results"
        ]
      },
      "Task": {
        "type": "object",
        "properties": {
          "id": {
            "$ref": "#/components/schemas/TaskId"
          },
          "queue": {
            "type": "string"
          },
          "state": {
            "enum": [
              "pending",
              "delayed",
              "blocked",
              "working",
              "completed",
              "rejected"
            ],
            "type": "string"
          },
          "reason": {
            "enum": [
              "rejected",
              "attempts_exhausted",
              "lease_expired",
              "taken_back",
              "cancelled",
              "dependency_failed"
            ],
            "type": "string",
            "description": "Why it was rejected: `rejected`: its consumer rejected it for good; `attempts_exhausted`: its attempts are used up; `lease_expired`: the lease expired: crashed, hung, or too slow; `taken_back`: an operator took it back from its worker; `cancelled`: it was cancelled; `dependency_failed`: a task that it waited for did not complete."
          },
          "attempt": {
            "type": "integer",
            "minimum": 0,
            "description": "Deliveries so far."
          },
          "charged": {
            "type": "integer",
            "minimum": 0,
            "description": "Deliveries that count towards maxAttempts."
          },
          "lease": {
            "type": "integer",
            "minimum": 0,
            "description": "Number of the latest lease; 0 before the first."
          },
          "requeues": {
            "type": "integer",
            "minimum": 0,
            "description": "How many times it was requeued."
          },
          "version": {
            "type": "integer",
            "minimum": 0,
            "description": "Increases with every transition except promotion."
          },
          "transitions": {
            "type": "array",
            "items": {
              "type": "object",
              "properties": {
                "version": {
                  "type": "integer",
                  "minimum": 0
                },
                "to": {
                  "enum": [
                    "pending",
                    "delayed",
                    "blocked",
                    "working",
                    "completed",
                    "rejected",
                    "cancelRequested"
                  ],
                  "type": "string",
                  "description": "`cancelRequested`: the task is still working, and its holder should stop."
                },
                "at": {
                  "type": "integer",
                  "minimum": 0,
                  "description": "When, epoch ms."
                }
              },
              "required": [
                "version",
                "to",
                "at"
              ]
            },
            "description": "The last transitions since the enqueue, at most 16, the oldest first."
          },
          "errors": {
            "type": "array",
            "items": {
              "type": "object",
              "properties": {
                "attempt": {
                  "type": "integer",
                  "minimum": 0,
                  "description": "Which delivery, from 1."
                },
                "at": {
                  "type": "integer",
                  "minimum": 0,
                  "description": "When it ended, epoch ms."
                },
                "error": {
                  "anyOf": [
                    {
                      "type": "string"
                    },
                    {
                      "type": "null"
                    }
                  ],
                  "description": "The error with which it was requeued or rejected, as text of at most 200 characters: `name: message` of an exception, other values as JSON. null if the lease expired or the worker fell silent: the consumer crashed, hung or lost its connection; and if it was taken back."
                },
                "takenBack": {
                  "const": true,
                  "description": "An operator took the task back from its worker."
                },
                "encoding": {
                  "const": "base64",
                  "description": "The error is encrypted: bytes, in base64."
                }
              },
              "required": [
                "attempt",
                "at",
                "error"
              ]
            },
            "description": "The attempts that did not complete the task: the last 16, the oldest first. They are kept as long as the result or the last error."
          },
          "group": {
            "$ref": "#/components/schemas/Name"
          },
          "priority": {
            "type": "integer",
            "minimum": 0
          },
          "worker": {
            "type": "object",
            "properties": {
              "name": {
                "$ref": "#/components/schemas/Name"
              },
              "incarnation": {
                "$ref": "#/components/schemas/Name"
              }
            },
            "required": [
              "name"
            ],
            "description": "The worker that has or last had the task, if it gave its name."
          },
          "progress": {
            "description": "The progress that its holder last sent."
          },
          "enqueuedAt": {
            "type": "integer",
            "minimum": 0,
            "description": "When it was enqueued, epoch ms."
          },
          "dueAt": {
            "type": "integer",
            "minimum": 0,
            "description": "When it becomes pending, epoch ms."
          },
          "dequeuedAt": {
            "type": "integer",
            "minimum": 0,
            "description": "When it was last delivered, epoch ms."
          },
          "deadlineAt": {
            "type": "integer",
            "minimum": 0,
            "description": "When its lease ends, epoch ms."
          },
          "requeuedAt": {
            "type": "integer",
            "minimum": 0,
            "description": "When it was last requeued, epoch ms."
          },
          "endedAt": {
            "type": "integer",
            "minimum": 0,
            "description": "When it was completed or rejected, epoch ms."
          },
          "cancelRequested": {
            "const": true,
            "description": "The task was cancelled while it was working."
          },
          "headers": {
            "type": "object",
            "propertyNames": {
              "type": "string"
            },
            "additionalProperties": {
              "type": "string"
            }
          },
          "options": {
            "type": "object",
            "properties": {
              "lease": {
                "type": "integer",
                "minimum": 0
              },
              "maxAttempts": {
                "type": "integer",
                "minimum": 0
              },
              "resultTtl": {
                "type": "integer",
                "minimum": 0
              },
              "deadTtl": {
                "type": "integer",
                "minimum": 0
              },
              "unique": {
                "type": "integer",
                "minimum": 0
              }
            },
            "description": "The options that the task fixed at its enqueue, without those that have the default; durations in ms."
          },
          "payload": {
            "description": "If it was requested and is still kept."
          },
          "payloadEncoding": {
            "const": "base64",
            "description": "The payload is bytes, in base64."
          },
          "result": {},
          "encoding": {
            "const": "base64",
            "description": "The result is bytes, in base64."
          },
          "error": {
            "description": "The last error, in full."
          },
          "errorEncoding": {
            "const": "base64",
            "description": "The error is bytes, in base64."
          },
          "payloadsHidden": {
            "const": true,
            "description": "The token hides payloads: payload, result, progress and headers are left out."
          }
        },
        "required": [
          "id",
          "queue",
          "state",
          "attempt",
          "charged",
          "lease",
          "requeues",
          "version",
          "transitions",
          "errors",
          "enqueuedAt"
        ]
      },
      "Cancelled": {
        "type": "object",
        "properties": {
          "id": {
            "$ref": "#/components/schemas/TaskId"
          },
          "state": {
            "enum": [
              "rejected",
              "working"
            ],
            "type": "string",
            "description": "`working`: the holder gets `cancelRequested` at its next extend or settle."
          }
        },
        "required": [
          "id",
          "state"
        ]
      },
      "ListedTasks": {
        "type": "object",
        "properties": {
          "tasks": {
            "type": "array",
            "items": {
              "type": "object",
              "properties": {
                "id": {
                  "$ref": "#/components/schemas/TaskId"
                },
                "queue": {
                  "type": "string"
                },
                "state": {
                  "enum": [
                    "pending",
                    "delayed",
                    "blocked",
                    "working",
                    "completed",
                    "rejected"
                  ],
                  "type": "string"
                },
                "reason": {
                  "enum": [
                    "rejected",
                    "attempts_exhausted",
                    "lease_expired",
                    "taken_back",
                    "cancelled",
                    "dependency_failed"
                  ],
                  "type": "string",
                  "description": "Why it was rejected: `rejected`: its consumer rejected it for good; `attempts_exhausted`: its attempts are used up; `lease_expired`: the lease expired: crashed, hung, or too slow; `taken_back`: an operator took it back from its worker; `cancelled`: it was cancelled; `dependency_failed`: a task that it waited for did not complete."
                },
                "attempt": {
                  "type": "integer",
                  "minimum": 0,
                  "description": "Deliveries so far."
                },
                "charged": {
                  "type": "integer",
                  "minimum": 0,
                  "description": "Deliveries that count towards maxAttempts."
                },
                "lease": {
                  "type": "integer",
                  "minimum": 0,
                  "description": "Number of the latest lease; 0 before the first."
                },
                "requeues": {
                  "type": "integer",
                  "minimum": 0,
                  "description": "How many times it was requeued."
                },
                "version": {
                  "type": "integer",
                  "minimum": 0,
                  "description": "Increases with every transition except promotion."
                },
                "transitions": {
                  "type": "array",
                  "items": {
                    "type": "object",
                    "properties": {
                      "version": {
                        "type": "integer",
                        "minimum": 0
                      },
                      "to": {
                        "enum": [
                          "pending",
                          "delayed",
                          "blocked",
                          "working",
                          "completed",
                          "rejected",
                          "cancelRequested"
                        ],
                        "type": "string",
                        "description": "`cancelRequested`: the task is still working, and its holder should stop."
                      },
                      "at": {
                        "type": "integer",
                        "minimum": 0,
                        "description": "When, epoch ms."
                      }
                    },
                    "required": [
                      "version",
                      "to",
                      "at"
                    ]
                  },
                  "description": "The last transitions since the enqueue, at most 16, the oldest first."
                },
                "errors": {
                  "type": "array",
                  "items": {
                    "type": "object",
                    "properties": {
                      "attempt": {
                        "type": "integer",
                        "minimum": 0,
                        "description": "Which delivery, from 1."
                      },
                      "at": {
                        "type": "integer",
                        "minimum": 0,
                        "description": "When it ended, epoch ms."
                      },
                      "error": {
                        "anyOf": [
                          {
                            "type": "string"
                          },
                          {
                            "type": "null"
                          }
                        ],
                        "description": "The error with which it was requeued or rejected, as text of at most 200 characters: `name: message` of an exception, other values as JSON. null if the lease expired or the worker fell silent: the consumer crashed, hung or lost its connection; and if it was taken back."
                      },
                      "takenBack": {
                        "const": true,
                        "description": "An operator took the task back from its worker."
                      },
                      "encoding": {
                        "const": "base64",
                        "description": "The error is encrypted: bytes, in base64."
                      }
                    },
                    "required": [
                      "attempt",
                      "at",
                      "error"
                    ]
                  },
                  "description": "The attempts that did not complete the task: the last 16, the oldest first. They are kept as long as the result or the last error."
                },
                "group": {
                  "$ref": "#/components/schemas/Name"
                },
                "priority": {
                  "type": "integer",
                  "minimum": 0
                },
                "worker": {
                  "type": "object",
                  "properties": {
                    "name": {
                      "$ref": "#/components/schemas/Name"
                    },
                    "incarnation": {
                      "$ref": "#/components/schemas/Name"
                    }
                  },
                  "required": [
                    "name"
                  ],
                  "description": "The worker that has or last had the task, if it gave its name."
                },
                "progress": {
                  "description": "The progress that its holder last sent."
                },
                "enqueuedAt": {
                  "type": "integer",
                  "minimum": 0,
                  "description": "When it was enqueued, epoch ms."
                },
                "dueAt": {
                  "type": "integer",
                  "minimum": 0,
                  "description": "When it becomes pending, epoch ms."
                },
                "dequeuedAt": {
                  "type": "integer",
                  "minimum": 0,
                  "description": "When it was last delivered, epoch ms."
                },
                "deadlineAt": {
                  "type": "integer",
                  "minimum": 0,
                  "description": "When its lease ends, epoch ms."
                },
                "requeuedAt": {
                  "type": "integer",
                  "minimum": 0,
                  "description": "When it was last requeued, epoch ms."
                },
                "endedAt": {
                  "type": "integer",
                  "minimum": 0,
                  "description": "When it was completed or rejected, epoch ms."
                },
                "cancelRequested": {
                  "const": true,
                  "description": "The task was cancelled while it was working."
                },
                "headers": {
                  "type": "object",
                  "propertyNames": {
                    "type": "string"
                  },
                  "additionalProperties": {
                    "type": "string"
                  }
                },
                "options": {
                  "type": "object",
                  "properties": {
                    "lease": {
                      "type": "integer",
                      "minimum": 0
                    },
                    "maxAttempts": {
                      "type": "integer",
                      "minimum": 0
                    },
                    "resultTtl": {
                      "type": "integer",
                      "minimum": 0
                    },
                    "deadTtl": {
                      "type": "integer",
                      "minimum": 0
                    },
                    "unique": {
                      "type": "integer",
                      "minimum": 0
                    }
                  },
                  "description": "The options that the task fixed at its enqueue, without those that have the default; durations in ms."
                },
                "payload": {
                  "description": "If it was requested and is still kept."
                },
                "payloadEncoding": {
                  "const": "base64",
                  "description": "The payload is bytes, in base64."
                },
                "result": {},
                "encoding": {
                  "const": "base64",
                  "description": "The result is bytes, in base64."
                },
                "error": {
                  "description": "The last error, in full."
                },
                "errorEncoding": {
                  "const": "base64",
                  "description": "The error is bytes, in base64."
                },
                "payloadsHidden": {
                  "const": true,
                  "description": "The token hides payloads: payload, result, progress and headers are left out."
                },
                "preview": {
                  "type": "string",
                  "description": "With `payloads=preview`: the first 200 characters of the payload as JSON, with `…` if it has more."
                },
                "previewOmitted": {
                  "enum": [
                    "bytes",
                    "encrypted",
                    "external"
                  ],
                  "type": "string",
                  "description": "Why a payload has no preview: it is bytes, encrypted, or in an object store."
                }
              },
              "required": [
                "id",
                "queue",
                "state",
                "attempt",
                "charged",
                "lease",
                "requeues",
                "version",
                "transitions",
                "errors",
                "enqueuedAt"
              ]
            }
          },
          "cursor": {
            "anyOf": [
              {
                "type": "string"
              },
              {
                "type": "null"
              }
            ],
            "description": "The start of the next page; null on the last page."
          },
          "unreadable": {
            "type": "integer",
            "minimum": 0,
            "description": "Tasks that were left out because their records are broken or of a newer release of Sluice."
          }
        },
        "required": [
          "tasks",
          "cursor",
          "unreadable"
        ]
      },
      "TaskDeleted": {
        "type": "object",
        "properties": {
          "id": {
            "$ref": "#/components/schemas/TaskId"
          },
          "deleted": {
            "const": true
          }
        },
        "required": [
          "id",
          "deleted"
        ]
      },
      "DeadLetters": {
        "type": "object",
        "properties": {
          "counted": {
            "type": "integer",
            "minimum": 0,
            "description": "How many dead letters this request has counted, the newest first."
          },
          "causes": {
            "type": "array",
            "items": {
              "type": "object",
              "properties": {
                "reason": {
                  "enum": [
                    "rejected",
                    "attempts_exhausted",
                    "lease_expired",
                    "taken_back",
                    "cancelled",
                    "dependency_failed"
                  ],
                  "type": "string",
                  "description": "Why it was rejected: `rejected`: its consumer rejected it for good; `attempts_exhausted`: its attempts are used up; `lease_expired`: the lease expired: crashed, hung, or too slow; `taken_back`: an operator took it back from its worker; `cancelled`: it was cancelled; `dependency_failed`: a task that it waited for did not complete."
                },
                "error": {
                  "type": "string",
                  "description": "The error without ids and numbers, which are `…`."
                },
                "text": {
                  "anyOf": [
                    {
                      "type": "string"
                    },
                    {
                      "type": "null"
                    }
                  ],
                  "description": "The longest text that all errors of the cause have. With `reason` it is the filter of the cause. null if there is none."
                },
                "count": {
                  "type": "integer",
                  "minimum": 0
                },
                "firstAt": {
                  "type": "integer",
                  "minimum": 0,
                  "description": "When the first of them died, epoch ms."
                },
                "lastAt": {
                  "type": "integer",
                  "minimum": 0,
                  "description": "When the last of them died, epoch ms."
                },
                "latest": {
                  "type": "object",
                  "properties": {
                    "id": {
                      "$ref": "#/components/schemas/TaskId"
                    },
                    "lease": {
                      "type": "integer",
                      "minimum": 0
                    }
                  },
                  "required": [
                    "id",
                    "lease"
                  ]
                }
              },
              "required": [
                "reason",
                "error",
                "text",
                "count",
                "firstAt",
                "lastAt",
                "latest"
              ]
            },
            "description": "By cause, the most frequent first, at most 100."
          },
          "groups": {
            "type": "array",
            "items": {
              "type": "object",
              "properties": {
                "group": {
                  "anyOf": [
                    {
                      "$ref": "#/components/schemas/Name"
                    },
                    {
                      "type": "null"
                    }
                  ]
                },
                "count": {
                  "type": "integer",
                  "minimum": 0
                },
                "firstAt": {
                  "type": "integer",
                  "minimum": 0,
                  "description": "When the first of them died, epoch ms."
                },
                "lastAt": {
                  "type": "integer",
                  "minimum": 0,
                  "description": "When the last of them died, epoch ms."
                }
              },
              "required": [
                "group",
                "count",
                "firstAt",
                "lastAt"
              ]
            },
            "description": "By group, the most frequent first, at most 100; null for those without a group."
          },
          "otherCauses": {
            "type": "integer",
            "minimum": 0,
            "description": "How many of them have other causes."
          },
          "otherGroups": {
            "type": "integer",
            "minimum": 0,
            "description": "How many of them are of other groups."
          },
          "cursor": {
            "anyOf": [
              {
                "type": "string"
              },
              {
                "type": "null"
              }
            ],
            "description": "To count on; null if all were counted."
          },
          "unreadable": {
            "type": "integer",
            "minimum": 0,
            "description": "Tasks that were left out because their records are broken or of a newer release of Sluice."
          }
        },
        "required": [
          "counted",
          "causes",
          "groups",
          "otherCauses",
          "otherGroups",
          "cursor",
          "unreadable"
        ]
      },
      "FoundTasks": {
        "type": "object",
        "properties": {
          "tasks": {
            "type": "array",
            "items": {
              "type": "object",
              "properties": {
                "id": {
                  "$ref": "#/components/schemas/TaskId"
                },
                "queue": {
                  "type": "string"
                },
                "state": {
                  "enum": [
                    "pending",
                    "delayed",
                    "blocked",
                    "working",
                    "completed",
                    "rejected"
                  ],
                  "type": "string"
                },
                "reason": {
                  "enum": [
                    "rejected",
                    "attempts_exhausted",
                    "lease_expired",
                    "taken_back",
                    "cancelled",
                    "dependency_failed"
                  ],
                  "type": "string",
                  "description": "Why it was rejected: `rejected`: its consumer rejected it for good; `attempts_exhausted`: its attempts are used up; `lease_expired`: the lease expired: crashed, hung, or too slow; `taken_back`: an operator took it back from its worker; `cancelled`: it was cancelled; `dependency_failed`: a task that it waited for did not complete."
                },
                "attempt": {
                  "type": "integer",
                  "minimum": 0,
                  "description": "Deliveries so far."
                },
                "charged": {
                  "type": "integer",
                  "minimum": 0,
                  "description": "Deliveries that count towards maxAttempts."
                },
                "lease": {
                  "type": "integer",
                  "minimum": 0,
                  "description": "Number of the latest lease; 0 before the first."
                },
                "requeues": {
                  "type": "integer",
                  "minimum": 0,
                  "description": "How many times it was requeued."
                },
                "version": {
                  "type": "integer",
                  "minimum": 0,
                  "description": "Increases with every transition except promotion."
                },
                "transitions": {
                  "type": "array",
                  "items": {
                    "type": "object",
                    "properties": {
                      "version": {
                        "type": "integer",
                        "minimum": 0
                      },
                      "to": {
                        "enum": [
                          "pending",
                          "delayed",
                          "blocked",
                          "working",
                          "completed",
                          "rejected",
                          "cancelRequested"
                        ],
                        "type": "string",
                        "description": "`cancelRequested`: the task is still working, and its holder should stop."
                      },
                      "at": {
                        "type": "integer",
                        "minimum": 0,
                        "description": "When, epoch ms."
                      }
                    },
                    "required": [
                      "version",
                      "to",
                      "at"
                    ]
                  },
                  "description": "The last transitions since the enqueue, at most 16, the oldest first."
                },
                "errors": {
                  "type": "array",
                  "items": {
                    "type": "object",
                    "properties": {
                      "attempt": {
                        "type": "integer",
                        "minimum": 0,
                        "description": "Which delivery, from 1."
                      },
                      "at": {
                        "type": "integer",
                        "minimum": 0,
                        "description": "When it ended, epoch ms."
                      },
                      "error": {
                        "anyOf": [
                          {
                            "type": "string"
                          },
                          {
                            "type": "null"
                          }
                        ],
                        "description": "The error with which it was requeued or rejected, as text of at most 200 characters: `name: message` of an exception, other values as JSON. null if the lease expired or the worker fell silent: the consumer crashed, hung or lost its connection; and if it was taken back."
                      },
                      "takenBack": {
                        "const": true,
                        "description": "An operator took the task back from its worker."
                      },
                      "encoding": {
                        "const": "base64",
                        "description": "The error is encrypted: bytes, in base64."
                      }
                    },
                    "required": [
                      "attempt",
                      "at",
                      "error"
                    ]
                  },
                  "description": "The attempts that did not complete the task: the last 16, the oldest first. They are kept as long as the result or the last error."
                },
                "group": {
                  "$ref": "#/components/schemas/Name"
                },
                "priority": {
                  "type": "integer",
                  "minimum": 0
                },
                "worker": {
                  "type": "object",
                  "properties": {
                    "name": {
                      "$ref": "#/components/schemas/Name"
                    },
                    "incarnation": {
                      "$ref": "#/components/schemas/Name"
                    }
                  },
                  "required": [
                    "name"
                  ],
                  "description": "The worker that has or last had the task, if it gave its name."
                },
                "progress": {
                  "description": "The progress that its holder last sent."
                },
                "enqueuedAt": {
                  "type": "integer",
                  "minimum": 0,
                  "description": "When it was enqueued, epoch ms."
                },
                "dueAt": {
                  "type": "integer",
                  "minimum": 0,
                  "description": "When it becomes pending, epoch ms."
                },
                "dequeuedAt": {
                  "type": "integer",
                  "minimum": 0,
                  "description": "When it was last delivered, epoch ms."
                },
                "deadlineAt": {
                  "type": "integer",
                  "minimum": 0,
                  "description": "When its lease ends, epoch ms."
                },
                "requeuedAt": {
                  "type": "integer",
                  "minimum": 0,
                  "description": "When it was last requeued, epoch ms."
                },
                "endedAt": {
                  "type": "integer",
                  "minimum": 0,
                  "description": "When it was completed or rejected, epoch ms."
                },
                "cancelRequested": {
                  "const": true,
                  "description": "The task was cancelled while it was working."
                },
                "headers": {
                  "type": "object",
                  "propertyNames": {
                    "type": "string"
                  },
                  "additionalProperties": {
                    "type": "string"
                  }
                },
                "options": {
                  "type": "object",
                  "properties": {
                    "lease": {
                      "type": "integer",
                      "minimum": 0
                    },
                    "maxAttempts": {
                      "type": "integer",
                      "minimum": 0
                    },
                    "resultTtl": {
                      "type": "integer",
                      "minimum": 0
                    },
                    "deadTtl": {
                      "type": "integer",
                      "minimum": 0
                    },
                    "unique": {
                      "type": "integer",
                      "minimum": 0
                    }
                  },
                  "description": "The options that the task fixed at its enqueue, without those that have the default; durations in ms."
                },
                "payload": {
                  "description": "If it was requested and is still kept."
                },
                "payloadEncoding": {
                  "const": "base64",
                  "description": "The payload is bytes, in base64."
                },
                "result": {},
                "encoding": {
                  "const": "base64",
                  "description": "The result is bytes, in base64."
                },
                "error": {
                  "description": "The last error, in full."
                },
                "errorEncoding": {
                  "const": "base64",
                  "description": "The error is bytes, in base64."
                },
                "payloadsHidden": {
                  "const": true,
                  "description": "The token hides payloads: payload, result, progress and headers are left out."
                },
                "preview": {
                  "type": "string",
                  "description": "With `payloads=preview`: the first 200 characters of the payload as JSON, with `…` if it has more."
                },
                "previewOmitted": {
                  "enum": [
                    "bytes",
                    "encrypted",
                    "external"
                  ],
                  "type": "string",
                  "description": "Why a payload has no preview: it is bytes, encrypted, or in an object store."
                },
                "found": {
                  "enum": [
                    "id",
                    "error",
                    "result",
                    "payload"
                  ],
                  "type": "string",
                  "description": "Where the task has the text; the first of these that does."
                }
              },
              "required": [
                "id",
                "queue",
                "state",
                "attempt",
                "charged",
                "lease",
                "requeues",
                "version",
                "transitions",
                "errors",
                "enqueuedAt",
                "found"
              ]
            }
          },
          "looked": {
            "type": "object",
            "properties": {
              "tasks": {
                "type": "integer",
                "minimum": 0
              },
              "queues": {
                "type": "integer",
                "minimum": 0
              }
            },
            "required": [
              "tasks",
              "queues"
            ],
            "description": "How far this request has looked: about how many tasks, in how many queues."
          },
          "unsearched": {
            "type": "integer",
            "minimum": 0,
            "description": "Tasks with values that could not be searched: they are encrypted, or in an object store."
          },
          "failed": {
            "type": "array",
            "items": {
              "type": "object",
              "properties": {
                "queue": {
                  "type": "string"
                },
                "code": {
                  "type": "string"
                }
              },
              "required": [
                "queue",
                "code"
              ]
            },
            "description": "Queues that could not be searched, and why, such as `newer_schema`."
          },
          "cursor": {
            "anyOf": [
              {
                "type": "string"
              },
              {
                "type": "null"
              }
            ],
            "description": "To search on; null if all was searched."
          }
        },
        "required": [
          "tasks",
          "looked",
          "unsearched",
          "failed",
          "cursor"
        ]
      },
      "CancelledMany": {
        "type": "object",
        "properties": {
          "results": {
            "type": "array",
            "items": {
              "anyOf": [
                {
                  "type": "object",
                  "properties": {
                    "id": {
                      "$ref": "#/components/schemas/TaskId"
                    },
                    "ok": {
                      "const": true
                    },
                    "state": {
                      "enum": [
                        "rejected",
                        "working"
                      ],
                      "type": "string"
                    }
                  },
                  "required": [
                    "id",
                    "ok",
                    "state"
                  ]
                },
                {
                  "type": "object",
                  "properties": {
                    "id": {
                      "$ref": "#/components/schemas/TaskId"
                    },
                    "ok": {
                      "const": false
                    },
                    "code": {
                      "enum": [
                        "not_found",
                        "already_ended",
                        "lease_lost",
                        "newer_schema"
                      ],
                      "type": "string"
                    }
                  },
                  "required": [
                    "id",
                    "ok",
                    "code"
                  ]
                }
              ]
            },
            "description": "What became of each task, in the order of the ids. `working`: its holder gets `cancelRequested`."
          }
        },
        "required": [
          "results"
        ]
      },
      "DeletedMany": {
        "type": "object",
        "properties": {
          "results": {
            "type": "array",
            "items": {
              "anyOf": [
                {
                  "type": "object",
                  "properties": {
                    "id": {
                      "$ref": "#/components/schemas/TaskId"
                    },
                    "ok": {
                      "const": true
                    }
                  },
                  "required": [
                    "id",
                    "ok"
                  ]
                },
                {
                  "type": "object",
                  "properties": {
                    "id": {
                      "$ref": "#/components/schemas/TaskId"
                    },
                    "ok": {
                      "const": false
                    },
                    "code": {
                      "enum": [
                        "not_found",
                        "alive",
                        "newer_schema"
                      ],
                      "type": "string"
                    }
                  },
                  "required": [
                    "id",
                    "ok",
                    "code"
                  ]
                }
              ]
            },
            "description": "What became of each task, in the order of the ids."
          }
        },
        "required": [
          "results"
        ]
      },
      "Redriven": {
        "type": "object",
        "properties": {
          "redriven": {
            "type": "integer",
            "minimum": 0,
            "description": "Redriven tasks; with `dryRun`, the tasks that would be redriven."
          },
          "refused": {
            "type": "array",
            "items": {
              "type": "object",
              "properties": {
                "id": {
                  "$ref": "#/components/schemas/TaskId"
                },
                "code": {
                  "enum": [
                    "not_found",
                    "not_dead_letter",
                    "lease_lost",
                    "newer_schema"
                  ],
                  "type": "string"
                }
              },
              "required": [
                "id",
                "code"
              ]
            },
            "description": "The given ids that were not redriven, and why."
          },
          "cursor": {
            "anyOf": [
              {
                "type": "string"
              },
              {
                "type": "null"
              }
            ],
            "description": "Call again with it to continue; null if nothing is left."
          },
          "unreadable": {
            "type": "integer",
            "minimum": 0,
            "description": "Tasks that were left out because their records are broken or of a newer release of Sluice."
          }
        },
        "required": [
          "redriven",
          "refused",
          "cursor",
          "unreadable"
        ]
      },
      "Purged": {
        "type": "object",
        "properties": {
          "purged": {
            "type": "integer",
            "minimum": 0
          },
          "cursor": {
            "anyOf": [
              {
                "type": "string"
              },
              {
                "type": "null"
              }
            ],
            "description": "Call again with it to continue; null if nothing is left."
          },
          "unreadable": {
            "type": "integer",
            "minimum": 0,
            "description": "Tasks that were left out because their records are broken or of a newer release of Sluice."
          }
        },
        "required": [
          "purged",
          "cursor",
          "unreadable"
        ]
      },
      "FlowAdded": {
        "type": "object",
        "properties": {
          "id": {
            "type": "string",
            "description": "`<name>@<queue>`: the queue of a task that waits for nothing."
          },
          "created": {
            "type": "boolean",
            "description": "False if a flow with this id was known already. Then nothing was added. A resent request gets the first response."
          },
          "tasks": {
            "type": "object",
            "propertyNames": {
              "type": "string"
            },
            "additionalProperties": {
              "$ref": "#/components/schemas/TaskId"
            },
            "description": "The id of each task, by its ref."
          }
        },
        "required": [
          "id",
          "created",
          "tasks"
        ]
      },
      "Flow": {
        "type": "object",
        "properties": {
          "id": {
            "type": "string",
            "description": "`<name>@<queue>`: the queue of a task that waits for nothing."
          },
          "state": {
            "enum": [
              "running",
              "completed",
              "rejected"
            ],
            "type": "string",
            "description": "`running` until the last task has ended; then `completed` if all tasks completed, else `rejected`."
          },
          "createdAt": {
            "type": "integer",
            "minimum": 0,
            "description": "When it was added, epoch ms."
          },
          "endedAt": {
            "type": "integer",
            "minimum": 0,
            "description": "When its last task ended, epoch ms."
          },
          "isCancelled": {
            "type": "boolean"
          },
          "onFailure": {
            "const": "cancel"
          },
          "counts": {
            "type": "object",
            "properties": {
              "pending": {
                "type": "integer",
                "minimum": 0
              },
              "delayed": {
                "type": "integer",
                "minimum": 0
              },
              "blocked": {
                "type": "integer",
                "minimum": 0
              },
              "working": {
                "type": "integer",
                "minimum": 0
              },
              "completed": {
                "type": "integer",
                "minimum": 0
              },
              "rejected": {
                "type": "integer",
                "minimum": 0
              }
            },
            "required": [
              "pending",
              "delayed",
              "blocked",
              "working",
              "completed",
              "rejected"
            ],
            "description": "How many tasks are in each state. Inner flows are not counted."
          },
          "nodes": {
            "type": "array",
            "items": {
              "type": "object",
              "properties": {
                "ref": {
                  "type": "string",
                  "description": "With the refs of the flows it is in: `audit/rows`."
                },
                "kind": {
                  "enum": [
                    "task",
                    "flow"
                  ],
                  "type": "string"
                },
                "queue": {
                  "type": "string"
                },
                "id": {
                  "$ref": "#/components/schemas/TaskId"
                },
                "state": {
                  "anyOf": [
                    {
                      "enum": [
                        "pending",
                        "delayed",
                        "blocked",
                        "working",
                        "completed",
                        "rejected"
                      ],
                      "type": "string"
                    },
                    {
                      "type": "null"
                    }
                  ],
                  "description": "Of an inner flow `blocked` until it has ended. null if the record is gone."
                },
                "reason": {
                  "enum": [
                    "rejected",
                    "attempts_exhausted",
                    "lease_expired",
                    "taken_back",
                    "cancelled",
                    "dependency_failed"
                  ],
                  "type": "string",
                  "description": "Why it was rejected: `rejected`: its consumer rejected it for good; `attempts_exhausted`: its attempts are used up; `lease_expired`: the lease expired: crashed, hung, or too slow; `taken_back`: an operator took it back from its worker; `cancelled`: it was cancelled; `dependency_failed`: a task that it waited for did not complete."
                },
                "because": {
                  "type": "string",
                  "description": "With the reason `dependency_failed`: the ref of the nearest task before it that did not complete."
                },
                "after": {
                  "type": "array",
                  "items": {
                    "type": "object",
                    "properties": {
                      "ref": {
                        "type": "string"
                      },
                      "on": {
                        "enum": [
                          "completed",
                          "ended",
                          "failed"
                        ],
                        "type": "string"
                      }
                    },
                    "required": [
                      "ref",
                      "on"
                    ]
                  },
                  "description": "What it waits for."
                }
              },
              "required": [
                "ref",
                "kind",
                "state",
                "after"
              ]
            },
            "description": "Each comes after what it waits for."
          }
        },
        "required": [
          "id",
          "state",
          "createdAt",
          "isCancelled",
          "counts",
          "nodes"
        ]
      },
      "FlowCancelled": {
        "type": "object",
        "properties": {
          "id": {
            "type": "string",
            "description": "`<name>@<queue>`: the queue of a task that waits for nothing."
          },
          "cancelled": {
            "type": "integer",
            "minimum": 0,
            "description": "Tasks that have ended because of it."
          },
          "flagged": {
            "type": "integer",
            "minimum": 0,
            "description": "Tasks that are working: their holders get `cancelRequested`."
          }
        },
        "required": [
          "id",
          "cancelled",
          "flagged"
        ]
      },
      "FlowRedriven": {
        "type": "object",
        "properties": {
          "id": {
            "type": "string",
            "description": "`<name>@<queue>`: the queue of a task that waits for nothing."
          },
          "redriven": {
            "type": "integer",
            "minimum": 0,
            "description": "Dead letters that are pending again."
          }
        },
        "required": [
          "id",
          "redriven"
        ]
      },
      "Before": {
        "type": "object",
        "properties": {
          "tasks": {
            "type": "object",
            "propertyNames": {
              "type": "string"
            },
            "additionalProperties": {
              "type": "object",
              "properties": {
                "id": {
                  "$ref": "#/components/schemas/TaskId"
                },
                "queue": {
                  "type": "string"
                },
                "state": {
                  "anyOf": [
                    {
                      "enum": [
                        "completed",
                        "rejected"
                      ],
                      "type": "string"
                    },
                    {
                      "type": "null"
                    }
                  ],
                  "description": "null if it has not ended, or its record is gone."
                },
                "result": {},
                "encoding": {
                  "const": "base64",
                  "description": "The result is bytes, in base64."
                },
                "error": {},
                "errorEncoding": {
                  "const": "base64",
                  "description": "The error is bytes, in base64."
                },
                "reason": {
                  "enum": [
                    "rejected",
                    "attempts_exhausted",
                    "lease_expired",
                    "taken_back",
                    "cancelled",
                    "dependency_failed"
                  ],
                  "type": "string",
                  "description": "Why it was rejected: `rejected`: its consumer rejected it for good; `attempts_exhausted`: its attempts are used up; `lease_expired`: the lease expired: crashed, hung, or too slow; `taken_back`: an operator took it back from its worker; `cancelled`: it was cancelled; `dependency_failed`: a task that it waited for did not complete."
                }
              },
              "required": [
                "id",
                "queue",
                "state"
              ]
            },
            "description": "What the task waited for, by ref."
          }
        },
        "required": [
          "tasks"
        ]
      },
      "AddedBefore": {
        "type": "object",
        "properties": {
          "created": {
            "type": "boolean",
            "description": "False if they were known already. Then nothing was added."
          },
          "tasks": {
            "type": "object",
            "propertyNames": {
              "type": "string"
            },
            "additionalProperties": {
              "$ref": "#/components/schemas/TaskId"
            },
            "description": "The id of each task, by its ref."
          }
        },
        "required": [
          "created",
          "tasks"
        ]
      },
      "Published": {
        "type": "object",
        "properties": {
          "id": {
            "type": "string",
            "pattern": "^[A-Za-z0-9][!-~]{0,127}$",
            "description": "The id of the message, and of its copy in each queue."
          },
          "copies": {
            "type": "array",
            "items": {
              "type": "object",
              "properties": {
                "queue": {
                  "type": "string"
                },
                "created": {
                  "type": "boolean",
                  "description": "False if the queue had it already. Then nothing was added."
                }
              },
              "required": [
                "queue",
                "created"
              ]
            },
            "description": "The queues that have a copy, as a task with the id of the message."
          },
          "reread": {
            "type": "boolean",
            "description": "True if the subscriptions had changed, and new ones got their copies with further requests to Redis."
          }
        },
        "required": [
          "id",
          "copies",
          "reread"
        ]
      },
      "PublishedMany": {
        "type": "object",
        "properties": {
          "messages": {
            "type": "array",
            "items": {
              "$ref": "#/components/schemas/Published"
            }
          }
        },
        "required": [
          "messages"
        ]
      },
      "Preview": {
        "type": "object",
        "properties": {
          "queues": {
            "type": "array",
            "items": {
              "type": "string"
            },
            "description": "The queues that would get a copy."
          },
          "filtered": {
            "type": "array",
            "items": {
              "type": "string"
            },
            "description": "The queues that have subscribed, but would get none, because of their filters."
          }
        },
        "required": [
          "queues",
          "filtered"
        ]
      },
      "Topics": {
        "type": "object",
        "properties": {
          "subscriptions": {
            "type": "array",
            "items": {
              "type": "object",
              "properties": {
                "topic": {
                  "type": "string",
                  "description": "The topic, or the pattern."
                },
                "queue": {
                  "type": "string"
                },
                "by": {
                  "enum": [
                    "deployment",
                    "operator"
                  ],
                  "type": "string",
                  "description": "Who has made it: the declaration of the queue, which also removes it, or a request."
                },
                "filter": {
                  "type": "array",
                  "items": {
                    "type": "object",
                    "properties": {
                      "header": {
                        "type": "string"
                      },
                      "in": {
                        "type": "array",
                        "items": {
                          "type": "string"
                        }
                      },
                      "notIn": {
                        "type": "array",
                        "items": {
                          "type": "string"
                        }
                      },
                      "exists": {
                        "type": "boolean"
                      }
                    },
                    "required": [
                      "header"
                    ]
                  },
                  "description": "The conditions that the headers of a message must meet, all of them."
                }
              },
              "required": [
                "topic",
                "queue",
                "by",
                "filter"
              ]
            },
            "description": "Those of the queues that the token may see, by queue and topic."
          }
        },
        "required": [
          "subscriptions"
        ]
      },
      "Topic": {
        "type": "object",
        "properties": {
          "topic": {
            "type": "string"
          },
          "subscriptions": {
            "type": "array",
            "items": {
              "type": "object",
              "properties": {
                "topic": {
                  "type": "string",
                  "description": "The topic, or the pattern."
                },
                "queue": {
                  "type": "string"
                },
                "by": {
                  "enum": [
                    "deployment",
                    "operator"
                  ],
                  "type": "string",
                  "description": "Who has made it: the declaration of the queue, which also removes it, or a request."
                },
                "filter": {
                  "type": "array",
                  "items": {
                    "type": "object",
                    "properties": {
                      "header": {
                        "type": "string"
                      },
                      "in": {
                        "type": "array",
                        "items": {
                          "type": "string"
                        }
                      },
                      "notIn": {
                        "type": "array",
                        "items": {
                          "type": "string"
                        }
                      },
                      "exists": {
                        "type": "boolean"
                      }
                    },
                    "required": [
                      "header"
                    ]
                  },
                  "description": "The conditions that the headers of a message must meet, all of them."
                }
              },
              "required": [
                "topic",
                "queue",
                "by",
                "filter"
              ]
            },
            "description": "Those of the queues that the token may see, by queue and topic."
          },
          "retain": {
            "anyOf": [
              {
                "type": "object",
                "properties": {
                  "for": {
                    "type": "integer",
                    "minimum": 0,
                    "description": "For how long, ms."
                  },
                  "bytes": {
                    "type": "integer",
                    "minimum": 0,
                    "description": "The most bytes of messages."
                  }
                },
                "required": [
                  "for",
                  "bytes"
                ]
              },
              {
                "type": "null"
              }
            ],
            "description": "For how long the topic keeps its messages for replays, as its publishers have declared. null: it does not."
          }
        },
        "required": [
          "topic",
          "subscriptions",
          "retain"
        ]
      },
      "Subscribed": {
        "type": "object",
        "properties": {
          "topic": {
            "type": "string"
          },
          "queue": {
            "type": "string"
          },
          "created": {
            "type": "boolean",
            "description": "False if the subscription was there; then its filter was replaced."
          },
          "replayed": {
            "type": "object",
            "properties": {
              "messages": {
                "type": "integer",
                "minimum": 0,
                "description": "How many messages the queue was given. It may have had them already."
              },
              "more": {
                "type": "boolean",
                "description": "True if messages are left. The next sweeps give them to the queue."
              }
            },
            "required": [
              "messages",
              "more"
            ],
            "description": "With `since`, if it is new: what was published before."
          }
        },
        "required": [
          "topic",
          "queue",
          "created"
        ]
      },
      "Unsubscribed": {
        "type": "object",
        "properties": {
          "topic": {
            "type": "string"
          },
          "queue": {
            "type": "string"
          },
          "removed": {
            "type": "boolean",
            "description": "False if there was none."
          }
        },
        "required": [
          "topic",
          "queue",
          "removed"
        ]
      },
      "TopicReplayed": {
        "type": "object",
        "properties": {
          "topic": {
            "type": "string"
          },
          "queue": {
            "type": "string"
          },
          "messages": {
            "type": "integer",
            "minimum": 0,
            "description": "How many messages the queue was given. It may have had them already."
          },
          "more": {
            "type": "boolean",
            "description": "True if messages are left. The next sweeps give them to the queue."
          }
        },
        "required": [
          "topic",
          "queue",
          "messages",
          "more"
        ]
      },
      "Endpoint": {
        "type": "object",
        "properties": {
          "id": {
            "type": "string"
          },
          "url": {
            "type": "string"
          },
          "types": {
            "type": "array",
            "items": {
              "type": "string"
            },
            "description": "The types of the events that it gets: names, and patterns in which `*` is one word and `#` any number."
          },
          "description": {
            "anyOf": [
              {
                "type": "string"
              },
              {
                "type": "null"
              }
            ]
          },
          "rate": {
            "anyOf": [
              {
                "type": "object",
                "properties": {
                  "most": {
                    "type": "integer",
                    "minimum": 0
                  },
                  "per": {
                    "type": "integer",
                    "minimum": 0,
                    "description": "Milliseconds."
                  }
                },
                "required": [
                  "most",
                  "per"
                ]
              },
              {
                "type": "null"
              }
            ],
            "description": "The most deliveries (`most`) in any period of the length `per`; null: no limit."
          },
          "maxWorking": {
            "anyOf": [
              {
                "type": "integer",
                "minimum": 0
              },
              {
                "type": "null"
              }
            ],
            "description": "The most deliveries at the same time; null: no limit."
          },
          "order": {
            "anyOf": [
              {
                "const": "strict"
              },
              {
                "type": "null"
              }
            ],
            "description": "Whether deliveries follow each other in the order of the events; null: in no order."
          },
          "headers": {
            "type": "array",
            "items": {
              "type": "string"
            },
            "description": "The names of the headers of its deliveries."
          },
          "secrets": {
            "type": "array",
            "items": {
              "type": "object",
              "properties": {
                "endsWith": {
                  "type": "string",
                  "description": "The last four characters."
                },
                "validUntil": {
                  "anyOf": [
                    {
                      "type": "integer",
                      "minimum": 0
                    },
                    {
                      "type": "null"
                    }
                  ],
                  "description": "Until when it signs, epoch ms; null for the current one."
                }
              },
              "required": [
                "endsWith",
                "validUntil"
              ]
            },
            "description": "The secrets that sign its deliveries."
          },
          "createdAt": {
            "type": "integer",
            "minimum": 0,
            "description": "When it was added, epoch ms."
          },
          "state": {
            "enum": [
              "active",
              "failing",
              "open",
              "disabled"
            ],
            "type": "string",
            "description": "`failing`: the last delivery failed. `open`: deliveries pause because they fail, and are tried one at a time."
          },
          "disabledReason": {
            "anyOf": [
              {
                "enum": [
                  "operator",
                  "failures",
                  "gone"
                ],
                "type": "string"
              },
              {
                "type": "null"
              }
            ],
            "description": "By an operator; because deliveries failed for days; because the endpoint asked for it. Null: it is not disabled."
          },
          "disabledAt": {
            "anyOf": [
              {
                "type": "integer",
                "minimum": 0
              },
              {
                "type": "null"
              }
            ],
            "description": "When it was disabled, epoch ms; null if it is not."
          },
          "failingSince": {
            "anyOf": [
              {
                "type": "integer",
                "minimum": 0
              },
              {
                "type": "null"
              }
            ],
            "description": "When the first delivery failed since the last one that did not, epoch ms; else null."
          },
          "retryAt": {
            "anyOf": [
              {
                "type": "integer",
                "minimum": 0
              },
              {
                "type": "null"
              }
            ],
            "description": "Of an open one, when a delivery is tried again, epoch ms; else null."
          }
        },
        "required": [
          "id",
          "url",
          "types",
          "description",
          "rate",
          "maxWorking",
          "order",
          "headers",
          "secrets",
          "createdAt",
          "state",
          "disabledReason",
          "disabledAt",
          "failingSince",
          "retryAt"
        ]
      },
      "Endpoints": {
        "type": "object",
        "properties": {
          "queue": {
            "type": "string",
            "description": "The queue of the deliveries."
          },
          "endpoints": {
            "type": "array",
            "items": {
              "$ref": "#/components/schemas/Endpoint"
            }
          },
          "cursor": {
            "anyOf": [
              {
                "type": "string"
              },
              {
                "type": "null"
              }
            ],
            "description": "The start of the next page; null on the last page."
          }
        },
        "required": [
          "queue",
          "endpoints",
          "cursor"
        ]
      },
      "EndpointWithSecret": {
        "type": "object",
        "properties": {
          "id": {
            "type": "string"
          },
          "url": {
            "type": "string"
          },
          "types": {
            "type": "array",
            "items": {
              "type": "string"
            },
            "description": "The types of the events that it gets: names, and patterns in which `*` is one word and `#` any number."
          },
          "description": {
            "anyOf": [
              {
                "type": "string"
              },
              {
                "type": "null"
              }
            ]
          },
          "rate": {
            "anyOf": [
              {
                "type": "object",
                "properties": {
                  "most": {
                    "type": "integer",
                    "minimum": 0
                  },
                  "per": {
                    "type": "integer",
                    "minimum": 0,
                    "description": "Milliseconds."
                  }
                },
                "required": [
                  "most",
                  "per"
                ]
              },
              {
                "type": "null"
              }
            ],
            "description": "The most deliveries (`most`) in any period of the length `per`; null: no limit."
          },
          "maxWorking": {
            "anyOf": [
              {
                "type": "integer",
                "minimum": 0
              },
              {
                "type": "null"
              }
            ],
            "description": "The most deliveries at the same time; null: no limit."
          },
          "order": {
            "anyOf": [
              {
                "const": "strict"
              },
              {
                "type": "null"
              }
            ],
            "description": "Whether deliveries follow each other in the order of the events; null: in no order."
          },
          "headers": {
            "type": "array",
            "items": {
              "type": "string"
            },
            "description": "The names of the headers of its deliveries."
          },
          "secrets": {
            "type": "array",
            "items": {
              "type": "object",
              "properties": {
                "endsWith": {
                  "type": "string",
                  "description": "The last four characters."
                },
                "validUntil": {
                  "anyOf": [
                    {
                      "type": "integer",
                      "minimum": 0
                    },
                    {
                      "type": "null"
                    }
                  ],
                  "description": "Until when it signs, epoch ms; null for the current one."
                }
              },
              "required": [
                "endsWith",
                "validUntil"
              ]
            },
            "description": "The secrets that sign its deliveries."
          },
          "createdAt": {
            "type": "integer",
            "minimum": 0,
            "description": "When it was added, epoch ms."
          },
          "state": {
            "enum": [
              "active",
              "failing",
              "open",
              "disabled"
            ],
            "type": "string",
            "description": "`failing`: the last delivery failed. `open`: deliveries pause because they fail, and are tried one at a time."
          },
          "disabledReason": {
            "anyOf": [
              {
                "enum": [
                  "operator",
                  "failures",
                  "gone"
                ],
                "type": "string"
              },
              {
                "type": "null"
              }
            ],
            "description": "By an operator; because deliveries failed for days; because the endpoint asked for it. Null: it is not disabled."
          },
          "disabledAt": {
            "anyOf": [
              {
                "type": "integer",
                "minimum": 0
              },
              {
                "type": "null"
              }
            ],
            "description": "When it was disabled, epoch ms; null if it is not."
          },
          "failingSince": {
            "anyOf": [
              {
                "type": "integer",
                "minimum": 0
              },
              {
                "type": "null"
              }
            ],
            "description": "When the first delivery failed since the last one that did not, epoch ms; else null."
          },
          "retryAt": {
            "anyOf": [
              {
                "type": "integer",
                "minimum": 0
              },
              {
                "type": "null"
              }
            ],
            "description": "Of an open one, when a delivery is tried again, epoch ms; else null."
          },
          "secret": {
            "type": "string",
            "description": "The secret that signs deliveries. It is shown this once."
          }
        },
        "required": [
          "id",
          "url",
          "types",
          "description",
          "rate",
          "maxWorking",
          "order",
          "headers",
          "secrets",
          "createdAt",
          "state",
          "disabledReason",
          "disabledAt",
          "failingSince",
          "retryAt",
          "secret"
        ]
      },
      "EndpointAdded": {
        "type": "object",
        "properties": {
          "id": {
            "type": "string"
          },
          "url": {
            "type": "string"
          },
          "types": {
            "type": "array",
            "items": {
              "type": "string"
            },
            "description": "The types of the events that it gets: names, and patterns in which `*` is one word and `#` any number."
          },
          "description": {
            "anyOf": [
              {
                "type": "string"
              },
              {
                "type": "null"
              }
            ]
          },
          "rate": {
            "anyOf": [
              {
                "type": "object",
                "properties": {
                  "most": {
                    "type": "integer",
                    "minimum": 0
                  },
                  "per": {
                    "type": "integer",
                    "minimum": 0,
                    "description": "Milliseconds."
                  }
                },
                "required": [
                  "most",
                  "per"
                ]
              },
              {
                "type": "null"
              }
            ],
            "description": "The most deliveries (`most`) in any period of the length `per`; null: no limit."
          },
          "maxWorking": {
            "anyOf": [
              {
                "type": "integer",
                "minimum": 0
              },
              {
                "type": "null"
              }
            ],
            "description": "The most deliveries at the same time; null: no limit."
          },
          "order": {
            "anyOf": [
              {
                "const": "strict"
              },
              {
                "type": "null"
              }
            ],
            "description": "Whether deliveries follow each other in the order of the events; null: in no order."
          },
          "headers": {
            "type": "array",
            "items": {
              "type": "string"
            },
            "description": "The names of the headers of its deliveries."
          },
          "secrets": {
            "type": "array",
            "items": {
              "type": "object",
              "properties": {
                "endsWith": {
                  "type": "string",
                  "description": "The last four characters."
                },
                "validUntil": {
                  "anyOf": [
                    {
                      "type": "integer",
                      "minimum": 0
                    },
                    {
                      "type": "null"
                    }
                  ],
                  "description": "Until when it signs, epoch ms; null for the current one."
                }
              },
              "required": [
                "endsWith",
                "validUntil"
              ]
            },
            "description": "The secrets that sign its deliveries."
          },
          "createdAt": {
            "type": "integer",
            "minimum": 0,
            "description": "When it was added, epoch ms."
          },
          "state": {
            "enum": [
              "active",
              "failing",
              "open",
              "disabled"
            ],
            "type": "string",
            "description": "`failing`: the last delivery failed. `open`: deliveries pause because they fail, and are tried one at a time."
          },
          "disabledReason": {
            "anyOf": [
              {
                "enum": [
                  "operator",
                  "failures",
                  "gone"
                ],
                "type": "string"
              },
              {
                "type": "null"
              }
            ],
            "description": "By an operator; because deliveries failed for days; because the endpoint asked for it. Null: it is not disabled."
          },
          "disabledAt": {
            "anyOf": [
              {
                "type": "integer",
                "minimum": 0
              },
              {
                "type": "null"
              }
            ],
            "description": "When it was disabled, epoch ms; null if it is not."
          },
          "failingSince": {
            "anyOf": [
              {
                "type": "integer",
                "minimum": 0
              },
              {
                "type": "null"
              }
            ],
            "description": "When the first delivery failed since the last one that did not, epoch ms; else null."
          },
          "retryAt": {
            "anyOf": [
              {
                "type": "integer",
                "minimum": 0
              },
              {
                "type": "null"
              }
            ],
            "description": "Of an open one, when a delivery is tried again, epoch ms; else null."
          },
          "created": {
            "type": "boolean",
            "description": "False if there was an endpoint with this id. It was not changed."
          },
          "secret": {
            "type": "string",
            "description": "Of a new one, the secret that signs deliveries. It is shown this once."
          }
        },
        "required": [
          "id",
          "url",
          "types",
          "description",
          "rate",
          "maxWorking",
          "order",
          "headers",
          "secrets",
          "createdAt",
          "state",
          "disabledReason",
          "disabledAt",
          "failingSince",
          "retryAt",
          "created"
        ]
      },
      "EndpointRemoved": {
        "type": "object",
        "properties": {
          "id": {
            "type": "string"
          },
          "removed": {
            "const": true
          }
        },
        "required": [
          "id",
          "removed"
        ]
      },
      "Replayed": {
        "type": "object",
        "properties": {
          "replayed": {
            "type": "integer",
            "minimum": 0,
            "description": "Deliveries that wait again."
          },
          "cursor": {
            "anyOf": [
              {
                "type": "string"
              },
              {
                "type": "null"
              }
            ],
            "description": "To continue; null if nothing is left to do."
          },
          "unreadable": {
            "type": "integer",
            "minimum": 0,
            "description": "Deliveries that were skipped, because their records are invalid or newer."
          }
        },
        "required": [
          "replayed",
          "cursor",
          "unreadable"
        ]
      },
      "EventSent": {
        "type": "object",
        "properties": {
          "id": {
            "type": "string",
            "description": "The id of the event."
          },
          "deliveries": {
            "type": "array",
            "items": {
              "type": "object",
              "properties": {
                "endpoint": {
                  "type": "string"
                },
                "id": {
                  "type": "string",
                  "description": "The id of the task, and of the webhook."
                },
                "created": {
                  "type": "boolean",
                  "description": "False if the event was sent before."
                }
              },
              "required": [
                "endpoint",
                "id",
                "created"
              ]
            }
          }
        },
        "required": [
          "id",
          "deliveries"
        ]
      },
      "Queues": {
        "type": "object",
        "properties": {
          "queues": {
            "type": "array",
            "items": {
              "type": "object",
              "properties": {
                "name": {
                  "type": "string"
                },
                "seenAt": {
                  "type": "integer",
                  "minimum": 0,
                  "description": "When it was last known to be in use, accurate to some minutes, epoch ms."
                },
                "counts": {
                  "anyOf": [
                    {
                      "type": "object",
                      "properties": {
                        "pending": {
                          "type": "integer",
                          "minimum": 0
                        },
                        "delayed": {
                          "type": "integer",
                          "minimum": 0
                        },
                        "blocked": {
                          "type": "integer",
                          "minimum": 0,
                          "description": "Tasks of flows that wait for others."
                        },
                        "working": {
                          "type": "integer",
                          "minimum": 0
                        },
                        "rejected": {
                          "type": "integer",
                          "minimum": 0,
                          "description": "Dead letters."
                        },
                        "oldestAge": {
                          "anyOf": [
                            {
                              "type": "integer",
                              "minimum": 0
                            },
                            {
                              "type": "null"
                            }
                          ],
                          "description": "Time since the next pending task was enqueued, ms; null if none is pending. There are two candidates: the next task without a group or priority, and the next one with either. The older one counts. Tasks that wait for their group's limit count only if no other task is pending."
                        },
                        "nextDueAt": {
                          "anyOf": [
                            {
                              "type": "integer",
                              "minimum": 0
                            },
                            {
                              "type": "null"
                            }
                          ],
                          "description": "When the next delayed task is due or the next lease expires, epoch ms."
                        },
                        "broken": {
                          "type": "integer",
                          "minimum": 0,
                          "description": "Entries without a valid record that pulls have set aside; 0 in a valid queue."
                        },
                        "workers": {
                          "type": "integer",
                          "minimum": 0,
                          "description": "Workers of the queue that are not gone, or still have tasks."
                        },
                        "paused": {
                          "type": "boolean",
                          "description": "True while pulls return no tasks."
                        },
                        "stoppedGroups": {
                          "type": "integer",
                          "minimum": 0,
                          "description": "Groups in strict order that a dead letter has stopped."
                        },
                        "pausedUntil": {
                          "anyOf": [
                            {
                              "type": "integer",
                              "minimum": 0
                            },
                            {
                              "type": "null"
                            }
                          ],
                          "description": "When the pause ends, epoch ms; null if there is none, or it lasts until it is resumed."
                        }
                      },
                      "required": [
                        "pending",
                        "delayed",
                        "blocked",
                        "working",
                        "rejected",
                        "oldestAge",
                        "nextDueAt",
                        "broken",
                        "workers",
                        "paused",
                        "stoppedGroups",
                        "pausedUntil"
                      ]
                    },
                    {
                      "type": "null"
                    }
                  ],
                  "description": "If counts were requested; null if they could not be read."
                }
              },
              "required": [
                "name",
                "seenAt"
              ]
            }
          },
          "cursor": {
            "anyOf": [
              {
                "type": "string"
              },
              {
                "type": "null"
              }
            ],
            "description": "The start of the next page; null on the last page."
          }
        },
        "required": [
          "queues",
          "cursor"
        ]
      },
      "Queue": {
        "type": "object",
        "properties": {
          "queue": {
            "type": "string"
          },
          "pending": {
            "type": "integer",
            "minimum": 0
          },
          "delayed": {
            "type": "integer",
            "minimum": 0
          },
          "blocked": {
            "type": "integer",
            "minimum": 0,
            "description": "Tasks of flows that wait for others."
          },
          "working": {
            "type": "integer",
            "minimum": 0
          },
          "rejected": {
            "type": "integer",
            "minimum": 0,
            "description": "Dead letters."
          },
          "oldestAge": {
            "anyOf": [
              {
                "type": "integer",
                "minimum": 0
              },
              {
                "type": "null"
              }
            ],
            "description": "Time since the next pending task was enqueued, ms; null if none is pending. There are two candidates: the next task without a group or priority, and the next one with either. The older one counts. Tasks that wait for their group's limit count only if no other task is pending."
          },
          "nextDueAt": {
            "anyOf": [
              {
                "type": "integer",
                "minimum": 0
              },
              {
                "type": "null"
              }
            ],
            "description": "When the next delayed task is due or the next lease expires, epoch ms."
          },
          "broken": {
            "type": "integer",
            "minimum": 0,
            "description": "Entries without a valid record that pulls have set aside; 0 in a valid queue."
          },
          "workers": {
            "type": "integer",
            "minimum": 0,
            "description": "Workers of the queue that are not gone, or still have tasks."
          },
          "paused": {
            "type": "boolean",
            "description": "True while pulls return no tasks."
          },
          "stoppedGroups": {
            "type": "integer",
            "minimum": 0,
            "description": "Groups in strict order that a dead letter has stopped."
          },
          "pausedUntil": {
            "anyOf": [
              {
                "type": "integer",
                "minimum": 0
              },
              {
                "type": "null"
              }
            ],
            "description": "When the pause ends, epoch ms; null if there is none, or it lasts until it is resumed."
          }
        },
        "required": [
          "queue",
          "pending",
          "delayed",
          "blocked",
          "working",
          "rejected",
          "oldestAge",
          "nextDueAt",
          "broken",
          "workers",
          "paused",
          "stoppedGroups",
          "pausedUntil"
        ]
      },
      "Load": {
        "type": "object",
        "properties": {
          "queue": {
            "type": "string"
          },
          "pending": {
            "type": "integer",
            "minimum": 0
          },
          "working": {
            "type": "integer",
            "minimum": 0
          },
          "paused": {
            "type": "boolean",
            "description": "True while pulls return no tasks."
          },
          "backlog": {
            "type": "integer",
            "minimum": 0,
            "description": "The tasks that need a consumer: pending and working ones, or only working ones while the queue is paused."
          },
          "workers": {
            "type": "integer",
            "minimum": 0,
            "description": "Workers of the queue that are not gone, or still have tasks. Consumers without a name are not counted."
          },
          "perWorker": {
            "type": "number",
            "minimum": 0,
            "description": "Pending tasks for each worker, or all of them if there is no worker; 0 while the queue is paused."
          },
          "oldestAge": {
            "type": "integer",
            "minimum": 0,
            "description": "Time since the next pending task was enqueued, ms; 0 if none is pending."
          },
          "perMinute": {
            "type": "object",
            "properties": {
              "enqueued": {
                "type": "number",
                "minimum": 0
              },
              "completed": {
                "type": "number",
                "minimum": 0
              }
            },
            "required": [
              "enqueued",
              "completed"
            ],
            "description": "Tasks per minute, the mean of the last five complete minutes; 0 if the queue keeps no statistics."
          }
        },
        "required": [
          "queue",
          "pending",
          "working",
          "paused",
          "backlog",
          "workers",
          "perWorker",
          "oldestAge",
          "perMinute"
        ]
      },
      "Overviews": {
        "type": "object",
        "properties": {
          "now": {
            "anyOf": [
              {
                "type": "integer",
                "minimum": 0
              },
              {
                "type": "null"
              }
            ],
            "description": "Redis's time, epoch ms; null if no queue could be read."
          },
          "queues": {
            "type": "array",
            "items": {
              "anyOf": [
                {
                  "type": "object",
                  "properties": {
                    "queue": {
                      "type": "string"
                    },
                    "pending": {
                      "type": "integer",
                      "minimum": 0
                    },
                    "delayed": {
                      "type": "integer",
                      "minimum": 0
                    },
                    "blocked": {
                      "type": "integer",
                      "minimum": 0,
                      "description": "Tasks of flows that wait for others."
                    },
                    "working": {
                      "type": "integer",
                      "minimum": 0
                    },
                    "rejected": {
                      "type": "integer",
                      "minimum": 0,
                      "description": "Dead letters."
                    },
                    "oldestAge": {
                      "anyOf": [
                        {
                          "type": "integer",
                          "minimum": 0
                        },
                        {
                          "type": "null"
                        }
                      ],
                      "description": "Time since the next pending task was enqueued, ms; null if none is pending. There are two candidates: the next task without a group or priority, and the next one with either. The older one counts. Tasks that wait for their group's limit count only if no other task is pending."
                    },
                    "nextDueAt": {
                      "anyOf": [
                        {
                          "type": "integer",
                          "minimum": 0
                        },
                        {
                          "type": "null"
                        }
                      ],
                      "description": "When the next delayed task is due or the next lease expires, epoch ms."
                    },
                    "broken": {
                      "type": "integer",
                      "minimum": 0,
                      "description": "Entries without a valid record that pulls have set aside; 0 in a valid queue."
                    },
                    "workers": {
                      "type": "integer",
                      "minimum": 0,
                      "description": "Workers of the queue that are not gone, or still have tasks."
                    },
                    "paused": {
                      "type": "boolean",
                      "description": "True while pulls return no tasks."
                    },
                    "stoppedGroups": {
                      "type": "integer",
                      "minimum": 0,
                      "description": "Groups in strict order that a dead letter has stopped."
                    },
                    "pausedUntil": {
                      "anyOf": [
                        {
                          "type": "integer",
                          "minimum": 0
                        },
                        {
                          "type": "null"
                        }
                      ],
                      "description": "When the pause ends, epoch ms; null if there is none, or it lasts until it is resumed."
                    },
                    "settings": {
                      "$ref": "#/components/schemas/QueueSettings"
                    },
                    "statistics": {
                      "type": "object",
                      "properties": {
                        "on": {
                          "type": "boolean",
                          "description": "False if the queue keeps no statistics. Then all its numbers are 0."
                        },
                        "perMinute": {
                          "type": "object",
                          "properties": {
                            "enqueued": {
                              "type": "number",
                              "minimum": 0
                            },
                            "dequeued": {
                              "type": "number",
                              "minimum": 0
                            },
                            "completed": {
                              "type": "number",
                              "minimum": 0
                            },
                            "requeued": {
                              "type": "number",
                              "minimum": 0
                            },
                            "rejected": {
                              "type": "number",
                              "minimum": 0
                            },
                            "cancelled": {
                              "type": "number",
                              "minimum": 0
                            },
                            "cancelRequested": {
                              "type": "number",
                              "minimum": 0
                            },
                            "reclaimed": {
                              "type": "number",
                              "minimum": 0
                            },
                            "redriven": {
                              "type": "number",
                              "minimum": 0
                            },
                            "released": {
                              "type": "number",
                              "minimum": 0
                            },
                            "deleted": {
                              "type": "number",
                              "minimum": 0
                            }
                          },
                          "required": [
                            "enqueued",
                            "dequeued",
                            "completed",
                            "requeued",
                            "rejected",
                            "cancelled",
                            "cancelRequested",
                            "reclaimed",
                            "redriven",
                            "released",
                            "deleted"
                          ],
                          "description": "Tasks per minute, the mean of the last five complete minutes."
                        },
                        "series": {
                          "type": "object",
                          "properties": {
                            "enqueued": {
                              "type": "array",
                              "items": {
                                "type": "integer",
                                "minimum": 0
                              },
                              "minItems": 60,
                              "maxItems": 60
                            },
                            "dequeued": {
                              "type": "array",
                              "items": {
                                "type": "integer",
                                "minimum": 0
                              },
                              "minItems": 60,
                              "maxItems": 60
                            },
                            "completed": {
                              "type": "array",
                              "items": {
                                "type": "integer",
                                "minimum": 0
                              },
                              "minItems": 60,
                              "maxItems": 60
                            },
                            "failed": {
                              "type": "array",
                              "items": {
                                "type": "integer",
                                "minimum": 0
                              },
                              "minItems": 60,
                              "maxItems": 60
                            }
                          },
                          "required": [
                            "enqueued",
                            "dequeued",
                            "completed",
                            "failed"
                          ],
                          "description": "Tasks in each of the last 60 minutes, the oldest first; `failed` are attempts. The last number is that of the current minute."
                        },
                        "waits": {
                          "type": "object",
                          "properties": {
                            "count": {
                              "type": "integer",
                              "minimum": 0
                            },
                            "total": {
                              "type": "integer",
                              "minimum": 0,
                              "description": "Their sum, ms."
                            },
                            "classes": {
                              "type": "array",
                              "items": {
                                "type": "integer",
                                "minimum": 0
                              },
                              "description": "How many were in each class. A class has an upper bound that belongs to it: 10, 30, 100, 300, 1000, 3000, 10000, 30000, 100000, 300000, 1000000, 3000000 ms. The last class has none."
                            }
                          },
                          "required": [
                            "count",
                            "total",
                            "classes"
                          ],
                          "description": "Times from the enqueue of a task to its first pull, in these 60 minutes."
                        },
                        "waitP95": {
                          "anyOf": [
                            {
                              "type": "integer",
                              "minimum": 0
                            },
                            {
                              "type": "null"
                            }
                          ],
                          "description": "Within this time, ms, 95 of 100 tasks started, of those that were first pulled in these 60 minutes and those that wait now, whose ages are taken as evenly spread up to `oldestAge`. null if there are none, or without statistics."
                        },
                        "runs": {
                          "type": "object",
                          "properties": {
                            "count": {
                              "type": "integer",
                              "minimum": 0
                            },
                            "total": {
                              "type": "integer",
                              "minimum": 0,
                              "description": "Their sum, ms."
                            },
                            "classes": {
                              "type": "array",
                              "items": {
                                "type": "integer",
                                "minimum": 0
                              },
                              "description": "How many were in each class. A class has an upper bound that belongs to it: 10, 30, 100, 300, 1000, 3000, 10000, 30000, 100000, 300000, 1000000, 3000000 ms. The last class has none."
                            }
                          },
                          "required": [
                            "count",
                            "total",
                            "classes"
                          ],
                          "description": "Times from a pull to its settle, in these 60 minutes."
                        },
                        "calls": {
                          "type": "object",
                          "properties": {
                            "enqueue": {
                              "type": "integer",
                              "minimum": 0
                            },
                            "dequeue": {
                              "type": "integer",
                              "minimum": 0
                            },
                            "settle": {
                              "type": "integer",
                              "minimum": 0
                            },
                            "other": {
                              "type": "integer",
                              "minimum": 0
                            }
                          },
                          "required": [
                            "enqueue",
                            "dequeue",
                            "settle",
                            "other"
                          ],
                          "description": "Calls that caused an event. Calls that found no task are not counted."
                        }
                      },
                      "required": [
                        "on",
                        "perMinute",
                        "series",
                        "waits",
                        "waitP95",
                        "runs",
                        "calls"
                      ]
                    },
                    "partitions": {
                      "type": "integer",
                      "minimum": 0,
                      "description": "How many partitions may have tasks of the queue, those that get no new ones included; 1 without partitions."
                    }
                  },
                  "required": [
                    "queue",
                    "pending",
                    "delayed",
                    "blocked",
                    "working",
                    "rejected",
                    "oldestAge",
                    "nextDueAt",
                    "broken",
                    "workers",
                    "paused",
                    "stoppedGroups",
                    "pausedUntil",
                    "settings",
                    "statistics",
                    "partitions"
                  ]
                },
                {
                  "type": "object",
                  "properties": {
                    "queue": {
                      "type": "string"
                    },
                    "code": {
                      "type": "string",
                      "description": "Why the queue could not be read, such as `newer_schema`."
                    }
                  },
                  "required": [
                    "queue",
                    "code"
                  ]
                }
              ]
            },
            "description": "In the order of the request."
          }
        },
        "required": [
          "now",
          "queues"
        ]
      },
      "QueuesHealth": {
        "type": "object",
        "properties": {
          "status": {
            "enum": [
              "ok",
              "warning",
              "problem"
            ],
            "type": "string",
            "description": "The worst of the findings; `unknown` ones count as fine."
          },
          "now": {
            "type": "integer",
            "minimum": 0,
            "description": "Redis's time, epoch ms."
          },
          "findings": {
            "type": "array",
            "items": {
              "type": "object",
              "properties": {
                "status": {
                  "enum": [
                    "ok",
                    "warning",
                    "problem",
                    "unknown"
                  ],
                  "type": "string",
                  "description": "`unknown`: it could not be checked."
                },
                "code": {
                  "enum": [
                    "redis_slow",
                    "version_unsupported",
                    "eviction_on",
                    "database_nearly_full",
                    "not_durable",
                    "clock_off",
                    "cron_refused",
                    "no_queue",
                    "unreadable",
                    "broken_entries",
                    "paused",
                    "nothing_ends",
                    "nothing_taken",
                    "no_consumer",
                    "attempts_fail",
                    "worker_lost",
                    "leases_expire",
                    "queue_at_limit",
                    "group_at_limit",
                    "group_paused",
                    "groups_stopped",
                    "not_swept",
                    "schedule_failing",
                    "schedule_paused",
                    "dead_letters",
                    "dead_letters_rising"
                  ],
                  "type": "string",
                  "description": "What was checked. More may be added."
                },
                "about": {
                  "type": "string",
                  "description": "What was checked, for people: the name of the queue, or such as `clock`."
                },
                "found": {
                  "type": "string",
                  "description": "What was found, for people."
                },
                "advice": {
                  "type": "string",
                  "description": "What to do. It names commands of `sluice`."
                },
                "queue": {
                  "type": "string",
                  "description": "Absent if it is about the database or the deployment."
                },
                "names": {
                  "type": "array",
                  "items": {
                    "type": "string"
                  },
                  "description": "The schedules, groups, workers or tasks that it is about; of many the first."
                }
              },
              "required": [
                "status",
                "code",
                "about",
                "found"
              ]
            },
            "description": "First all about the database and the deployment, also what is fine; then what is not fine of each queue, by name."
          },
          "queues": {
            "type": "array",
            "items": {
              "type": "object",
              "properties": {
                "queue": {
                  "type": "string"
                },
                "status": {
                  "enum": [
                    "ok",
                    "warning",
                    "problem"
                  ],
                  "type": "string"
                },
                "pending": {
                  "type": "integer",
                  "minimum": 0,
                  "description": "Absent if the queue could not be read."
                },
                "working": {
                  "type": "integer",
                  "minimum": 0
                }
              },
              "required": [
                "queue",
                "status"
              ]
            },
            "description": "The queues that were looked at, by name."
          },
          "truncated": {
            "type": "boolean",
            "description": "True if there are more queues than the 1,000 of a reply."
          }
        },
        "required": [
          "status",
          "now",
          "findings",
          "queues",
          "truncated"
        ]
      },
      "Declaration": {
        "type": "object",
        "properties": {
          "settings": {
            "$ref": "#/components/schemas/QueueChanges",
            "description": "The settings. One that the previous declaration had and this one does not is removed."
          },
          "partitions": {
            "type": "integer",
            "minimum": 1,
            "maximum": 62,
            "description": "How many partitions the queue has. If the previous declaration had a number and this one does not, it is 1."
          },
          "schedules": {
            "type": "array",
            "items": {
              "type": "object",
              "properties": {
                "name": {
                  "type": "string",
                  "pattern": "^[A-Za-z0-9][!-~]{0,127}$",
                  "maxLength": 100
                },
                "cron": {
                  "type": "string",
                  "description": "A cron expression: five fields (minute, hour, day of month, month, day of week), six with seconds first, or a name such as `@daily`. Either `cron` or `every` is required."
                },
                "timeZone": {
                  "type": "string",
                  "description": "The IANA time zone of `cron`, such as `Europe/Berlin`. Default \"UTC\"."
                },
                "every": {
                  "$ref": "#/components/schemas/Interval",
                  "description": "The time from one occurrence to the next, at least 1 s. Either `cron` or `every` is required."
                },
                "from": {
                  "anyOf": [
                    {
                      "type": "integer",
                      "minimum": 0,
                      "maximum": 999999999
                    },
                    {
                      "type": "integer",
                      "minimum": 10000000000,
                      "maximum": 8640000000000000
                    }
                  ],
                  "description": "With `every`: the first occurrence, epoch ms. If it is in the past, the schedule starts with the next occurrence counted from it. Default: one interval from now."
                },
                "until": {
                  "anyOf": [
                    {
                      "type": "integer",
                      "minimum": 0,
                      "maximum": 999999999
                    },
                    {
                      "type": "integer",
                      "minimum": 10000000000,
                      "maximum": 8640000000000000
                    }
                  ],
                  "description": "The end of the schedule, epoch ms. No occurrence is later."
                },
                "missed": {
                  "enum": [
                    "last",
                    "all"
                  ],
                  "type": "string",
                  "description": "Which occurrences are enqueued if no sweep ran in time: only the last, or all. Default last."
                },
                "paused": {
                  "type": "boolean",
                  "description": "True pauses the schedule, false resumes it. Default: unchanged. A new schedule is not paused."
                },
                "payload": {
                  "description": "Any JSON value; with `encoding`, bytes in base64. Numbers are 64-bit floats: extra digits are rounded, and a number out of range, such as 1e400, is refused."
                },
                "encoding": {
                  "const": "base64",
                  "description": "Set it if the value is bytes in base64."
                },
                "lease": {
                  "$ref": "#/components/schemas/PositiveDuration",
                  "description": "How long one attempt may take. Default: the lease of the pull."
                },
                "maxAttempts": {
                  "type": "integer",
                  "minimum": 0,
                  "maximum": 1000000,
                  "description": "Charged attempts after which the task becomes a dead letter; 0 is no limit. Default 10."
                },
                "resultTtl": {
                  "$ref": "#/components/schemas/Duration",
                  "description": "How long the record and the result of the completed task are kept, at least 5 minutes. With 0 no result is kept, and the id stays known for 5 minutes. Default \"1h\"."
                },
                "deadTtl": {
                  "$ref": "#/components/schemas/Duration",
                  "description": "How long the dead letter, with its payload and error, is kept, at least 5 minutes. With 0 no dead letter is kept, and the id stays known for 5 minutes. Default \"7d\"."
                },
                "group": {
                  "$ref": "#/components/schemas/Name",
                  "description": "The tenant or client that the task belongs to. Groups share a queue fairly."
                },
                "priority": {
                  "type": "integer",
                  "minimum": 0,
                  "maximum": 9,
                  "description": "Tasks with a higher priority are pulled first. Default 0."
                },
                "headers": {
                  "type": "object",
                  "propertyNames": {
                    "minLength": 1
                  },
                  "additionalProperties": {
                    "type": "string"
                  },
                  "description": "Texts that are stored with the payload, at most 16 KiB in total."
                }
              },
              "required": [
                "name",
                "payload"
              ],
              "additionalProperties": false
            },
            "maxItems": 100,
            "description": "The schedules. One that the previous declaration had and this one does not is removed."
          },
          "defaults": {
            "type": "object",
            "properties": {
              "lease": {
                "$ref": "#/components/schemas/PositiveDuration",
                "description": "How long one attempt may take. Default: the lease of the pull."
              },
              "maxAttempts": {
                "type": "integer",
                "minimum": 0,
                "maximum": 1000000,
                "description": "Charged attempts after which the task becomes a dead letter; 0 is no limit. Default 10."
              },
              "resultTtl": {
                "$ref": "#/components/schemas/Duration",
                "description": "How long the record and the result of the completed task are kept, at least 5 minutes. With 0 no result is kept, and the id stays known for 5 minutes. Default \"1h\"."
              },
              "deadTtl": {
                "$ref": "#/components/schemas/Duration",
                "description": "How long the dead letter, with its payload and error, is kept, at least 5 minutes. With 0 no dead letter is kept, and the id stays known for 5 minutes. Default \"7d\"."
              },
              "delay": {
                "$ref": "#/components/schemas/Duration",
                "description": "How long until the task becomes pending. Default 0."
              },
              "unique": {
                "$ref": "#/components/schemas/Duration",
                "description": "How long the `id` is refused from this enqueue on, such as \"24h\": another enqueue with it changes nothing, even if the task has completed, was cancelled, or its record was deleted. Needs an `id`; not with `again`. Default 0: as long as the task or its record is kept."
              }
            },
            "additionalProperties": false,
            "description": "The defaults of the tasks of its schedules."
          }
        },
        "additionalProperties": false
      },
      "Declared": {
        "type": "object",
        "properties": {
          "queue": {
            "type": "string"
          },
          "status": {
            "enum": [
              "applied",
              "unchanged",
              "deferred"
            ],
            "type": "string",
            "description": "`unchanged`: the same declaration had been applied before. `deferred`: another caller is applying one."
          }
        },
        "required": [
          "queue",
          "status"
        ]
      },
      "Token": {
        "type": "object",
        "properties": {
          "grants": {
            "type": "array",
            "items": {
              "type": "object",
              "properties": {
                "scopes": {
                  "type": "array",
                  "items": {
                    "enum": [
                      "enqueue",
                      "consume",
                      "view",
                      "admin"
                    ],
                    "type": "string"
                  }
                },
                "queues": {
                  "type": "string",
                  "description": "The pattern of the queues for which it has the scopes."
                },
                "payloads": {
                  "const": "hidden",
                  "description": "Replies leave out payloads, results, progress and headers. Absent if they are shown."
                }
              },
              "required": [
                "scopes",
                "queues"
              ]
            },
            "description": "What the token may do, one entry for each of its entries in `SLUICE_TOKENS`."
          }
        },
        "required": [
          "grants"
        ]
      },
      "Diagnostics": {
        "type": "object",
        "properties": {
          "now": {
            "type": "integer",
            "minimum": 0,
            "description": "Redis's time, epoch ms."
          },
          "roundTrip": {
            "type": "integer",
            "minimum": 0,
            "description": "How long a script call to Redis took, ms."
          },
          "version": {
            "anyOf": [
              {
                "type": "string"
              },
              {
                "type": "null"
              }
            ],
            "description": "The version of Redis; null if this Redis does not report it, or, of the database, if the token is not for all queues."
          },
          "evictionPolicy": {
            "anyOf": [
              {
                "type": "string"
              },
              {
                "type": "null"
              }
            ],
            "description": "What Redis does if its memory is full. It must be `noeviction`; null if this Redis does not report it, or, of the database, if the token is not for all queues."
          },
          "usedMemory": {
            "anyOf": [
              {
                "type": "integer",
                "minimum": 0
              },
              {
                "type": "null"
              }
            ],
            "description": "Memory in use, in bytes; null if this Redis does not report it, or, of the database, if the token is not for all queues."
          },
          "maxMemory": {
            "anyOf": [
              {
                "type": "integer",
                "minimum": 0
              },
              {
                "type": "null"
              }
            ],
            "description": "The limit of memory in bytes, 0 for none; null if this Redis does not report it, or, of the database, if the token is not for all queues."
          },
          "appendOnly": {
            "anyOf": [
              {
                "type": "boolean"
              },
              {
                "type": "null"
              }
            ],
            "description": "Whether Redis writes an append-only file; null if this Redis does not report it, or, of the database, if the token is not for all queues."
          }
        },
        "required": [
          "now",
          "roundTrip",
          "version",
          "evictionPolicy",
          "usedMemory",
          "maxMemory",
          "appendOnly"
        ]
      },
      "QueueDiagnostics": {
        "type": "object",
        "properties": {
          "queue": {
            "type": "string"
          },
          "fields": {
            "type": "integer",
            "minimum": 0,
            "description": "Fields of the hash that holds the tasks."
          },
          "bytes": {
            "anyOf": [
              {
                "type": "integer",
                "minimum": 0
              },
              {
                "type": "null"
              }
            ],
            "description": "Size of that hash, in bytes, estimated from a thousand fields; null if this Redis does not report it, or, of the database, if the token is not for all queues."
          },
          "valid": {
            "anyOf": [
              {
                "type": "boolean"
              },
              {
                "type": "null"
              }
            ],
            "description": "True if all entries were checked and are valid. False if there is a fault, a later release wrote some of them, or they cannot be read: the deep sweep finds out, and repairs. Null if there are too many for one check, or if the server has not turned on the deep sweep."
          },
          "entries": {
            "type": "integer",
            "minimum": 0,
            "description": "How many entries were checked."
          }
        },
        "required": [
          "queue",
          "fields",
          "bytes",
          "valid",
          "entries"
        ]
      },
      "QueueDeleted": {
        "type": "object",
        "properties": {
          "queue": {
            "type": "string"
          },
          "deleted": {
            "const": true
          }
        },
        "required": [
          "queue",
          "deleted"
        ]
      },
      "QueueSettings": {
        "type": "object",
        "properties": {
          "paused": {
            "type": "boolean"
          },
          "pausedUntil": {
            "anyOf": [
              {
                "type": "integer",
                "minimum": 0
              },
              {
                "type": "null"
              }
            ],
            "description": "When the pause ends, epoch ms; null if there is none, or it lasts until it is resumed."
          },
          "maxWorking": {
            "anyOf": [
              {
                "type": "integer",
                "minimum": 0
              },
              {
                "type": "null"
              }
            ],
            "description": "The most tasks that are working at the same time; null: no limit."
          },
          "rate": {
            "anyOf": [
              {
                "type": "object",
                "properties": {
                  "most": {
                    "type": "integer",
                    "minimum": 0
                  },
                  "per": {
                    "type": "integer",
                    "minimum": 0,
                    "description": "Milliseconds."
                  }
                },
                "required": [
                  "most",
                  "per"
                ]
              },
              {
                "type": "null"
              }
            ],
            "description": "The most tasks (`most`) that are pulled in any period of the length `per`; null: no limit."
          },
          "maxPending": {
            "anyOf": [
              {
                "type": "integer",
                "minimum": 0
              },
              {
                "type": "null"
              }
            ],
            "description": "The most pending tasks before an enqueue is refused; null: no limit."
          },
          "events": {
            "type": "boolean",
            "description": "Whether the queue publishes events of its tasks."
          },
          "statistics": {
            "type": "boolean",
            "description": "Whether the queue counts events of its tasks."
          },
          "order": {
            "anyOf": [
              {
                "const": "strict"
              },
              {
                "type": "null"
              }
            ],
            "description": "Whether the tasks of each group are worked on one after the other; null: side by side."
          },
          "onDead": {
            "enum": [
              "continue",
              "stop"
            ],
            "type": "string",
            "description": "Whether a dead letter stops its group, if that has an order."
          }
        },
        "required": [
          "paused",
          "pausedUntil",
          "maxWorking",
          "rate",
          "maxPending",
          "events",
          "statistics",
          "order",
          "onDead"
        ]
      },
      "GroupSettings": {
        "type": "object",
        "properties": {
          "paused": {
            "type": "boolean",
            "description": "True while pulls return no tasks of the group."
          },
          "pausedUntil": {
            "anyOf": [
              {
                "type": "integer",
                "minimum": 0
              },
              {
                "type": "null"
              }
            ],
            "description": "When the pause ends, epoch ms; null if there is none, or it lasts until it is resumed."
          },
          "weight": {
            "type": "integer",
            "minimum": 0,
            "description": "The group's share of the queue relative to other groups."
          },
          "maxWorking": {
            "anyOf": [
              {
                "type": "integer",
                "minimum": 0
              },
              {
                "type": "null"
              }
            ],
            "description": "The most tasks that are working at the same time; null: no limit."
          },
          "rate": {
            "anyOf": [
              {
                "type": "object",
                "properties": {
                  "most": {
                    "type": "integer",
                    "minimum": 0
                  },
                  "per": {
                    "type": "integer",
                    "minimum": 0,
                    "description": "Milliseconds."
                  }
                },
                "required": [
                  "most",
                  "per"
                ]
              },
              {
                "type": "null"
              }
            ],
            "description": "The most tasks (`most`) that are pulled in any period of the length `per`; null: no limit."
          },
          "order": {
            "anyOf": [
              {
                "enum": [
                  "strict",
                  "none"
                ],
                "type": "string"
              },
              {
                "type": "null"
              }
            ],
            "description": "The order of its tasks; null: that of the queue."
          },
          "onDead": {
            "anyOf": [
              {
                "enum": [
                  "continue",
                  "stop"
                ],
                "type": "string"
              },
              {
                "type": "null"
              }
            ],
            "description": "Whether a dead letter stops the group, if it has an order; null: as the queue says."
          }
        },
        "required": [
          "paused",
          "pausedUntil",
          "weight",
          "maxWorking",
          "rate",
          "order",
          "onDead"
        ]
      },
      "Group": {
        "type": "object",
        "properties": {
          "queue": {
            "type": "string"
          },
          "group": {
            "$ref": "#/components/schemas/Name"
          },
          "paused": {
            "type": "boolean",
            "description": "True while pulls return no tasks of the group."
          },
          "pausedUntil": {
            "anyOf": [
              {
                "type": "integer",
                "minimum": 0
              },
              {
                "type": "null"
              }
            ],
            "description": "When the pause ends, epoch ms; null if there is none, or it lasts until it is resumed."
          },
          "weight": {
            "type": "integer",
            "minimum": 0,
            "description": "The group's share of the queue relative to other groups."
          },
          "maxWorking": {
            "anyOf": [
              {
                "type": "integer",
                "minimum": 0
              },
              {
                "type": "null"
              }
            ],
            "description": "The most tasks that are working at the same time; null: no limit."
          },
          "rate": {
            "anyOf": [
              {
                "type": "object",
                "properties": {
                  "most": {
                    "type": "integer",
                    "minimum": 0
                  },
                  "per": {
                    "type": "integer",
                    "minimum": 0,
                    "description": "Milliseconds."
                  }
                },
                "required": [
                  "most",
                  "per"
                ]
              },
              {
                "type": "null"
              }
            ],
            "description": "The most tasks (`most`) that are pulled in any period of the length `per`; null: no limit."
          },
          "order": {
            "anyOf": [
              {
                "enum": [
                  "strict",
                  "none"
                ],
                "type": "string"
              },
              {
                "type": "null"
              }
            ],
            "description": "The order of its tasks; null: that of the queue."
          },
          "onDead": {
            "anyOf": [
              {
                "enum": [
                  "continue",
                  "stop"
                ],
                "type": "string"
              },
              {
                "type": "null"
              }
            ],
            "description": "Whether a dead letter stops the group, if it has an order; null: as the queue says."
          },
          "ready": {
            "type": "integer",
            "minimum": 0,
            "description": "Pending tasks that a pull may return."
          },
          "working": {
            "type": "integer",
            "minimum": 0
          },
          "limited": {
            "type": "integer",
            "minimum": 0,
            "description": "Pending tasks that wait for the group's limits."
          },
          "inLine": {
            "type": "integer",
            "minimum": 0,
            "description": "In strict order, pending tasks that wait until those before them have ended."
          },
          "stoppedBy": {
            "anyOf": [
              {
                "$ref": "#/components/schemas/TaskId"
              },
              {
                "type": "null"
              }
            ],
            "description": "The dead letter that has stopped the group; null if none has."
          }
        },
        "required": [
          "queue",
          "group",
          "paused",
          "pausedUntil",
          "weight",
          "maxWorking",
          "rate",
          "order",
          "onDead",
          "ready",
          "working",
          "limited",
          "inLine",
          "stoppedBy"
        ]
      },
      "Groups": {
        "type": "object",
        "properties": {
          "groups": {
            "type": "array",
            "items": {
              "$ref": "#/components/schemas/Group"
            }
          },
          "cursor": {
            "anyOf": [
              {
                "type": "string"
              },
              {
                "type": "null"
              }
            ],
            "description": "The start of the next page; null on the last page."
          }
        },
        "required": [
          "groups",
          "cursor"
        ]
      },
      "StoppedGroups": {
        "type": "object",
        "properties": {
          "total": {
            "type": "integer",
            "minimum": 0,
            "description": "How many groups of the queue are stopped."
          },
          "groups": {
            "type": "array",
            "items": {
              "type": "object",
              "properties": {
                "group": {
                  "$ref": "#/components/schemas/Name"
                },
                "id": {
                  "type": "string",
                  "pattern": "^[A-Za-z0-9][!-~]{0,127}$",
                  "description": "The dead letter that stops it."
                }
              },
              "required": [
                "group",
                "id"
              ]
            }
          },
          "cursor": {
            "anyOf": [
              {
                "type": "string"
              },
              {
                "type": "null"
              }
            ],
            "description": "The start of the next page; null on the last page."
          }
        },
        "required": [
          "total",
          "groups",
          "cursor"
        ]
      },
      "Skipped": {
        "type": "object",
        "properties": {
          "id": {
            "$ref": "#/components/schemas/TaskId"
          },
          "skipped": {
            "const": true
          }
        },
        "required": [
          "id",
          "skipped"
        ]
      },
      "Partitions": {
        "type": "object",
        "properties": {
          "queue": {
            "type": "string"
          },
          "count": {
            "type": "integer",
            "minimum": 0,
            "description": "How many partitions new tasks go to, or will go to once the change of the number has ended."
          },
          "changing": {
            "type": "boolean",
            "description": "Whether slots are changing hands. Then a change has stopped on the way, and the next sweep completes it."
          },
          "partitions": {
            "type": "array",
            "items": {
              "type": "object",
              "properties": {
                "partition": {
                  "type": "integer",
                  "minimum": 0,
                  "description": "Its number, from 0."
                },
                "slots": {
                  "type": "integer",
                  "minimum": 0,
                  "description": "How many of the 256 slots it owns, which is its part of the new tasks; 0 if it takes none, or none yet."
                },
                "pending": {
                  "type": "integer",
                  "minimum": 0
                },
                "delayed": {
                  "type": "integer",
                  "minimum": 0
                },
                "blocked": {
                  "type": "integer",
                  "minimum": 0
                },
                "working": {
                  "type": "integer",
                  "minimum": 0
                },
                "rejected": {
                  "type": "integer",
                  "minimum": 0,
                  "description": "Dead letters."
                }
              },
              "required": [
                "partition",
                "slots",
                "pending",
                "delayed",
                "blocked",
                "working",
                "rejected"
              ]
            },
            "description": "All that may have tasks; partition 0 alone if the queue has no partitions."
          }
        },
        "required": [
          "queue",
          "count",
          "changing",
          "partitions"
        ]
      },
      "Statistics": {
        "type": "object",
        "properties": {
          "queue": {
            "type": "string"
          },
          "on": {
            "type": "boolean",
            "description": "False if the queue keeps no statistics. Then all counts are 0."
          },
          "minutes": {
            "type": "array",
            "items": {
              "type": "object",
              "properties": {
                "startsAt": {
                  "type": "integer",
                  "minimum": 0,
                  "description": "When the minute began, epoch ms."
                },
                "enqueued": {
                  "type": "integer",
                  "minimum": 0
                },
                "dequeued": {
                  "type": "integer",
                  "minimum": 0
                },
                "completed": {
                  "type": "integer",
                  "minimum": 0
                },
                "requeued": {
                  "type": "integer",
                  "minimum": 0
                },
                "rejected": {
                  "type": "integer",
                  "minimum": 0
                },
                "cancelled": {
                  "type": "integer",
                  "minimum": 0
                },
                "cancelRequested": {
                  "type": "integer",
                  "minimum": 0
                },
                "reclaimed": {
                  "type": "integer",
                  "minimum": 0
                },
                "redriven": {
                  "type": "integer",
                  "minimum": 0
                },
                "released": {
                  "type": "integer",
                  "minimum": 0
                },
                "deleted": {
                  "type": "integer",
                  "minimum": 0
                },
                "attempts": {
                  "type": "integer",
                  "minimum": 0,
                  "description": "Attempts of the tasks that were completed or became dead letters."
                },
                "waits": {
                  "type": "object",
                  "properties": {
                    "count": {
                      "type": "integer",
                      "minimum": 0
                    },
                    "total": {
                      "type": "integer",
                      "minimum": 0,
                      "description": "Their sum, ms."
                    },
                    "classes": {
                      "type": "array",
                      "items": {
                        "type": "integer",
                        "minimum": 0
                      },
                      "description": "How many were in each class. A class has an upper bound that belongs to it: 10, 30, 100, 300, 1000, 3000, 10000, 30000, 100000, 300000, 1000000, 3000000 ms. The last class has none."
                    }
                  },
                  "required": [
                    "count",
                    "total",
                    "classes"
                  ],
                  "description": "Times from the enqueue of a task to its first pull. A delay is a part of it."
                },
                "runs": {
                  "type": "object",
                  "properties": {
                    "count": {
                      "type": "integer",
                      "minimum": 0
                    },
                    "total": {
                      "type": "integer",
                      "minimum": 0,
                      "description": "Their sum, ms."
                    },
                    "classes": {
                      "type": "array",
                      "items": {
                        "type": "integer",
                        "minimum": 0
                      },
                      "description": "How many were in each class. A class has an upper bound that belongs to it: 10, 30, 100, 300, 1000, 3000, 10000, 30000, 100000, 300000, 1000000, 3000000 ms. The last class has none."
                    }
                  },
                  "required": [
                    "count",
                    "total",
                    "classes"
                  ],
                  "description": "Times from a pull to its settle."
                },
                "takenBack": {
                  "type": "integer",
                  "minimum": 0,
                  "description": "Of the reclaimed tasks, those that an operator took back from their worker."
                },
                "calls": {
                  "type": "object",
                  "properties": {
                    "enqueue": {
                      "type": "integer",
                      "minimum": 0
                    },
                    "dequeue": {
                      "type": "integer",
                      "minimum": 0
                    },
                    "settle": {
                      "type": "integer",
                      "minimum": 0
                    },
                    "other": {
                      "type": "integer",
                      "minimum": 0
                    }
                  },
                  "required": [
                    "enqueue",
                    "dequeue",
                    "settle",
                    "other"
                  ],
                  "description": "Calls that caused an event. Calls that found no task are not counted."
                }
              },
              "required": [
                "startsAt",
                "enqueued",
                "dequeued",
                "completed",
                "requeued",
                "rejected",
                "cancelled",
                "cancelRequested",
                "reclaimed",
                "redriven",
                "released",
                "deleted",
                "attempts",
                "waits",
                "runs",
                "takenBack",
                "calls"
              ]
            },
            "description": "The last 60 minutes, the oldest first. The last one is the current minute."
          },
          "perMinute": {
            "type": "object",
            "properties": {
              "enqueued": {
                "type": "number",
                "minimum": 0
              },
              "dequeued": {
                "type": "number",
                "minimum": 0
              },
              "completed": {
                "type": "number",
                "minimum": 0
              },
              "requeued": {
                "type": "number",
                "minimum": 0
              },
              "rejected": {
                "type": "number",
                "minimum": 0
              },
              "cancelled": {
                "type": "number",
                "minimum": 0
              },
              "cancelRequested": {
                "type": "number",
                "minimum": 0
              },
              "reclaimed": {
                "type": "number",
                "minimum": 0
              },
              "redriven": {
                "type": "number",
                "minimum": 0
              },
              "released": {
                "type": "number",
                "minimum": 0
              },
              "deleted": {
                "type": "number",
                "minimum": 0
              }
            },
            "required": [
              "enqueued",
              "dequeued",
              "completed",
              "requeued",
              "rejected",
              "cancelled",
              "cancelRequested",
              "reclaimed",
              "redriven",
              "released",
              "deleted"
            ],
            "description": "Tasks per minute, the mean of the last five complete minutes."
          },
          "history": {
            "type": "object",
            "properties": {
              "startsAt": {
                "type": "integer",
                "minimum": 0,
                "description": "When the first five minutes began, epoch ms."
              },
              "every": {
                "type": "integer",
                "minimum": 0,
                "description": "Five minutes, in ms."
              },
              "series": {
                "type": "object",
                "properties": {
                  "enqueued": {
                    "type": "array",
                    "items": {
                      "type": "integer",
                      "minimum": 0
                    }
                  },
                  "dequeued": {
                    "type": "array",
                    "items": {
                      "type": "integer",
                      "minimum": 0
                    }
                  },
                  "completed": {
                    "type": "array",
                    "items": {
                      "type": "integer",
                      "minimum": 0
                    }
                  },
                  "failed": {
                    "type": "array",
                    "items": {
                      "type": "integer",
                      "minimum": 0
                    }
                  }
                },
                "required": [
                  "enqueued",
                  "dequeued",
                  "completed",
                  "failed"
                ],
                "description": "Tasks in each; `failed` are attempts."
              },
              "waitP95": {
                "type": "array",
                "items": {
                  "anyOf": [
                    {
                      "type": "integer",
                      "minimum": 0
                    },
                    {
                      "type": "null"
                    }
                  ]
                },
                "description": "Within which time, ms, 95 of 100 tasks were pulled that were first pulled in them: the bound of a class, 1 more than the last bound if it is above it. null if none was."
              },
              "runP95": {
                "type": "array",
                "items": {
                  "anyOf": [
                    {
                      "type": "integer",
                      "minimum": 0
                    },
                    {
                      "type": "null"
                    }
                  ]
                },
                "description": "Within which time, ms, 95 of 100 attempts were settled, likewise."
              }
            },
            "required": [
              "startsAt",
              "every",
              "series",
              "waitP95",
              "runP95"
            ],
            "description": "With `history=true`: the last 24 hours by five minutes, 288 numbers in each list, the oldest first."
          },
          "totals": {
            "type": "object",
            "properties": {
              "since": {
                "anyOf": [
                  {
                    "type": "integer",
                    "minimum": 0
                  },
                  {
                    "type": "null"
                  }
                ],
                "description": "When the first minute began, epoch ms; null if nothing was counted."
              },
              "enqueued": {
                "type": "integer",
                "minimum": 0
              },
              "dequeued": {
                "type": "integer",
                "minimum": 0
              },
              "completed": {
                "type": "integer",
                "minimum": 0
              },
              "requeued": {
                "type": "integer",
                "minimum": 0
              },
              "rejected": {
                "type": "integer",
                "minimum": 0
              },
              "cancelled": {
                "type": "integer",
                "minimum": 0
              },
              "cancelRequested": {
                "type": "integer",
                "minimum": 0
              },
              "reclaimed": {
                "type": "integer",
                "minimum": 0
              },
              "redriven": {
                "type": "integer",
                "minimum": 0
              },
              "released": {
                "type": "integer",
                "minimum": 0
              },
              "deleted": {
                "type": "integer",
                "minimum": 0
              },
              "attempts": {
                "type": "integer",
                "minimum": 0,
                "description": "Attempts of the tasks that were completed or became dead letters."
              },
              "waits": {
                "type": "object",
                "properties": {
                  "count": {
                    "type": "integer",
                    "minimum": 0
                  },
                  "total": {
                    "type": "integer",
                    "minimum": 0,
                    "description": "Their sum, ms."
                  },
                  "classes": {
                    "type": "array",
                    "items": {
                      "type": "integer",
                      "minimum": 0
                    },
                    "description": "How many were in each class. A class has an upper bound that belongs to it: 10, 30, 100, 300, 1000, 3000, 10000, 30000, 100000, 300000, 1000000, 3000000 ms. The last class has none."
                  }
                },
                "required": [
                  "count",
                  "total",
                  "classes"
                ],
                "description": "Times from the enqueue of a task to its first pull. A delay is a part of it."
              },
              "runs": {
                "type": "object",
                "properties": {
                  "count": {
                    "type": "integer",
                    "minimum": 0
                  },
                  "total": {
                    "type": "integer",
                    "minimum": 0,
                    "description": "Their sum, ms."
                  },
                  "classes": {
                    "type": "array",
                    "items": {
                      "type": "integer",
                      "minimum": 0
                    },
                    "description": "How many were in each class. A class has an upper bound that belongs to it: 10, 30, 100, 300, 1000, 3000, 10000, 30000, 100000, 300000, 1000000, 3000000 ms. The last class has none."
                  }
                },
                "required": [
                  "count",
                  "total",
                  "classes"
                ],
                "description": "Times from a pull to its settle."
              },
              "takenBack": {
                "type": "integer",
                "minimum": 0,
                "description": "Of the reclaimed tasks, those that an operator took back from their worker."
              },
              "calls": {
                "type": "object",
                "properties": {
                  "enqueue": {
                    "type": "integer",
                    "minimum": 0
                  },
                  "dequeue": {
                    "type": "integer",
                    "minimum": 0
                  },
                  "settle": {
                    "type": "integer",
                    "minimum": 0
                  },
                  "other": {
                    "type": "integer",
                    "minimum": 0
                  }
                },
                "required": [
                  "enqueue",
                  "dequeue",
                  "settle",
                  "other"
                ],
                "description": "Calls that caused an event. Calls that found no task are not counted."
              }
            },
            "required": [
              "since",
              "enqueued",
              "dequeued",
              "completed",
              "requeued",
              "rejected",
              "cancelled",
              "cancelRequested",
              "reclaimed",
              "redriven",
              "released",
              "deleted",
              "attempts",
              "waits",
              "runs",
              "takenBack",
              "calls"
            ],
            "description": "All since the setting `statistics` was switched on."
          }
        },
        "required": [
          "queue",
          "on",
          "minutes",
          "perMinute",
          "totals"
        ]
      },
      "Workers": {
        "type": "object",
        "properties": {
          "workers": {
            "type": "array",
            "items": {
              "type": "object",
              "properties": {
                "name": {
                  "$ref": "#/components/schemas/Name"
                },
                "incarnation": {
                  "$ref": "#/components/schemas/Name"
                },
                "node": {
                  "type": "string"
                },
                "pid": {
                  "type": "integer",
                  "minimum": 0
                },
                "silentAfter": {
                  "type": "integer",
                  "minimum": 0,
                  "description": "As the worker sent it, ms; absent if no sweep fails the worker for its silence."
                },
                "goneAfter": {
                  "type": "integer",
                  "minimum": 0,
                  "description": "As the worker sent it, ms."
                },
                "state": {
                  "enum": [
                    "working",
                    "idle",
                    "gone"
                  ],
                  "type": "string",
                  "description": "gone: without a sign of life for longer than it said, or failed; else working or idle. Absent if it said neither silentAfter nor goneAfter."
                },
                "seenAt": {
                  "anyOf": [
                    {
                      "type": "integer",
                      "minimum": 0
                    },
                    {
                      "type": "null"
                    }
                  ],
                  "description": "Its last pull, heartbeat or extend of one of its first tasks, epoch ms; null if it was failed."
                },
                "failedAt": {
                  "type": "integer",
                  "minimum": 0,
                  "description": "When its tasks were taken from it, epoch ms; absent if it has pulled since. A process that hangs does not come back by itself: restart it."
                },
                "silentAt": {
                  "type": "integer",
                  "minimum": 0,
                  "description": "When it is failed, or leaves the list, unless it pulls or sends a heartbeat before, epoch ms."
                },
                "working": {
                  "type": "integer",
                  "minimum": 0,
                  "description": "Number of its tasks."
                },
                "tasks": {
                  "type": "array",
                  "items": {
                    "$ref": "#/components/schemas/TaskId"
                  },
                  "description": "Ids of its tasks, at most 100, in the order in which it took them."
                }
              },
              "required": [
                "name",
                "seenAt",
                "silentAt",
                "working",
                "tasks"
              ]
            }
          },
          "now": {
            "type": "integer",
            "minimum": 0,
            "description": "The time of Redis, epoch ms."
          },
          "cursor": {
            "anyOf": [
              {
                "type": "string"
              },
              {
                "type": "null"
              }
            ],
            "description": "The start of the next page; null on the last page."
          }
        },
        "required": [
          "workers",
          "now",
          "cursor"
        ]
      },
      "HeartbeatReply": {
        "type": "object",
        "properties": {
          "leases": {
            "type": "integer",
            "minimum": 0,
            "description": "Number of tasks that the worker has."
          },
          "deadlineAt": {
            "anyOf": [
              {
                "type": "integer",
                "minimum": 0
              },
              {
                "type": "null"
              }
            ],
            "description": "The earliest deadline of their leases, epoch ms; null if it has none."
          },
          "cancelRequested": {
            "type": "array",
            "items": {
              "$ref": "#/components/schemas/TaskId"
            },
            "description": "Ids of tasks that were cancelled while working. Stop their work."
          },
          "lost": {
            "type": "array",
            "items": {
              "$ref": "#/components/schemas/TaskId"
            },
            "description": "If receipts were sent: ids of tasks that are not, or no longer, its own. Stop their work."
          }
        },
        "required": [
          "leases",
          "deadlineAt",
          "cancelRequested"
        ]
      },
      "WorkerFailed": {
        "type": "object",
        "properties": {
          "name": {
            "$ref": "#/components/schemas/Name"
          },
          "returned": {
            "type": "integer",
            "minimum": 0,
            "description": "Tasks that became pending again: at the front of the queue, or at the back of their group if they have a group or a priority."
          },
          "rejected": {
            "type": "integer",
            "minimum": 0,
            "description": "Tasks that had no attempt left, or that were cancelled."
          },
          "more": {
            "type": "boolean",
            "description": "True if the limit was reached. Call again for the rest."
          }
        },
        "required": [
          "name",
          "returned",
          "rejected",
          "more"
        ]
      },
      "WorkerForgotten": {
        "type": "object",
        "properties": {
          "name": {
            "$ref": "#/components/schemas/Name"
          },
          "forgotten": {
            "const": true
          }
        },
        "required": [
          "name",
          "forgotten"
        ]
      },
      "ListedSchedule": {
        "type": "object",
        "properties": {
          "name": {
            "$ref": "#/components/schemas/Name"
          },
          "queue": {
            "type": "string"
          },
          "cron": {
            "type": "string"
          },
          "timeZone": {
            "type": "string"
          },
          "every": {
            "type": "integer",
            "minimum": 0,
            "description": "Milliseconds."
          },
          "from": {
            "type": "integer",
            "minimum": 0,
            "description": "The first occurrence, epoch ms."
          },
          "until": {
            "type": "integer",
            "minimum": 0,
            "description": "The end of the schedule, epoch ms."
          },
          "missed": {
            "enum": [
              "last",
              "all"
            ],
            "type": "string"
          },
          "paused": {
            "type": "boolean"
          },
          "pausedAt": {
            "type": "integer",
            "minimum": 0,
            "description": "Since when it is paused, epoch ms."
          },
          "createdAt": {
            "type": "integer",
            "minimum": 0,
            "description": "When it was created, epoch ms."
          },
          "nextAt": {
            "anyOf": [
              {
                "type": "integer",
                "minimum": 0
              },
              {
                "type": "null"
              }
            ],
            "description": "The next occurrence, epoch ms; null if the schedule is paused or has ended."
          },
          "lastAt": {
            "anyOf": [
              {
                "type": "integer",
                "minimum": 0
              },
              {
                "type": "null"
              }
            ],
            "description": "The last occurrence that was enqueued, epoch ms; null before the first. A `run` is none."
          }
        },
        "required": [
          "name",
          "queue",
          "missed",
          "paused",
          "createdAt",
          "nextAt",
          "lastAt"
        ]
      },
      "SchedulePut": {
        "type": "object",
        "properties": {
          "name": {
            "$ref": "#/components/schemas/Name"
          },
          "queue": {
            "type": "string"
          },
          "cron": {
            "type": "string"
          },
          "timeZone": {
            "type": "string"
          },
          "every": {
            "type": "integer",
            "minimum": 0,
            "description": "Milliseconds."
          },
          "from": {
            "type": "integer",
            "minimum": 0,
            "description": "The first occurrence, epoch ms."
          },
          "until": {
            "type": "integer",
            "minimum": 0,
            "description": "The end of the schedule, epoch ms."
          },
          "missed": {
            "enum": [
              "last",
              "all"
            ],
            "type": "string"
          },
          "paused": {
            "type": "boolean"
          },
          "pausedAt": {
            "type": "integer",
            "minimum": 0,
            "description": "Since when it is paused, epoch ms."
          },
          "createdAt": {
            "type": "integer",
            "minimum": 0,
            "description": "When it was created, epoch ms."
          },
          "nextAt": {
            "anyOf": [
              {
                "type": "integer",
                "minimum": 0
              },
              {
                "type": "null"
              }
            ],
            "description": "The next occurrence, epoch ms; null if the schedule is paused or has ended."
          },
          "lastAt": {
            "anyOf": [
              {
                "type": "integer",
                "minimum": 0
              },
              {
                "type": "null"
              }
            ],
            "description": "The last occurrence that was enqueued, epoch ms; null before the first. A `run` is none."
          },
          "created": {
            "type": "boolean",
            "description": "False if there was a schedule with this name. It was changed."
          }
        },
        "required": [
          "name",
          "queue",
          "missed",
          "paused",
          "createdAt",
          "nextAt",
          "lastAt",
          "created"
        ]
      },
      "Schedule": {
        "type": "object",
        "properties": {
          "name": {
            "$ref": "#/components/schemas/Name"
          },
          "queue": {
            "type": "string"
          },
          "cron": {
            "type": "string"
          },
          "timeZone": {
            "type": "string"
          },
          "every": {
            "type": "integer",
            "minimum": 0,
            "description": "Milliseconds."
          },
          "from": {
            "type": "integer",
            "minimum": 0,
            "description": "The first occurrence, epoch ms."
          },
          "until": {
            "type": "integer",
            "minimum": 0,
            "description": "The end of the schedule, epoch ms."
          },
          "missed": {
            "enum": [
              "last",
              "all"
            ],
            "type": "string"
          },
          "paused": {
            "type": "boolean"
          },
          "pausedAt": {
            "type": "integer",
            "minimum": 0,
            "description": "Since when it is paused, epoch ms."
          },
          "createdAt": {
            "type": "integer",
            "minimum": 0,
            "description": "When it was created, epoch ms."
          },
          "nextAt": {
            "anyOf": [
              {
                "type": "integer",
                "minimum": 0
              },
              {
                "type": "null"
              }
            ],
            "description": "The next occurrence, epoch ms; null if the schedule is paused or has ended."
          },
          "lastAt": {
            "anyOf": [
              {
                "type": "integer",
                "minimum": 0
              },
              {
                "type": "null"
              }
            ],
            "description": "The last occurrence that was enqueued, epoch ms; null before the first. A `run` is none."
          },
          "payload": {
            "description": "Absent only if the token hides payloads."
          },
          "encoding": {
            "const": "base64",
            "description": "The payload is bytes, in base64."
          },
          "lease": {
            "type": "integer",
            "minimum": 0,
            "description": "Milliseconds."
          },
          "maxAttempts": {
            "type": "integer",
            "minimum": 0
          },
          "resultTtl": {
            "type": "integer",
            "minimum": 0,
            "description": "Milliseconds."
          },
          "deadTtl": {
            "type": "integer",
            "minimum": 0,
            "description": "Milliseconds."
          },
          "group": {
            "$ref": "#/components/schemas/Name"
          },
          "priority": {
            "type": "integer",
            "minimum": 0
          },
          "headers": {
            "type": "object",
            "propertyNames": {
              "type": "string"
            },
            "additionalProperties": {
              "type": "string"
            }
          },
          "payloadsHidden": {
            "const": true,
            "description": "The token hides payloads: payload and headers are left out."
          }
        },
        "required": [
          "name",
          "queue",
          "missed",
          "paused",
          "createdAt",
          "nextAt",
          "lastAt"
        ]
      },
      "Schedules": {
        "type": "object",
        "properties": {
          "schedules": {
            "type": "array",
            "items": {
              "$ref": "#/components/schemas/ListedSchedule"
            }
          },
          "cursor": {
            "anyOf": [
              {
                "type": "string"
              },
              {
                "type": "null"
              }
            ],
            "description": "The start of the next page; null on the last page."
          }
        },
        "required": [
          "schedules",
          "cursor"
        ]
      },
      "ScheduleResumed": {
        "type": "object",
        "properties": {
          "name": {
            "$ref": "#/components/schemas/Name"
          },
          "queue": {
            "type": "string"
          },
          "cron": {
            "type": "string"
          },
          "timeZone": {
            "type": "string"
          },
          "every": {
            "type": "integer",
            "minimum": 0,
            "description": "Milliseconds."
          },
          "from": {
            "type": "integer",
            "minimum": 0,
            "description": "The first occurrence, epoch ms."
          },
          "until": {
            "type": "integer",
            "minimum": 0,
            "description": "The end of the schedule, epoch ms."
          },
          "missed": {
            "enum": [
              "last",
              "all"
            ],
            "type": "string"
          },
          "paused": {
            "type": "boolean"
          },
          "pausedAt": {
            "type": "integer",
            "minimum": 0,
            "description": "Since when it is paused, epoch ms."
          },
          "createdAt": {
            "type": "integer",
            "minimum": 0,
            "description": "When it was created, epoch ms."
          },
          "nextAt": {
            "anyOf": [
              {
                "type": "integer",
                "minimum": 0
              },
              {
                "type": "null"
              }
            ],
            "description": "The next occurrence, epoch ms; null if the schedule is paused or has ended."
          },
          "lastAt": {
            "anyOf": [
              {
                "type": "integer",
                "minimum": 0
              },
              {
                "type": "null"
              }
            ],
            "description": "The last occurrence that was enqueued, epoch ms; null before the first. A `run` is none."
          },
          "skipped": {
            "type": "integer",
            "minimum": 0,
            "description": "How many occurrences the pause has skipped, at most 100. They are not made up: `run` enqueues a task now."
          }
        },
        "required": [
          "name",
          "queue",
          "missed",
          "paused",
          "createdAt",
          "nextAt",
          "lastAt",
          "skipped"
        ]
      },
      "ScheduleRemoved": {
        "type": "object",
        "properties": {
          "name": {
            "$ref": "#/components/schemas/Name"
          },
          "removed": {
            "const": true
          }
        },
        "required": [
          "name",
          "removed"
        ]
      },
      "Swept": {
        "type": "object",
        "properties": {
          "queues": {
            "type": "integer",
            "minimum": 0,
            "description": "Queues that were swept."
          },
          "promoted": {
            "type": "integer",
            "minimum": 0,
            "description": "Delayed tasks that became pending."
          },
          "reclaimed": {
            "type": "integer",
            "minimum": 0,
            "description": "Expired leases whose task became pending again."
          },
          "rejected": {
            "type": "integer",
            "minimum": 0,
            "description": "Expired leases whose task had no attempt left and was rejected."
          },
          "expired": {
            "type": "integer",
            "minimum": 0,
            "description": "Expired records that were deleted."
          },
          "more": {
            "type": "boolean",
            "description": "True if the budget ended before the work did. Call again."
          },
          "scheduled": {
            "type": "integer",
            "minimum": 0,
            "description": "Occurrences of schedules that were enqueued."
          },
          "woken": {
            "type": "integer",
            "minimum": 0,
            "description": "Queues whose consumer was woken."
          },
          "failed": {
            "type": "array",
            "items": {
              "type": "object",
              "properties": {
                "queue": {
                  "type": "string"
                },
                "code": {
                  "type": "string"
                }
              },
              "required": [
                "queue",
                "code"
              ]
            },
            "description": "Queues whose sweep failed, and why. The others were swept."
          },
          "objects": {
            "type": "object",
            "properties": {
              "checked": {
                "type": "integer",
                "minimum": 0,
                "description": "Objects that were looked at: about a thousand in each sweep."
              },
              "removed": {
                "type": "integer",
                "minimum": 0,
                "description": "Objects that were removed, because no task needs them."
              },
              "error": {
                "type": "string",
                "description": "Why the store could not be checked."
              }
            },
            "required": [
              "checked",
              "removed"
            ],
            "description": "What was done in the object store of large payloads, if the server has one."
          }
        },
        "required": [
          "queues",
          "promoted",
          "reclaimed",
          "rejected",
          "expired",
          "more",
          "scheduled",
          "woken",
          "failed"
        ]
      },
      "DeepSwept": {
        "type": "object",
        "properties": {
          "queues": {
            "type": "integer",
            "minimum": 0,
            "description": "Queues that were scanned completely."
          },
          "entries": {
            "type": "integer",
            "minimum": 0,
            "description": "Entries that were scanned. A task is scanned in each key that contains it."
          },
          "faults": {
            "type": "array",
            "items": {
              "type": "object",
              "properties": {
                "queue": {
                  "type": "string"
                },
                "partition": {
                  "type": "integer",
                  "minimum": 0,
                  "description": "The partition of the queue; absent for partition 0, and for a queue without partitions."
                },
                "fault": {
                  "enum": [
                    "payload_missing",
                    "place_missing",
                    "two_places",
                    "wrong_place",
                    "lease_missing",
                    "expiry_missing",
                    "record_missing",
                    "record_broken",
                    "record_incomplete",
                    "record_newer",
                    "time_broken",
                    "ghosts_wrong",
                    "group_wrong",
                    "timer_wrong",
                    "worker_lease_wrong",
                    "turn_wrong",
                    "worker_wrong",
                    "schedule_broken",
                    "edge_open",
                    "flow_broken",
                    "control_broken"
                  ],
                  "type": "string"
                },
                "count": {
                  "type": "integer",
                  "minimum": 0
                },
                "ids": {
                  "type": "array",
                  "items": {
                    "type": "string"
                  },
                  "description": "Examples: ids of tasks, or names of groups, workers and control fields."
                }
              },
              "required": [
                "queue",
                "fault",
                "count",
                "ids"
              ]
            },
            "description": "What was found and repaired; empty if everything is valid. `record_newer` is not repaired."
          },
          "failed": {
            "type": "array",
            "items": {
              "type": "object",
              "properties": {
                "queue": {
                  "type": "string"
                },
                "partition": {
                  "type": "integer",
                  "minimum": 0,
                  "description": "The partition of the queue; absent for partition 0, and for a queue without partitions."
                },
                "code": {
                  "type": "string"
                }
              },
              "required": [
                "queue",
                "code"
              ]
            },
            "description": "Queues that could not be scanned completely, and why."
          },
          "cursor": {
            "anyOf": [
              {
                "type": "string"
              },
              {
                "type": "null"
              }
            ],
            "description": "Where to continue; null if everything was scanned."
          }
        },
        "required": [
          "queues",
          "entries",
          "faults",
          "failed",
          "cursor"
        ]
      },
      "Health": {
        "type": "object",
        "properties": {
          "status": {
            "const": "ok"
          }
        },
        "required": [
          "status"
        ]
      },
      "Problem": {
        "type": "object",
        "properties": {
          "type": {
            "type": "string"
          },
          "title": {
            "type": "string"
          },
          "status": {
            "type": "integer",
            "minimum": 0
          },
          "code": {
            "type": "string",
            "description": "The stable code that programs should use."
          },
          "detail": {
            "type": "string"
          },
          "errors": {
            "type": "array",
            "items": {
              "type": "object",
              "properties": {
                "path": {
                  "type": "string",
                  "description": "Such as `tasks[3].delay`."
                },
                "message": {
                  "type": "string"
                }
              },
              "required": [
                "path",
                "message"
              ]
            }
          },
          "instance": {
            "type": "string",
            "description": "Identifies this occurrence in the server's log."
          },
          "published": {
            "type": "array",
            "items": {
              "type": "object",
              "properties": {
                "id": {
                  "type": "string",
                  "pattern": "^[A-Za-z0-9][!-~]{0,127}$",
                  "description": "The id of the message, and of its copy in each queue."
                },
                "copies": {
                  "type": "array",
                  "items": {
                    "type": "object",
                    "properties": {
                      "queue": {
                        "type": "string"
                      },
                      "created": {
                        "type": "boolean",
                        "description": "False if the queue had it already. Then nothing was added."
                      }
                    },
                    "required": [
                      "queue",
                      "created"
                    ]
                  },
                  "description": "The queues that have a copy, as a task with the id of the message."
                },
                "failed": {
                  "type": "array",
                  "items": {
                    "type": "object",
                    "properties": {
                      "queue": {
                        "type": "string"
                      },
                      "code": {
                        "type": "string"
                      }
                    },
                    "required": [
                      "queue",
                      "code"
                    ]
                  },
                  "description": "The queues that have no copy, and the code of why."
                }
              },
              "required": [
                "id",
                "copies",
                "failed"
              ]
            },
            "description": "Of a publish: what became of each message."
          }
        },
        "required": [
          "type",
          "title",
          "status",
          "code",
          "detail"
        ]
      }
    },
    "examples": {
      "invalid_request": {
        "summary": "Invalid request",
        "value": {
          "type": "/docs#invalid_request",
          "title": "Invalid request",
          "status": 400,
          "code": "invalid_request",
          "detail": "A field, parameter or header is missing, unknown or out of bounds. `errors` lists each of them: where it is and what is allowed."
        }
      },
      "invalid_json": {
        "summary": "Invalid JSON",
        "value": {
          "type": "/docs#invalid_json",
          "title": "Invalid JSON",
          "status": 400,
          "code": "invalid_json",
          "detail": "The body is not JSON in UTF-8, or it is nested more than 1,000 levels deep."
        }
      },
      "unauthorized": {
        "summary": "Unauthorized",
        "value": {
          "type": "/docs#unauthorized",
          "title": "Unauthorized",
          "status": 401,
          "code": "unauthorized",
          "detail": "The request has no bearer token, or one that this server does not know."
        }
      },
      "forbidden": {
        "summary": "Forbidden",
        "value": {
          "type": "/docs#forbidden",
          "title": "Forbidden",
          "status": 403,
          "code": "forbidden",
          "detail": "The token does not have the scope that the route needs, or is not valid for this queue. Or it hides payloads, and the response would show them."
        }
      },
      "foreign_origin": {
        "summary": "Request of another origin",
        "value": {
          "type": "/docs#foreign_origin",
          "title": "Request of another origin",
          "status": 403,
          "code": "foreign_origin",
          "detail": "The dashboard answers only requests of its own page. Their `Origin` has the host of this server, and their `Sec-Fetch-Site` is `same-origin`."
        }
      },
      "not_found": {
        "summary": "Not found",
        "value": {
          "type": "/docs#not_found",
          "title": "Not found",
          "status": 404,
          "code": "not_found",
          "detail": "There is no task or flow with this id, or no schedule with this name. A task is also not found after its record has expired."
        }
      },
      "no_route": {
        "summary": "No such route",
        "value": {
          "type": "/docs#no_route",
          "title": "No such route",
          "status": 404,
          "code": "no_route",
          "detail": "This path does not exist. `/docs` lists all routes."
        }
      },
      "method_not_allowed": {
        "summary": "Method not allowed",
        "value": {
          "type": "/docs#method_not_allowed",
          "title": "Method not allowed",
          "status": 405,
          "code": "method_not_allowed",
          "detail": "The route does not support this method. The `Allow` header lists those that it supports."
        }
      },
      "body_too_slow": {
        "summary": "Body too slow",
        "value": {
          "type": "/docs#body_too_slow",
          "title": "Body too slow",
          "status": 408,
          "code": "body_too_slow",
          "detail": "The body did not arrive completely within the time that `detail` names. Nothing was done. Send the request again."
        }
      },
      "already_ended": {
        "summary": "Task has already ended",
        "value": {
          "type": "/docs#already_ended",
          "title": "Task has already ended",
          "status": 409,
          "code": "already_ended",
          "detail": "A completed or rejected task cannot be cancelled."
        }
      },
      "alive": {
        "summary": "Task has not ended",
        "value": {
          "type": "/docs#alive",
          "title": "Task has not ended",
          "status": 409,
          "code": "alive",
          "detail": "A pending, delayed or working task cannot be deleted. Cancel it first."
        }
      },
      "not_dead_letter": {
        "summary": "Not a dead letter",
        "value": {
          "type": "/docs#not_dead_letter",
          "title": "Not a dead letter",
          "status": 409,
          "code": "not_dead_letter",
          "detail": "Only a dead letter can be skipped."
        }
      },
      "not_blocked": {
        "summary": "Task is not blocked",
        "value": {
          "type": "/docs#not_blocked",
          "title": "Task is not blocked",
          "status": 409,
          "code": "not_blocked",
          "detail": "What should wait for the new tasks was rejected or cancelled. Nothing was added."
        }
      },
      "still_working": {
        "summary": "Tasks are working",
        "value": {
          "type": "/docs#still_working",
          "title": "Tasks are working",
          "status": 409,
          "code": "still_working",
          "detail": "The queue or the worker has tasks that are working, or the queue has tasks of flows that have not ended. Pause the queue and wait, cancel the flows, or delete it with `force=true`; of a dead worker, take the tasks back."
        }
      },
      "idempotency_key_reused": {
        "summary": "Idempotency-Key was used for other tasks",
        "value": {
          "type": "/docs#idempotency_key_reused",
          "title": "Idempotency-Key was used for other tasks",
          "status": 409,
          "code": "idempotency_key_reused",
          "detail": "An earlier enqueue with this Idempotency-Key had other tasks. Nothing was written. Use a new key for new tasks."
        }
      },
      "lease_lost": {
        "summary": "Lease lost",
        "value": {
          "type": "/docs#lease_lost",
          "title": "Lease lost",
          "status": 409,
          "code": "lease_lost",
          "detail": "The task is not under the expected lease. Nothing was changed. In a settle this is the `code` of one result."
        }
      },
      "worker_lost": {
        "summary": "Worker was failed",
        "value": {
          "type": "/docs#worker_lost",
          "title": "Worker was failed",
          "status": 409,
          "code": "worker_lost",
          "detail": "The worker's tasks were taken back and may be with other workers. Nothing was changed. Stop all work on them. The next pull, or a heartbeat with a new incarnation, registers the worker again."
        }
      },
      "payload_too_large": {
        "summary": "Too large",
        "value": {
          "type": "/docs#payload_too_large",
          "title": "Too large",
          "status": 413,
          "code": "payload_too_large",
          "detail": "The body, a payload or a result is larger than the limit that `detail` names."
        }
      },
      "unsupported_media_type": {
        "summary": "Unsupported media type",
        "value": {
          "type": "/docs#unsupported_media_type",
          "title": "Unsupported media type",
          "status": 415,
          "code": "unsupported_media_type",
          "detail": "A body must be `Content-Type: application/json`, in UTF-8, without a Content-Encoding."
        }
      },
      "queue_full": {
        "summary": "Queue is full",
        "value": {
          "type": "/docs#queue_full",
          "title": "Queue is full",
          "status": 429,
          "code": "queue_full",
          "detail": "The queue has as many pending tasks as its `maxPending` allows, or Redis is full, or the queue has reached the size that Redis allows. Nothing was written. Enqueue again later."
        }
      },
      "internal": {
        "summary": "Internal error",
        "value": {
          "type": "/docs#internal",
          "title": "Internal error",
          "status": 500,
          "code": "internal",
          "detail": "The server failed. Its log has the details under the same `instance`."
        }
      },
      "unsupported": {
        "summary": "Not supported here",
        "value": {
          "type": "/docs#unsupported",
          "title": "Not supported here",
          "status": 501,
          "code": "unsupported",
          "detail": "The server has no events, because its connection to Redis cannot subscribe to a channel; or no deep sweep, schedules, strict order, flows or debounce, because its option is off. `detail` says which."
        }
      },
      "redis_unauthorized": {
        "summary": "Redis refused the credentials",
        "value": {
          "type": "/docs#redis_unauthorized",
          "title": "Redis refused the credentials",
          "status": 502,
          "code": "redis_unauthorized",
          "detail": "Redis refused the server's credentials, or they do not allow the command."
        }
      },
      "redis_error": {
        "summary": "Redis returned an error",
        "value": {
          "type": "/docs#redis_error",
          "title": "Redis returned an error",
          "status": 502,
          "code": "redis_error",
          "detail": "Redis refused a command for a reason without a code of its own. The server's log has the details."
        }
      },
      "unexpected_reply": {
        "summary": "Unexpected reply from Redis",
        "value": {
          "type": "/docs#unexpected_reply",
          "title": "Unexpected reply from Redis",
          "status": 502,
          "code": "unexpected_reply",
          "detail": "Redis, or a server in front of it, sent something that is not a reply to the command."
        }
      },
      "offload_failed": {
        "summary": "Object store failed",
        "value": {
          "type": "/docs#offload_failed",
          "title": "Object store failed",
          "status": 502,
          "code": "offload_failed",
          "detail": "A payload could not be written to the server's object store or read from it, or the server has none. An enqueue has written no task. The server's log has the details."
        }
      },
      "redis_quota": {
        "summary": "Redis quota is used up",
        "value": {
          "type": "/docs#redis_quota",
          "title": "Redis quota is used up",
          "status": 503,
          "code": "redis_quota",
          "detail": "The Redis account has used up its quota of requests."
        }
      },
      "redis_not_writable": {
        "summary": "Redis takes no writes",
        "value": {
          "type": "/docs#redis_not_writable",
          "title": "Redis takes no writes",
          "status": 503,
          "code": "redis_not_writable",
          "detail": "Redis answered, but took no writes until the time was up: it is a read-only replica, is loading, or has too few replicas. Send the request again with the same Idempotency-Key."
        }
      },
      "newer_schema": {
        "summary": "Record of a newer release",
        "value": {
          "type": "/docs#newer_schema",
          "title": "Record of a newer release",
          "status": 503,
          "code": "newer_schema",
          "detail": "A newer release of Sluice wrote this record: deploy that release here too. Or the queue has a strict order or flows: give the server the option `order` or `flows`. Nothing was changed."
        }
      },
      "auth_not_configured": {
        "summary": "No token is configured",
        "value": {
          "type": "/docs#auth_not_configured",
          "title": "No token is configured",
          "status": 503,
          "code": "auth_not_configured",
          "detail": "The server has no SLUICE_TOKENS. The route accepts no request until they are set."
        }
      },
      "unhealthy": {
        "summary": "Queues are not healthy",
        "value": {
          "type": "/docs#unhealthy",
          "title": "Queues are not healthy",
          "status": 503,
          "code": "unhealthy",
          "detail": "The health of the queues is as bad as the parameter `fail` names, or worse. `detail` has up to ten findings; without `fail`, the response has all of them."
        }
      },
      "misconfigured": {
        "summary": "Invalid configuration",
        "value": {
          "type": "/docs#misconfigured",
          "title": "Invalid configuration",
          "status": 503,
          "code": "misconfigured",
          "detail": "The server's environment is incomplete or invalid. `detail` names the variable."
        }
      },
      "redis_unreachable": {
        "summary": "Redis did not answer",
        "value": {
          "type": "/docs#redis_unreachable",
          "title": "Redis did not answer",
          "status": 504,
          "code": "redis_unreachable",
          "detail": "Redis could not be reached in time. The request may or may not have taken effect. Send it again with the same Idempotency-Key."
        }
      }
    },
    "parameters": {
      "queue": {
        "name": "queue",
        "in": "path",
        "required": true,
        "description": "Name of the queue.",
        "schema": {
          "$ref": "#/components/schemas/QueueName"
        },
        "example": "emails"
      },
      "id": {
        "name": "id",
        "in": "path",
        "required": true,
        "description": "Id of the task, percent-encoded.",
        "schema": {
          "$ref": "#/components/schemas/TaskId"
        },
        "example": "welcome-17"
      },
      "flow": {
        "name": "flow",
        "in": "path",
        "required": true,
        "description": "Id of the flow, percent-encoded.",
        "schema": {
          "type": "string"
        },
        "example": "nightly@imports"
      },
      "topic": {
        "name": "topic",
        "in": "path",
        "required": true,
        "description": "Name of the topic.",
        "schema": {
          "$ref": "#/components/schemas/TopicName"
        },
        "example": "orders"
      },
      "pattern": {
        "name": "pattern",
        "in": "path",
        "required": true,
        "description": "Name of the topic, or a pattern of topics, percent-encoded.",
        "schema": {
          "$ref": "#/components/schemas/TopicPattern"
        },
        "example": "orders.*"
      },
      "group": {
        "name": "group",
        "in": "path",
        "required": true,
        "description": "Name of the group, percent-encoded.",
        "schema": {
          "$ref": "#/components/schemas/Name"
        },
        "example": "tenant-7"
      },
      "name": {
        "name": "name",
        "in": "path",
        "required": true,
        "description": "Name of the worker, percent-encoded.",
        "schema": {
          "$ref": "#/components/schemas/Name"
        },
        "example": "mailer-1"
      },
      "key": {
        "name": "key",
        "in": "path",
        "required": true,
        "description": "The key, percent-encoded.",
        "schema": {
          "$ref": "#/components/schemas/Name"
        },
        "example": "page-7"
      },
      "endpoint": {
        "name": "endpoint",
        "in": "path",
        "required": true,
        "description": "Id of the endpoint.",
        "schema": {
          "type": "string",
          "pattern": "^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$"
        },
        "example": "acme"
      },
      "schedule": {
        "name": "schedule",
        "in": "path",
        "required": true,
        "description": "Name of the schedule, percent-encoded; at most 100 characters.",
        "schema": {
          "$ref": "#/components/schemas/Name"
        },
        "example": "nightly"
      },
      "Last-Event-ID": {
        "name": "Last-Event-ID",
        "in": "header",
        "required": false,
        "description": "For a stream: the last `id` of an earlier stream, a number. The stream continues after it. Browsers send it by themselves. Any other value is ignored.",
        "schema": {
          "type": "string"
        }
      },
      "traceparent": {
        "name": "traceparent",
        "in": "header",
        "required": false,
        "description": "The trace that the tasks continue, as W3C Trace Context specifies; `tracestate` and `baggage` may accompany it. Without tracing in the deployment, these headers are ignored. An invalid one is ignored too.",
        "schema": {
          "type": "string",
          "pattern": "^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$"
        },
        "example": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
      },
      "Idempotency-Key": {
        "name": "Idempotency-Key",
        "in": "header",
        "required": false,
        "description": "A key of your own: 1 to 255 visible ASCII characters, a new one for each new request. An enqueue is remembered as long as its tasks are known. The same key with other tasks is refused with `idempotency_key_reused`. A pull with a used key gets the same tasks again, without those whose lease has ended; if the first pull found nothing, it stays empty. For each queue, the last 16 requests that pause, resume, configure or delete it, or change its schedules, are remembered for five minutes: a second request with the same key changes nothing, whatever its body. Settlements are identified by their receipts; the key only keeps a late copy from replacing newer progress. Other requests ignore the key: a copy of a sweep, redrive or purge continues where the first stopped.",
        "schema": {
          "type": "string",
          "pattern": "^[!-~]{1,255}$"
        }
      }
    },
    "headers": {
      "Location": {
        "description": "The URL of the task, if the request has one, or of the flow.",
        "schema": {
          "type": "string"
        }
      },
      "WWW-Authenticate": {
        "description": "The scheme `Bearer`. If the request had a token, also why it was refused.",
        "schema": {
          "type": "string"
        }
      }
    },
    "responses": {
      "invalid_request-or-invalid_json": {
        "description": "`invalid_request`: A field, parameter or header is missing, unknown or out of bounds. `errors` lists each of them: where it is and what is allowed.\n\n`invalid_json`: The body is not JSON in UTF-8, or it is nested more than 1,000 levels deep.",
        "content": {
          "application/problem+json": {
            "schema": {
              "$ref": "#/components/schemas/Problem"
            },
            "examples": {
              "invalid_request": {
                "$ref": "#/components/examples/invalid_request"
              },
              "invalid_json": {
                "$ref": "#/components/examples/invalid_json"
              }
            }
          }
        }
      },
      "unauthorized": {
        "description": "`unauthorized`: The request has no bearer token, or one that this server does not know.",
        "headers": {
          "WWW-Authenticate": {
            "$ref": "#/components/headers/WWW-Authenticate"
          }
        },
        "content": {
          "application/problem+json": {
            "schema": {
              "$ref": "#/components/schemas/Problem"
            },
            "examples": {
              "unauthorized": {
                "$ref": "#/components/examples/unauthorized"
              }
            }
          }
        }
      },
      "forbidden": {
        "description": "`forbidden`: The token does not have the scope that the route needs, or is not valid for this queue. Or it hides payloads, and the response would show them.",
        "content": {
          "application/problem+json": {
            "schema": {
              "$ref": "#/components/schemas/Problem"
            },
            "examples": {
              "forbidden": {
                "$ref": "#/components/examples/forbidden"
              }
            }
          }
        }
      },
      "body_too_slow": {
        "description": "`body_too_slow`: The body did not arrive completely within the time that `detail` names. Nothing was done. Send the request again.",
        "content": {
          "application/problem+json": {
            "schema": {
              "$ref": "#/components/schemas/Problem"
            },
            "examples": {
              "body_too_slow": {
                "$ref": "#/components/examples/body_too_slow"
              }
            }
          }
        }
      },
      "idempotency_key_reused": {
        "description": "`idempotency_key_reused`: An earlier enqueue with this Idempotency-Key had other tasks. Nothing was written. Use a new key for new tasks.",
        "content": {
          "application/problem+json": {
            "schema": {
              "$ref": "#/components/schemas/Problem"
            },
            "examples": {
              "idempotency_key_reused": {
                "$ref": "#/components/examples/idempotency_key_reused"
              }
            }
          }
        }
      },
      "payload_too_large": {
        "description": "`payload_too_large`: The body, a payload or a result is larger than the limit that `detail` names.",
        "content": {
          "application/problem+json": {
            "schema": {
              "$ref": "#/components/schemas/Problem"
            },
            "examples": {
              "payload_too_large": {
                "$ref": "#/components/examples/payload_too_large"
              }
            }
          }
        }
      },
      "unsupported_media_type": {
        "description": "`unsupported_media_type`: A body must be `Content-Type: application/json`, in UTF-8, without a Content-Encoding.",
        "content": {
          "application/problem+json": {
            "schema": {
              "$ref": "#/components/schemas/Problem"
            },
            "examples": {
              "unsupported_media_type": {
                "$ref": "#/components/examples/unsupported_media_type"
              }
            }
          }
        }
      },
      "queue_full": {
        "description": "`queue_full`: The queue has as many pending tasks as its `maxPending` allows, or Redis is full, or the queue has reached the size that Redis allows. Nothing was written. Enqueue again later.",
        "content": {
          "application/problem+json": {
            "schema": {
              "$ref": "#/components/schemas/Problem"
            },
            "examples": {
              "queue_full": {
                "$ref": "#/components/examples/queue_full"
              }
            }
          }
        }
      },
      "internal": {
        "description": "`internal`: The server failed. Its log has the details under the same `instance`.",
        "content": {
          "application/problem+json": {
            "schema": {
              "$ref": "#/components/schemas/Problem"
            },
            "examples": {
              "internal": {
                "$ref": "#/components/examples/internal"
              }
            }
          }
        }
      },
      "unsupported": {
        "description": "`unsupported`: The server has no events, because its connection to Redis cannot subscribe to a channel; or no deep sweep, schedules, strict order, flows or debounce, because its option is off. `detail` says which.",
        "content": {
          "application/problem+json": {
            "schema": {
              "$ref": "#/components/schemas/Problem"
            },
            "examples": {
              "unsupported": {
                "$ref": "#/components/examples/unsupported"
              }
            }
          }
        }
      },
      "redis_unauthorized-or-redis_error-or-unexpected_reply-or-offload_failed": {
        "description": "`redis_unauthorized`: Redis refused the server's credentials, or they do not allow the command.\n\n`redis_error`: Redis refused a command for a reason without a code of its own. The server's log has the details.\n\n`unexpected_reply`: Redis, or a server in front of it, sent something that is not a reply to the command.\n\n`offload_failed`: A payload could not be written to the server's object store or read from it, or the server has none. An enqueue has written no task. The server's log has the details.",
        "content": {
          "application/problem+json": {
            "schema": {
              "$ref": "#/components/schemas/Problem"
            },
            "examples": {
              "redis_unauthorized": {
                "$ref": "#/components/examples/redis_unauthorized"
              },
              "redis_error": {
                "$ref": "#/components/examples/redis_error"
              },
              "unexpected_reply": {
                "$ref": "#/components/examples/unexpected_reply"
              },
              "offload_failed": {
                "$ref": "#/components/examples/offload_failed"
              }
            }
          }
        }
      },
      "redis_quota-or-redis_not_writable-or-newer_schema-or-auth_not_configured-or-misconfigured": {
        "description": "`redis_quota`: The Redis account has used up its quota of requests.\n\n`redis_not_writable`: Redis answered, but took no writes until the time was up: it is a read-only replica, is loading, or has too few replicas. Send the request again with the same Idempotency-Key.\n\n`newer_schema`: A newer release of Sluice wrote this record: deploy that release here too. Or the queue has a strict order or flows: give the server the option `order` or `flows`. Nothing was changed.\n\n`auth_not_configured`: The server has no SLUICE_TOKENS. The route accepts no request until they are set.\n\n`misconfigured`: The server's environment is incomplete or invalid. `detail` names the variable.",
        "content": {
          "application/problem+json": {
            "schema": {
              "$ref": "#/components/schemas/Problem"
            },
            "examples": {
              "redis_quota": {
                "$ref": "#/components/examples/redis_quota"
              },
              "redis_not_writable": {
                "$ref": "#/components/examples/redis_not_writable"
              },
              "newer_schema": {
                "$ref": "#/components/examples/newer_schema"
              },
              "auth_not_configured": {
                "$ref": "#/components/examples/auth_not_configured"
              },
              "misconfigured": {
                "$ref": "#/components/examples/misconfigured"
              }
            }
          }
        }
      },
      "redis_unreachable": {
        "description": "`redis_unreachable`: Redis could not be reached in time. The request may or may not have taken effect. Send it again with the same Idempotency-Key.",
        "content": {
          "application/problem+json": {
            "schema": {
              "$ref": "#/components/schemas/Problem"
            },
            "examples": {
              "redis_unreachable": {
                "$ref": "#/components/examples/redis_unreachable"
              }
            }
          }
        }
      },
      "invalid_request": {
        "description": "`invalid_request`: A field, parameter or header is missing, unknown or out of bounds. `errors` lists each of them: where it is and what is allowed.",
        "content": {
          "application/problem+json": {
            "schema": {
              "$ref": "#/components/schemas/Problem"
            },
            "examples": {
              "invalid_request": {
                "$ref": "#/components/examples/invalid_request"
              }
            }
          }
        }
      },
      "redis_unauthorized-or-redis_error-or-unexpected_reply": {
        "description": "`redis_unauthorized`: Redis refused the server's credentials, or they do not allow the command.\n\n`redis_error`: Redis refused a command for a reason without a code of its own. The server's log has the details.\n\n`unexpected_reply`: Redis, or a server in front of it, sent something that is not a reply to the command.",
        "content": {
          "application/problem+json": {
            "schema": {
              "$ref": "#/components/schemas/Problem"
            },
            "examples": {
              "redis_unauthorized": {
                "$ref": "#/components/examples/redis_unauthorized"
              },
              "redis_error": {
                "$ref": "#/components/examples/redis_error"
              },
              "unexpected_reply": {
                "$ref": "#/components/examples/unexpected_reply"
              }
            }
          }
        }
      },
      "not_found": {
        "description": "`not_found`: There is no task or flow with this id, or no schedule with this name. A task is also not found after its record has expired.",
        "content": {
          "application/problem+json": {
            "schema": {
              "$ref": "#/components/schemas/Problem"
            },
            "examples": {
              "not_found": {
                "$ref": "#/components/examples/not_found"
              }
            }
          }
        }
      },
      "already_ended-or-lease_lost": {
        "description": "`already_ended`: A completed or rejected task cannot be cancelled.\n\n`lease_lost`: The task is not under the expected lease. Nothing was changed. In a settle this is the `code` of one result.",
        "content": {
          "application/problem+json": {
            "schema": {
              "$ref": "#/components/schemas/Problem"
            },
            "examples": {
              "already_ended": {
                "$ref": "#/components/examples/already_ended"
              },
              "lease_lost": {
                "$ref": "#/components/examples/lease_lost"
              }
            }
          }
        }
      },
      "alive": {
        "description": "`alive`: A pending, delayed or working task cannot be deleted. Cancel it first.",
        "content": {
          "application/problem+json": {
            "schema": {
              "$ref": "#/components/schemas/Problem"
            },
            "examples": {
              "alive": {
                "$ref": "#/components/examples/alive"
              }
            }
          }
        }
      },
      "not_blocked-or-lease_lost": {
        "description": "`not_blocked`: What should wait for the new tasks was rejected or cancelled. Nothing was added.\n\n`lease_lost`: The task is not under the expected lease. Nothing was changed. In a settle this is the `code` of one result.",
        "content": {
          "application/problem+json": {
            "schema": {
              "$ref": "#/components/schemas/Problem"
            },
            "examples": {
              "not_blocked": {
                "$ref": "#/components/examples/not_blocked"
              },
              "lease_lost": {
                "$ref": "#/components/examples/lease_lost"
              }
            }
          }
        }
      },
      "still_working": {
        "description": "`still_working`: The queue or the worker has tasks that are working, or the queue has tasks of flows that have not ended. Pause the queue and wait, cancel the flows, or delete it with `force=true`; of a dead worker, take the tasks back.",
        "content": {
          "application/problem+json": {
            "schema": {
              "$ref": "#/components/schemas/Problem"
            },
            "examples": {
              "still_working": {
                "$ref": "#/components/examples/still_working"
              }
            }
          }
        }
      },
      "not_dead_letter": {
        "description": "`not_dead_letter`: Only a dead letter can be skipped.",
        "content": {
          "application/problem+json": {
            "schema": {
              "$ref": "#/components/schemas/Problem"
            },
            "examples": {
              "not_dead_letter": {
                "$ref": "#/components/examples/not_dead_letter"
              }
            }
          }
        }
      },
      "redis_quota-or-redis_not_writable-or-newer_schema-or-auth_not_configured-or-unhealthy-or-misconfigured": {
        "description": "`redis_quota`: The Redis account has used up its quota of requests.\n\n`redis_not_writable`: Redis answered, but took no writes until the time was up: it is a read-only replica, is loading, or has too few replicas. Send the request again with the same Idempotency-Key.\n\n`newer_schema`: A newer release of Sluice wrote this record: deploy that release here too. Or the queue has a strict order or flows: give the server the option `order` or `flows`. Nothing was changed.\n\n`auth_not_configured`: The server has no SLUICE_TOKENS. The route accepts no request until they are set.\n\n`unhealthy`: The health of the queues is as bad as the parameter `fail` names, or worse. `detail` has up to ten findings; without `fail`, the response has all of them.\n\n`misconfigured`: The server's environment is incomplete or invalid. `detail` names the variable.",
        "content": {
          "application/problem+json": {
            "schema": {
              "$ref": "#/components/schemas/Problem"
            },
            "examples": {
              "redis_quota": {
                "$ref": "#/components/examples/redis_quota"
              },
              "redis_not_writable": {
                "$ref": "#/components/examples/redis_not_writable"
              },
              "newer_schema": {
                "$ref": "#/components/examples/newer_schema"
              },
              "auth_not_configured": {
                "$ref": "#/components/examples/auth_not_configured"
              },
              "unhealthy": {
                "$ref": "#/components/examples/unhealthy"
              },
              "misconfigured": {
                "$ref": "#/components/examples/misconfigured"
              }
            }
          }
        }
      },
      "worker_lost": {
        "description": "`worker_lost`: The worker's tasks were taken back and may be with other workers. Nothing was changed. Stop all work on them. The next pull, or a heartbeat with a new incarnation, registers the worker again.",
        "content": {
          "application/problem+json": {
            "schema": {
              "$ref": "#/components/schemas/Problem"
            },
            "examples": {
              "worker_lost": {
                "$ref": "#/components/examples/worker_lost"
              }
            }
          }
        }
      },
      "no_route-or-method_not_allowed-or-foreign_origin": {
        "description": "`no_route`: This path does not exist. `/docs` lists all routes.\n\n`method_not_allowed`: The route does not support this method. The `Allow` header lists those that it supports.\n\n`foreign_origin`: The dashboard answers only requests of its own page. Their `Origin` has the host of this server, and their `Sec-Fetch-Site` is `same-origin`.",
        "content": {
          "application/problem+json": {
            "schema": {
              "$ref": "#/components/schemas/Problem"
            },
            "examples": {
              "no_route": {
                "$ref": "#/components/examples/no_route"
              },
              "method_not_allowed": {
                "$ref": "#/components/examples/method_not_allowed"
              },
              "foreign_origin": {
                "$ref": "#/components/examples/foreign_origin"
              }
            }
          }
        }
      },
      "redis_quota-or-redis_not_writable-or-misconfigured": {
        "description": "`redis_quota`: The Redis account has used up its quota of requests.\n\n`redis_not_writable`: Redis answered, but took no writes until the time was up: it is a read-only replica, is loading, or has too few replicas. Send the request again with the same Idempotency-Key.\n\n`misconfigured`: The server's environment is incomplete or invalid. `detail` names the variable.",
        "content": {
          "application/problem+json": {
            "schema": {
              "$ref": "#/components/schemas/Problem"
            },
            "examples": {
              "redis_quota": {
                "$ref": "#/components/examples/redis_quota"
              },
              "redis_not_writable": {
                "$ref": "#/components/examples/redis_not_writable"
              },
              "misconfigured": {
                "$ref": "#/components/examples/misconfigured"
              }
            }
          }
        }
      },
      "misconfigured": {
        "description": "`misconfigured`: The server's environment is incomplete or invalid. `detail` names the variable.",
        "content": {
          "application/problem+json": {
            "schema": {
              "$ref": "#/components/schemas/Problem"
            },
            "examples": {
              "misconfigured": {
                "$ref": "#/components/examples/misconfigured"
              }
            }
          }
        }
      }
    }
  }
};
