// Written by tools/build-openapi.ts; do not edit.
import type { OpenApiDocument } from "./openapi-document.ts";

export const openapi: OpenApiDocument = {
  "openapi": "3.1.1",
  "info": {
    "title": "Sluice",
    "version": "0.1.0",
    "summary": "A reliable work queue over HTTP",
    "description": "Producers enqueue tasks; consumers pull a batch, work, and settle it in one more request.\n\nTimes are epoch milliseconds and end in `At`. Numbers are those of JSON in JavaScript: send integers beyond 2^53 as text. Unknown fields and parameters are refused, so that a misspelt one is not lost quietly; replies may gain fields.\n\nErrors are problem documents (RFC 9457) with a stable `code`. Besides those listed with each route, a path that does not exist answers `no_route`, and another method `method_not_allowed` with `Allow`. HEAD goes where GET does, except to the sweep. There are no CORS headers.\n\nTokens come from the server's `SLUICE_TOKENS`, JSON: `[{\"sha256\": \"…\", \"scopes\": [\"enqueue\", \"consume\", \"admin\"], \"queues\": \"emails-*\"}]`.",
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
      "description": "Enqueue, pull, settle, follow and cancel."
    },
    {
      "name": "queues",
      "description": "What there is, how it is set, and how it goes."
    },
    {
      "name": "workers",
      "description": "Who works on what. A pull need not name a worker."
    },
    {
      "name": "schedules",
      "description": "What recurs, and when."
    },
    {
      "name": "operation",
      "description": "What cron calls."
    },
    {
      "name": "about",
      "description": "Open to everybody."
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
        "description": "A task is any JSON value, or bytes in base64. Many tasks, up to 1,000, go as `tasks` in one request and either all arrive or none. An `id` of your own, or an `Idempotency-Key`, makes a resend harmless, for as long as the task is known: while it lives, and after its end for its `resultTtl` or `deadTtl`, at least 5 minutes. The same key with other tasks is refused with `idempotency_key_reused` while a task that it created is known. Encrypted payloads are not compared, and a task with a new `id` of its own is created. Scope: enqueue.",
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
            "description": "Every task was known already from another enqueue; nothing was changed.",
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
                      "$ref": "#/components/schemas/Enqueued"
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
                  }
                }
              }
            }
          },
          "201": {
            "description": "At least one task was created, by this request or by an earlier copy of it.",
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
                      "$ref": "#/components/schemas/Enqueued"
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
          "502": {
            "$ref": "#/components/responses/redis_unauthorized-or-redis_error-or-unexpected_reply"
          },
          "503": {
            "$ref": "#/components/responses/redis_quota-or-newer_schema-or-auth_not_configured-or-misconfigured"
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
        "summary": "Page through the tasks in one state, search them, peek",
        "description": "Pending tasks come in the order of delivery, delayed and working ones as they fall due, completed ones as their records expire, dead letters as they died. Nothing is leased: `state=pending&size=10&payloads=true` peeks at what is next.\n\nWith a filter one call looks at 1,000 tasks, so a page may hold few or none with more to come: follow `cursor`, percent-encoded. A task that moves meanwhile may come twice, or, where pending ones are pulled between pages, be passed by. Scope: admin.",
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
            "name": "state",
            "in": "query",
            "required": true,
            "description": "In which state.",
            "schema": {
              "enum": [
                "pending",
                "delayed",
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
            "description": "Where to go on: the `cursor` of the page before.",
            "schema": {
              "type": "string",
              "minLength": 1
            }
          },
          {
            "name": "size",
            "in": "query",
            "required": false,
            "description": "At most this many tasks a page. Default 100.",
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
            "description": "True gives payloads too, 8 MB at most in a page. Default false.",
            "schema": {
              "type": "boolean"
            }
          },
          {
            "name": "text",
            "in": "query",
            "required": false,
            "description": "What the last error, or the result, contains.",
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
            "description": "Of that group.",
            "schema": {
              "type": "string",
              "pattern": "^[A-Za-z0-9][!-~]{0,127}$"
            }
          },
          {
            "name": "reason",
            "in": "query",
            "required": false,
            "description": "Why they were rejected. Cancelled ones are only meant where this says so.",
            "schema": {
              "enum": [
                "rejected",
                "attempts_exhausted",
                "lease_expired",
                "cancelled"
              ],
              "type": "string"
            }
          },
          {
            "name": "endedSince",
            "in": "query",
            "required": false,
            "description": "Ended then or later, epoch ms.",
            "schema": {
              "type": "integer",
              "minimum": 0,
              "maximum": 8640000000000000
            }
          },
          {
            "name": "endedUntil",
            "in": "query",
            "required": false,
            "description": "Ended before, epoch ms.",
            "schema": {
              "type": "integer",
              "minimum": 0,
              "maximum": 8640000000000000
            }
          },
          {
            "name": "enqueuedSince",
            "in": "query",
            "required": false,
            "description": "Enqueued then or later, epoch ms.",
            "schema": {
              "type": "integer",
              "minimum": 0,
              "maximum": 8640000000000000
            }
          },
          {
            "name": "enqueuedUntil",
            "in": "query",
            "required": false,
            "description": "Enqueued before, epoch ms.",
            "schema": {
              "type": "integer",
              "minimum": 0,
              "maximum": 8640000000000000
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
                          "requeues": 4,
                          "version": 11,
                          "transitions": [
                            {
                              "version": 11,
                              "to": "rejected",
                              "at": 1792800060000
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
            "$ref": "#/components/responses/redis_quota-or-newer_schema-or-auth_not_configured-or-misconfigured"
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
        "description": "Leases up to `max` tasks to the caller, the oldest first, and answers at once, with none where none is pending. Due delayed tasks and expired leases count as pending. Settle each task with its receipt before `deadlineAt`. With a `token` of your own, or an `Idempotency-Key`, a pull whose answer was lost can be sent again for the same tasks; without either a resend is a new request. Make a new one for each pull: with an old one the pull gets the old answer, and one that found nothing stays empty. Scope: consume.",
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
            "description": "The tasks, perhaps none.",
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
            "$ref": "#/components/responses/redis_quota-or-newer_schema-or-auth_not_configured-or-misconfigured"
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
        "description": "Says for up to 1,000 tasks what became of them, each with an outcome of its own and a result of its own in the same order: one lost lease harms no other. With `pull` the next batch comes with the answer. Scope: consume.",
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
            "$ref": "#/components/responses/redis_quota-or-newer_schema-or-auth_not_configured-or-misconfigured"
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
        "description": "A waiting task is rejected at once, with the reason `cancelled`, and is no dead letter. A working one is flagged: its holder learns of it at the next extend or settle. Scope: enqueue.",
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
                "while-under-that-lease": {
                  "summary": "while under that lease",
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
            "description": "It is cancelled, or will be.",
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
            "$ref": "#/components/responses/redis_quota-or-newer_schema-or-auth_not_configured-or-misconfigured"
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
        "summary": "State, result and error of a task; waits for its end, or follows it",
        "description": "The record of a completed task, its result included, is kept for its `resultTtl`, that of a dead letter for its `deadTtl`, each at least 5 minutes; that of a cancelled task for 5 minutes. After that the task is not found.\n\nWith `wait` it answers when the task has ended, or with the task as it stands when that time is over. The task is looked at again after 250 ms, then half as often each time, down to once in 2 seconds; each look is 3 Redis commands.\n\nWith `Accept: text/event-stream` it tells what becomes of the task: first how it stands, then each transition once and in order, until its end. A `transition` has `version`, `to` (a state, or `cancelRequested`) and `at`. `progress` has what the holder last told. `gap` says how many transitions were `missed` because the record keeps the last 16. `end` has the task, and `gone` says that it was deleted or its record has expired; after either leave the stream. `problem` tells of a fault. Versions rise, but progress, and a promotion, told where a look sees it, come with the version told last.\n\nA stream ends after 60 seconds, and the client connects again with `Last-Event-ID`, as browsers' EventSource does by itself: it then goes on behind that version, and nothing is told twice but the last progress. Once the end has been told the answer is 204. Scope: enqueue.",
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
            "name": "wait",
            "in": "query",
            "required": false,
            "description": "How long the request may take, at most \"60s\". Without it the answer comes at once, and a stream lasts for 60 seconds.",
            "schema": {
              "anyOf": [
                {
                  "type": "integer",
                  "minimum": 0,
                  "maximum": 60000
                },
                {
                  "type": "string",
                  "pattern": "^\\d{1,12}(?:ms|s|m|h|d)$"
                }
              ]
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
                    "value": "retry: 1000\n\nid: 1\nevent: transition\ndata: {\"version\":1,\"to\":\"pending\",\"at\":1792800000000}\n\nid: 2\nevent: transition\ndata: {\"version\":2,\"to\":\"working\",\"at\":1792800000900}\n\nid: 2\nevent: progress\ndata: {\"version\":2,\"progress\":{\"done\":0.5}}\n\nid: 3\nevent: end\ndata: {\"version\":3,\"to\":\"completed\",\"at\":1792800001200,\"task\":{\"id\":\"welcome-17\",\"queue\":\"emails\",\"state\":\"completed\",\"attempt\":1,\"charged\":1,\"lease\":42,\"requeues\":0,\"version\":3,\"transitions\":[{\"version\":2,\"to\":\"working\",\"at\":1792800000900},{\"version\":3,\"to\":\"completed\",\"at\":1792800001200}],\"worker\":{\"name\":\"mailer-1\",\"incarnation\":\"0VsJ0dW2\"},\"enqueuedAt\":1792800000000,\"dequeuedAt\":1792800000900,\"endedAt\":1792800001200,\"result\":{\"ok\":true}}}\n\n"
                  }
                }
              }
            }
          },
          "204": {
            "description": "A stream's end was told already: `Last-Event-ID` is its version."
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
            "$ref": "#/components/responses/redis_quota-or-newer_schema-or-auth_not_configured-or-misconfigured"
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
        "description": "Its record goes, with result, error and payload. Within five minutes of its end the id stays known, so that a late copy of its enqueue creates nothing; for so long a second DELETE is answered as the first. Scope: admin.",
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
            "description": "It is gone.",
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/TaskDeleted"
                },
                "examples": {
                  "gone": {
                    "summary": "gone",
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
            "$ref": "#/components/responses/redis_quota-or-newer_schema-or-auth_not_configured-or-misconfigured"
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
        "summary": "What happens to a queue's tasks, as it happens",
        "description": "A stream of server-sent events: `enqueued`, `dequeued`, `completed`, `requeued`, `rejected`, `cancelled`, `cancelRequested` (its holder is to stop), `reclaimed`, `redriven`, `deleted`, each with when it was and the ids of the tasks that one call did it to; `*` where the queue was deleted. They come where the queue's setting `events` is on; otherwise the stream is silent.\n\nBest effort, as Redis's pub/sub is: the answer begins when Redis listens, and what happens from then on is told; what happens while nobody listens, such as between two streams, is told to nobody. To miss nothing of one task, follow the task. `problem` tells of a fault, after which the stream ends. Scope: admin.",
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
                  "pattern": "^\\d{1,12}(?:ms|s|m|h|d)$"
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
                    "value": "retry: 1000\n\nevent: enqueued\ndata: {\"event\":\"enqueued\",\"at\":1792800000000,\"ids\":[\"welcome-17\",\"welcome-18\"]}\n\nevent: dequeued\ndata: {\"event\":\"dequeued\",\"at\":1792800000900,\"ids\":[\"welcome-17\"]}\n\n"
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
            "$ref": "#/components/responses/redis_quota-or-newer_schema-or-auth_not_configured-or-misconfigured"
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
        "description": "By `ids`, by filter, or all with `{}`; at the back of the queue, the longest dead first. Attempts that were charged are forgotten. Cancelled tasks are no dead letters. Where `cursor` is not null, call again with it. A copy of a request by ids does no more than the first until a task has died again, and with its `lease` not even then; one by filter goes on where the first stopped. Scope: admin.",
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
                "what-would-be-redriven": {
                  "summary": "what would be redriven",
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
            "description": "What was done.",
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
            "$ref": "#/components/responses/redis_quota-or-newer_schema-or-auth_not_configured-or-misconfigured"
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
        "description": "Pending and delayed tasks are cancelled; the records of completed and rejected ones go. Tasks that are being worked on are never purged: cancel them. A filter of pending tasks has to name a group. Where `cursor` is not null, call again with it; a copy of the request goes on where the first stopped. Scope: admin.",
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
                "what-a-group-has-pending": {
                  "summary": "what a group has pending",
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
            "description": "What was done.",
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
            "$ref": "#/components/responses/redis_quota-or-newer_schema-or-auth_not_configured-or-misconfigured"
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
        "description": "Only those that the token is for. A page may be short, or empty, with more to come: follow `cursor`. Scope: admin.",
        "security": [
          {
            "token": [
              "admin"
            ]
          }
        ],
        "parameters": [
          {
            "name": "cursor",
            "in": "query",
            "required": false,
            "description": "Where to go on: the `cursor` of the page before.",
            "schema": {
              "type": "string",
              "minLength": 1
            }
          },
          {
            "name": "size",
            "in": "query",
            "required": false,
            "description": "About this many queues a page. Default 100.",
            "schema": {
              "type": "integer",
              "minimum": 1,
              "maximum": 1000
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
            "$ref": "#/components/responses/redis_quota-or-newer_schema-or-auth_not_configured-or-misconfigured"
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
        "summary": "Counts of a queue",
        "description": "A queue that nothing was enqueued to counts 0 everywhere. Scope: admin.",
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
                      "rejected": 2,
                      "oldestAge": 4300,
                      "nextDueAt": 1792800030000,
                      "broken": 0,
                      "workers": 2,
                      "paused": false
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
            "$ref": "#/components/responses/redis_quota-or-newer_schema-or-auth_not_configured-or-misconfigured"
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
        "summary": "Delete a queue with all that belongs to it",
        "description": "Tasks, results, dead letters, settings and its place in the list. Refused while tasks are being worked on, unless `force=true`. Deleting what is not there is no fault, and an enqueue begins the queue anew. Scope: admin.",
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
            "description": "True deletes even where tasks are being worked on; their holders are told `lease_lost`.",
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
            "description": "It is gone.",
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/QueueDeleted"
                },
                "examples": {
                  "gone": {
                    "summary": "gone",
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
            "$ref": "#/components/responses/redis_quota-or-newer_schema-or-auth_not_configured-or-misconfigured"
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
        "description": "From now on every pull gives nothing and says `paused`, until the queue is resumed. Tasks that are being worked on are settled as before, and enqueueing goes on. Scope: admin.",
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
            "description": "The settings as they now are.",
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
                      "maxWorking": null,
                      "rate": null,
                      "maxPending": 10000,
                      "events": false,
                      "statistics": true
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
            "$ref": "#/components/responses/redis_quota-or-newer_schema-or-auth_not_configured-or-misconfigured"
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
        "description": "Pulls give tasks again, at once. Scope: admin.",
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
            "description": "The settings as they now are.",
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
                      "maxWorking": null,
                      "rate": null,
                      "maxPending": 10000,
                      "events": false,
                      "statistics": true
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
            "$ref": "#/components/responses/redis_quota-or-newer_schema-or-auth_not_configured-or-misconfigured"
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
        "summary": "Settings of a queue",
        "description": "They stand in Redis, so everything that works on the queue heeds them. Scope: admin.",
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
                      "maxWorking": null,
                      "rate": null,
                      "maxPending": 10000,
                      "events": false,
                      "statistics": true
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
            "$ref": "#/components/responses/redis_quota-or-newer_schema-or-auth_not_configured-or-misconfigured"
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
        "description": "What the body does not name stays as it is; null unsets. Limits hold from the next pull on. Producers heed `maxPending`, `events` and `statistics` within a minute. Scope: admin.",
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
                      "max": 100,
                      "per": "1m"
                    },
                    "maxPending": 10000
                  }
                },
                "no-limit-any-more": {
                  "summary": "no limit any more",
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
                }
              }
            }
          }
        },
        "responses": {
          "200": {
            "description": "The settings as they now are.",
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
                      "maxWorking": 50,
                      "rate": {
                        "max": 100,
                        "per": 60000
                      },
                      "maxPending": 10000,
                      "events": false,
                      "statistics": true
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
            "$ref": "#/components/responses/redis_quota-or-newer_schema-or-auth_not_configured-or-misconfigured"
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
        "summary": "Settings and counts of a group",
        "description": "A group that nobody has set or used has weight 1, no limits, and no tasks. Scope: admin.",
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
                      "weight": 2,
                      "maxWorking": null,
                      "rate": null,
                      "ready": 40,
                      "working": 5,
                      "held": 0
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
            "$ref": "#/components/responses/redis_quota-or-newer_schema-or-auth_not_configured-or-misconfigured"
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
        "description": "What the body does not name stays as it is; null unsets. A group at its limit does not hold up the others. Scope: admin.",
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
                      "max": 10,
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
            "description": "The settings as they now are.",
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/GroupSettings"
                },
                "examples": {
                  "some": {
                    "summary": "some",
                    "value": {
                      "weight": 2,
                      "maxWorking": null,
                      "rate": null
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
            "$ref": "#/components/responses/redis_quota-or-newer_schema-or-auth_not_configured-or-misconfigured"
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
        "summary": "What happened in the last hour",
        "description": "How many tasks each event befell, by the minute, where the queue's setting `statistics` is on; and the mean of late, to scale by. Scope: admin.",
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
                          "deleted": 0
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
                        "deleted": 0
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
            "$ref": "#/components/responses/redis_quota-or-newer_schema-or-auth_not_configured-or-misconfigured"
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
        "summary": "Sign of life of a worker, which extends all its leases",
        "description": "Makes the worker a listener of the queue, and moves the deadline of every task that this incarnation has, never to an earlier one. Leases of other workers and incarnations stay as they are, even if their receipts are sent. Scope: consume.",
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
            "description": "It is alive, and has these leases.",
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/HeartbeatAnswer"
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
            "$ref": "#/components/responses/redis_quota-or-newer_schema-or-auth_not_configured-or-misconfigured"
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
        "summary": "Who works on what",
        "description": "The workers that pull from the queue under a name, in no order. A worker may come twice where the list changes between pages; none that stays is missed. Scope: admin.",
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
            "name": "cursor",
            "in": "query",
            "required": false,
            "description": "Where to go on: the `cursor` of the page before.",
            "schema": {
              "type": "string",
              "minLength": 1
            }
          },
          {
            "name": "size",
            "in": "query",
            "required": false,
            "description": "About this many workers a page. Default 100.",
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
            "$ref": "#/components/responses/redis_quota-or-newer_schema-or-auth_not_configured-or-misconfigured"
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
        "description": "Exactly its tasks become pending again, in the order in which it took them: at the front of the queue, or at the back of their group if they have a group or a priority. Tasks without another attempt become dead letters. The worker learns of it at its next heartbeat. An unknown worker has no tasks. Scope: admin.",
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
            "description": "What became of its tasks.",
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
            "$ref": "#/components/responses/redis_quota-or-newer_schema-or-auth_not_configured-or-misconfigured"
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
        "description": "Without the tasks that recur, in no order. A schedule may come twice where the list changes between pages; none that stays is missed. Scope: admin.",
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
            "name": "cursor",
            "in": "query",
            "required": false,
            "description": "Where to go on: the `cursor` of the page before.",
            "schema": {
              "type": "string",
              "minLength": 1
            }
          },
          {
            "name": "size",
            "in": "query",
            "required": false,
            "description": "About this many schedules a page. Default 100.",
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
            "$ref": "#/components/responses/redis_quota-or-newer_schema-or-auth_not_configured-or-misconfigured"
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
        "summary": "Create a schedule, or change it",
        "description": "At each occurrence its task is enqueued, by the first sweep from then on: once, however many sweeps run. So how often the sweep runs is how exact the time is. The task's id is `<name>.<epoch ms of the occurrence>`, and a task that is known by that id already counts as it; its headers have the name as `schedule`, and that time as `scheduled-at`.\n\nThe body is the whole schedule: what it does not name is as of a new one, but for `paused`. The next occurrence stays where `cron` and `timeZone`, or `every` and `from`, are what they were (a `from` that is not given is); otherwise the first from now on is next.\n\nWhere the clock of the time zone is put forward, the time of an expression with one hour and one minute that is skipped occurs right after the gap; where it is put back, it occurs the first time. Of an expression with several, what is skipped is left out, and what comes twice occurs twice. Scope: admin.",
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
                "every-ten-minutes,-each-one": {
                  "summary": "every ten minutes, each one",
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
            "description": "It was there before, and is now as told.",
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
            "description": "It is new.",
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
            "$ref": "#/components/responses/redis_quota-or-newer_schema-or-auth_not_configured-or-misconfigured"
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
        "summary": "A schedule, with the task that recurs",
        "description": "Options of the task that were not given are not there. Scope: admin.",
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
            "$ref": "#/components/responses/redis_quota-or-newer_schema-or-auth_not_configured-or-misconfigured"
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
        "description": "Tasks that it has enqueued stay. Scope: admin.",
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
            "description": "It is gone.",
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/ScheduleRemoved"
                },
                "examples": {
                  "gone": {
                    "summary": "gone",
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
            "$ref": "#/components/responses/redis_quota-or-newer_schema-or-auth_not_configured-or-misconfigured"
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
        "description": "It does not occur until it is resumed. Scope: admin.",
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
            "description": "The schedule as it now is.",
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
            "$ref": "#/components/responses/redis_quota-or-newer_schema-or-auth_not_configured-or-misconfigured"
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
        "description": "It occurs again, from now on: what it missed while it was paused is not made up for. Scope: admin.",
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
            "description": "The schedule as it now is.",
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/ListedSchedule"
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
            "$ref": "#/components/responses/redis_quota-or-newer_schema-or-auth_not_configured-or-misconfigured"
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
        "summary": "Promote due tasks, reclaim expired leases; or repair what contradicts itself",
        "description": "What cron calls once a minute where the platform has no cron binding. It also enqueues what schedules have due. With a token it sweeps the queues that the token is for, with the cron secret all of them.\n\nWith `deep: true` it looks at every entry for what contradicts itself, as a failover leaves it where keys went back in time one by one, repairs it, and reports what it found: tasks without a place or in two, leases without a holder, records beyond reading, wrong counts. It works beside live traffic, and what is sound stays as it is. Where `cursor` is not null, call again with it. A queue with up to 100 tasks costs at most 91 Redis commands, 110 where they are of groups; each further 100 tasks some 5, or 15. Scope: admin.",
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
            "description": "What was done.",
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
          "502": {
            "$ref": "#/components/responses/redis_unauthorized-or-redis_error-or-unexpected_reply"
          },
          "503": {
            "$ref": "#/components/responses/redis_quota-or-newer_schema-or-auth_not_configured-or-misconfigured"
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
        "summary": "The same, for a cron that can only GET",
        "description": "Opened by the cron secret alone, in `Authorization: Bearer …`. Sweeps all queues for at most 20 seconds.",
        "security": [
          {
            "cronSecret": []
          }
        ],
        "responses": {
          "200": {
            "description": "What was done.",
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
            "$ref": "#/components/responses/redis_quota-or-newer_schema-or-auth_not_configured-or-misconfigured"
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
        "summary": "Whether it runs",
        "description": "Makes a round trip to Redis.",
        "security": [],
        "responses": {
          "200": {
            "description": "Redis answers.",
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/Health"
                },
                "examples": {
                  "well": {
                    "summary": "well",
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
            "$ref": "#/components/responses/redis_quota-or-misconfigured"
          },
          "504": {
            "$ref": "#/components/responses/redis_unreachable"
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
        "summary": "This document, to read",
        "description": "One page without scripts and without anything from elsewhere.",
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
        "description": "A token with the scope, for the queue."
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
            "description": "Any JSON value; with `encoding`, bytes. Numbers are 64-bit floats: extra digits are rounded, and a number out of range, such as 1e400, is refused."
          },
          "encoding": {
            "const": "base64",
            "description": "Says that the value beside it is bytes, in base64."
          },
          "id": {
            "type": "string",
            "pattern": "^[A-Za-z0-9][!-~]{0,127}$",
            "description": "Your id. Another enqueue with it changes nothing for as long as it is known. Generated by default."
          },
          "again": {
            "type": "boolean",
            "description": "True: where the task of that `id` has ended, it begins a new life, and the old record goes. Default false."
          },
          "dedup": {
            "type": "object",
            "properties": {
              "key": {
                "type": "string",
                "pattern": "^[A-Za-z0-9][!-~]{0,127}$",
                "description": "Tells that two tasks are the same work; scoped to the queue."
              },
              "window": {
                "$ref": "#/components/schemas/PositiveDuration",
                "description": "For how long the key stands for its first task, whatever becomes of it; at least 1 ms."
              }
            },
            "required": [
              "key",
              "window"
            ],
            "additionalProperties": false,
            "description": "Of tasks with the same key only the first within its window is added; the others are answered with its id."
          },
          "group": {
            "type": "string",
            "pattern": "^[A-Za-z0-9][!-~]{0,127}$",
            "description": "The tenant or client that the task belongs to: groups share a queue fairly."
          },
          "priority": {
            "type": "integer",
            "minimum": 0,
            "maximum": 9,
            "description": "A higher one is pulled before any lower one. Default 0."
          },
          "delay": {
            "$ref": "#/components/schemas/Duration",
            "description": "Wait before the task becomes pending. Default 0."
          },
          "at": {
            "type": "integer",
            "minimum": 0,
            "maximum": 4503599627370495,
            "description": "Instant, epoch ms, at which the task becomes pending, instead of `delay`."
          },
          "lease": {
            "$ref": "#/components/schemas/PositiveDuration",
            "description": "How long one attempt may take. Default: the lease of the pull."
          },
          "maxAttempts": {
            "type": "integer",
            "minimum": 0,
            "maximum": 1000000,
            "description": "Attempts, those not charged left out, after which the task is dead-lettered; 0 is no limit. Default 5."
          },
          "resultTtl": {
            "$ref": "#/components/schemas/Duration",
            "description": "How long the record of the completed task, result included, is kept: at least 5 minutes. 0 keeps no result; the id stays known for those 5 minutes. Default \"1h\"."
          },
          "deadTtl": {
            "$ref": "#/components/schemas/Duration",
            "description": "How long the dead letter, payload and error included, is kept: at least 5 minutes. 0 keeps no dead letter; the id stays known for those 5 minutes. Default \"7d\"."
          },
          "headers": {
            "type": "object",
            "propertyNames": {
              "minLength": 1
            },
            "additionalProperties": {
              "type": "string"
            },
            "description": "Text that travels with the payload, at most 16 KiB in all."
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
              "$ref": "#/components/schemas/NewTask"
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
            "description": "At most this many tasks. Default 1."
          },
          "lease": {
            "$ref": "#/components/schemas/PositiveDuration",
            "description": "The lease of tasks that fixed none. Default \"5m\"."
          },
          "token": {
            "type": "string",
            "pattern": "^[A-Za-z0-9_-]{8,64}$",
            "description": "Made by you, a new one for each pull: sent again with it, the pull gets those of its tasks that are still under its lease. One that found nothing stays empty."
          },
          "worker": {
            "$ref": "#/components/schemas/Worker",
            "description": "Who takes the tasks: it counts as a listener of the queue, and its tasks can be taken back at once when it fails."
          },
          "wait": {
            "$ref": "#/components/schemas/Wait",
            "description": "Where there is no task: how long to wait for one, at most \"60s\". Each second of it costs some 3 Redis commands. Default 0: answer at once."
          },
          "maxBytes": {
            "type": "integer",
            "minimum": 1,
            "maximum": 8000000,
            "description": "Bound on the payload bytes of the reply; one task is always given. Default 8,000,000."
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
                "description": "Any JSON value; with `encoding`, bytes."
              },
              "encoding": {
                "const": "base64",
                "description": "Says that the value beside it is bytes, in base64."
              },
              "ttl": {
                "$ref": "#/components/schemas/Duration",
                "description": "How long record and result are kept. Default: the task's resultTtl."
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
                "description": "What went wrong: any JSON value; with `encoding`, bytes."
              },
              "encoding": {
                "const": "base64",
                "description": "Says that the value beside it is bytes, in base64."
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
                "description": "What went wrong: any JSON value; with `encoding`, bytes."
              },
              "encoding": {
                "const": "base64",
                "description": "Says that the value beside it is bytes, in base64."
              },
              "delay": {
                "$ref": "#/components/schemas/Duration",
                "description": "Wait before the task is pending again. Default 0."
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
                        "description": "The most before the second attempt. Default 1s."
                      },
                      "factor": {
                        "type": "number",
                        "minimum": 1,
                        "maximum": 100,
                        "description": "What each further attempt multiplies it by. Default 2."
                      },
                      "most": {
                        "$ref": "#/components/schemas/Duration",
                        "description": "The most before any attempt. Default 15m."
                      }
                    },
                    "additionalProperties": false
                  }
                ],
                "description": "Instead of `delay`, by the attempt that is settled: true is at random up to 1 s after the first, twice that after each further one, up to 15 minutes; an object says so of other times; a list has one for each attempt, exact, the last for all further ones."
              },
              "count": {
                "type": "boolean",
                "description": "False does not charge the attempt towards maxAttempts. Default true."
              },
              "unstarted": {
                "type": "boolean",
                "description": "True hands back a task that was not begun. The attempt is not counted. The task goes to the front, or to its old place if it has a group or a priority. Not with `delay`, `backoff` or `error`."
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
                "description": "From now on. Default: the task's own lease."
              },
              "progress": {
                "description": "How far the work is: any JSON value, at most 1 KiB. Replaces the last."
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
            "description": "Cancel only while the task is under the lease of this number."
          }
        },
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
                      "description": "The lease number that it must have, as `get` shows it."
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
            "description": "Which dead letters, instead of a filter. With its `lease`, a late copy of the request does nothing to one that has died again."
          },
          "text": {
            "type": "string",
            "minLength": 1,
            "maxLength": 1000,
            "description": "What the last error, or the result, contains."
          },
          "group": {
            "type": "string",
            "pattern": "^[A-Za-z0-9][!-~]{0,127}$",
            "description": "Of that group."
          },
          "reason": {
            "enum": [
              "rejected",
              "attempts_exhausted",
              "lease_expired",
              "cancelled"
            ],
            "type": "string",
            "description": "Why they were rejected. Cancelled ones are only meant where this says so."
          },
          "endedSince": {
            "type": "integer",
            "minimum": 0,
            "maximum": 8640000000000000,
            "description": "Ended then or later, epoch ms."
          },
          "endedUntil": {
            "type": "integer",
            "minimum": 0,
            "maximum": 8640000000000000,
            "description": "Ended before, epoch ms."
          },
          "enqueuedSince": {
            "type": "integer",
            "minimum": 0,
            "maximum": 8640000000000000,
            "description": "Enqueued then or later, epoch ms."
          },
          "enqueuedUntil": {
            "type": "integer",
            "minimum": 0,
            "maximum": 8640000000000000,
            "description": "Enqueued before, epoch ms."
          },
          "dryRun": {
            "type": "boolean",
            "description": "True counts what would be redriven, and changes nothing. Default false."
          },
          "rate": {
            "type": "number",
            "minimum": 0.001,
            "maximum": 1000000,
            "description": "At most so many become pending in a second; the others are delayed. Default: all at once."
          },
          "limit": {
            "type": "integer",
            "minimum": 1,
            "maximum": 1000000000,
            "description": "At most this many tasks. Default: all."
          },
          "cursor": {
            "type": "string",
            "minLength": 1,
            "description": "Where to go on: the `cursor` of the call before, with the same filter."
          },
          "budget": {
            "$ref": "#/components/schemas/Budget",
            "description": "When to stop. Default \"20s\", or two fifths of the deployment's budget where that is less; at most \"60s\"."
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
              "completed",
              "rejected"
            ],
            "type": "string",
            "description": "Of which state. Pending and delayed tasks are cancelled; of completed and rejected ones the records go."
          },
          "text": {
            "type": "string",
            "minLength": 1,
            "maxLength": 1000,
            "description": "What the last error, or the result, contains."
          },
          "group": {
            "type": "string",
            "pattern": "^[A-Za-z0-9][!-~]{0,127}$",
            "description": "Of that group."
          },
          "reason": {
            "enum": [
              "rejected",
              "attempts_exhausted",
              "lease_expired",
              "cancelled"
            ],
            "type": "string",
            "description": "Why they were rejected. Cancelled ones are only meant where this says so."
          },
          "endedSince": {
            "type": "integer",
            "minimum": 0,
            "maximum": 8640000000000000,
            "description": "Ended then or later, epoch ms."
          },
          "endedUntil": {
            "type": "integer",
            "minimum": 0,
            "maximum": 8640000000000000,
            "description": "Ended before, epoch ms."
          },
          "enqueuedSince": {
            "type": "integer",
            "minimum": 0,
            "maximum": 8640000000000000,
            "description": "Enqueued then or later, epoch ms."
          },
          "enqueuedUntil": {
            "type": "integer",
            "minimum": 0,
            "maximum": 8640000000000000,
            "description": "Enqueued before, epoch ms."
          },
          "limit": {
            "type": "integer",
            "minimum": 1,
            "maximum": 1000000000,
            "description": "At most this many tasks. Default: all."
          },
          "cursor": {
            "type": "string",
            "minLength": 1,
            "description": "Where to go on: the `cursor` of the call before, with the same filter."
          },
          "budget": {
            "$ref": "#/components/schemas/Budget",
            "description": "When to stop. Default \"20s\", or two fifths of the deployment's budget where that is less; at most \"60s\"."
          }
        },
        "required": [
          "state"
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
            "description": "At most so many tasks are worked on at once."
          },
          "rate": {
            "anyOf": [
              {
                "type": "object",
                "properties": {
                  "max": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": 1000000,
                    "description": "So many pulled tasks."
                  },
                  "per": {
                    "$ref": "#/components/schemas/PositiveDuration",
                    "description": "In any period of that length; at least 1 ms."
                  }
                },
                "required": [
                  "max",
                  "per"
                ],
                "additionalProperties": false
              },
              {
                "type": "null"
              }
            ],
            "description": "At most so many tasks are pulled in any period of that length."
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
            "description": "An enqueue that would make more tasks pending is refused with `queue_full`. Delayed tasks do not count until they are due, and what is requeued or redriven is never refused."
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
            "description": "Whether what happens to tasks is published."
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
            "description": "Whether what happens to tasks is counted, by the minute, for an hour."
          }
        },
        "additionalProperties": false,
        "description": "What is absent stays as it is; null unsets."
      },
      "GroupChanges": {
        "type": "object",
        "properties": {
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
            "description": "Its share of the queue beside those of other groups. Unset: 1."
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
            "description": "At most so many tasks are worked on at once."
          },
          "rate": {
            "anyOf": [
              {
                "type": "object",
                "properties": {
                  "max": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": 1000000,
                    "description": "So many pulled tasks."
                  },
                  "per": {
                    "$ref": "#/components/schemas/PositiveDuration",
                    "description": "In any period of that length; at least 1 ms."
                  }
                },
                "required": [
                  "max",
                  "per"
                ],
                "additionalProperties": false
              },
              {
                "type": "null"
              }
            ],
            "description": "At most so many tasks are pulled in any period of that length."
          }
        },
        "additionalProperties": false,
        "description": "What is absent stays as it is; null unsets."
      },
      "NewSchedule": {
        "type": "object",
        "properties": {
          "cron": {
            "type": "string",
            "description": "When it occurs: five fields (minute, hour, day of month, month, day of week), six with seconds in front, or such as `@daily`. Either this or `every`."
          },
          "timeZone": {
            "type": "string",
            "description": "By whose clock, as the IANA names it, such as `Europe/Berlin`. Default \"UTC\"."
          },
          "every": {
            "$ref": "#/components/schemas/Interval",
            "description": "The time from one occurrence to the next; at least 1 s. Either this or `cron`."
          },
          "from": {
            "type": "integer",
            "minimum": 0,
            "maximum": 8640000000000000,
            "description": "With `every`: the first occurrence, epoch ms; of one that has passed the next that follows counts. Default: after one interval."
          },
          "until": {
            "type": "integer",
            "minimum": 0,
            "maximum": 8640000000000000,
            "description": "Instant, epoch ms, after which it does not occur any more."
          },
          "missed": {
            "enum": [
              "last",
              "all"
            ],
            "type": "string",
            "description": "What becomes of occurrences that no sweep came for in time: the last of them, or each. Default last."
          },
          "paused": {
            "type": "boolean",
            "description": "True pauses it, false resumes it. Default: as it is; a new one is not paused."
          },
          "payload": {
            "description": "Any JSON value; with `encoding`, bytes. Numbers are 64-bit floats: extra digits are rounded, and a number out of range, such as 1e400, is refused."
          },
          "encoding": {
            "const": "base64",
            "description": "Says that the value beside it is bytes, in base64."
          },
          "lease": {
            "$ref": "#/components/schemas/PositiveDuration",
            "description": "How long one attempt may take. Default: the lease of the pull."
          },
          "maxAttempts": {
            "type": "integer",
            "minimum": 0,
            "maximum": 1000000,
            "description": "Attempts, those not charged left out, after which the task is dead-lettered; 0 is no limit. Default 5."
          },
          "resultTtl": {
            "$ref": "#/components/schemas/Duration",
            "description": "How long the record of the completed task, result included, is kept: at least 5 minutes. 0 keeps no result; the id stays known for those 5 minutes. Default \"1h\"."
          },
          "deadTtl": {
            "$ref": "#/components/schemas/Duration",
            "description": "How long the dead letter, payload and error included, is kept: at least 5 minutes. 0 keeps no dead letter; the id stays known for those 5 minutes. Default \"7d\"."
          },
          "group": {
            "type": "string",
            "pattern": "^[A-Za-z0-9][!-~]{0,127}$",
            "description": "The tenant or client that the task belongs to: groups share a queue fairly."
          },
          "priority": {
            "type": "integer",
            "minimum": 0,
            "maximum": 9,
            "description": "A higher one is pulled before any lower one. Default 0."
          },
          "headers": {
            "type": "object",
            "propertyNames": {
              "minLength": 1
            },
            "additionalProperties": {
              "type": "string"
            },
            "description": "Text that travels with the payload, at most 16 KiB in all."
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
            "description": "As in pull. What it tells of itself replaces what it told before."
          },
          "lease": {
            "$ref": "#/components/schemas/PositiveDuration",
            "description": "Of all its tasks, from now on. Default: what each task's lease was when it was pulled."
          },
          "receipts": {
            "type": "array",
            "items": {
              "type": "string"
            },
            "maxItems": 1000,
            "description": "Receipts of the leases to extend. A lease that was pulled without a worker is extended by any worker with its receipt. A lease of another worker or incarnation is not extended; its id is in `lost`. Default: all leases that the worker pulled, also those of a pull whose answer was lost."
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
            "description": "Fails only this incarnation; null: the one that told none. Default: all of that name."
          },
          "limit": {
            "type": "integer",
            "minimum": 1,
            "maximum": 1000,
            "description": "At most this many tasks are taken from it in this call. Default 1,000."
          }
        },
        "additionalProperties": false
      },
      "Sweep": {
        "type": "object",
        "properties": {
          "budget": {
            "$ref": "#/components/schemas/Budget",
            "description": "Time that the sweep may take. Default \"20s\", or two fifths of the deployment's budget where that is less; at most \"60s\"."
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
            "type": "string",
            "pattern": "^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,127}$",
            "description": "This queue only, registered or not. Default: all that are registered."
          },
          "cursor": {
            "type": "string",
            "minLength": 1,
            "description": "Where to go on: the `cursor` of the answer before."
          },
          "examples": {
            "type": "integer",
            "minimum": 0,
            "maximum": 1000,
            "description": "How many ids are told of each fault in each queue. Default 10."
          },
          "budget": {
            "$ref": "#/components/schemas/Budget",
            "description": "Time that the sweep may take. Default \"20s\", or two fifths of the deployment's budget where that is less; at most \"60s\"."
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
            "pattern": "^\\d{1,12}(?:ms|s|m|h|d)$"
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
            "pattern": "^(?=0*[1-9])\\d{1,12}(?:ms|s|m|h|d)$"
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
            "pattern": "^(?:(?=0*[1-9]\\d{3})\\d{1,12}ms|(?=0*[1-9])\\d{1,12}(?:s|m|h|d))$"
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
            "pattern": "^\\d{1,12}(?:ms|s|m|h|d)$"
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
            "pattern": "^(?=0*[1-9])\\d{1,12}(?:ms|s|m|h|d)$"
          }
        ],
        "description": "As Duration, from 1 ms to 1 minute."
      },
      "QueueName": {
        "type": "string",
        "pattern": "^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,127}$",
        "description": "What a queue is called."
      },
      "TaskId": {
        "type": "string",
        "pattern": "^[A-Za-z0-9][!-~]{0,127}$",
        "description": "Visible ASCII, the first character a letter or digit."
      },
      "Name": {
        "type": "string",
        "pattern": "^[A-Za-z0-9][!-~]{0,127}$",
        "description": "What a group, a worker, a schedule or a key is called: of the same form as an id."
      },
      "Worker": {
        "type": "object",
        "properties": {
          "name": {
            "type": "string",
            "pattern": "^[A-Za-z0-9][!-~]{0,127}$",
            "description": "What the worker is called."
          },
          "incarnation": {
            "type": "string",
            "pattern": "^[A-Za-z0-9][!-~]{0,127}$",
            "description": "Tells this process from its predecessors of the same name. A new one for each start."
          },
          "node": {
            "type": "string",
            "maxLength": 128,
            "description": "The machine, for people to read."
          },
          "pid": {
            "type": "integer",
            "minimum": 0,
            "maximum": 9007199254740991,
            "description": "The process on it."
          },
          "silentAfter": {
            "$ref": "#/components/schemas/PositiveDuration",
            "description": "After so long without a pull or heartbeat a sweep gives its tasks back. Default: never; its leases end one by one."
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
            "description": "With `dedup`, that of the first task with the key."
          },
          "created": {
            "type": "boolean",
            "description": "False where the id, or the key, was known already from another enqueue: nothing was changed. A copy of a request is answered as the first."
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
                  "description": "Proof of the lease; send it with settle. Opaque."
                },
                "payload": {},
                "encoding": {
                  "const": "base64",
                  "description": "The payload is bytes, in base64."
                },
                "attempt": {
                  "type": "integer",
                  "minimum": 0,
                  "description": "The how-manyth delivery this is, from 1."
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
                  "description": "How long the lease is, ms; an extend without a lease begins it anew."
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
            "description": "When it is worth pulling again, epoch ms: at once, when the next delayed task is due or lease ends, or when a limit allows more; null where nothing waits."
          },
          "paused": {
            "type": "boolean",
            "description": "True where the queue is paused: it gives nothing until it is resumed."
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
                        "working",
                        "completed",
                        "rejected"
                      ],
                      "type": "string",
                      "description": "Where the task is now. A requeue on the last attempt says rejected."
                    },
                    "reason": {
                      "enum": [
                        "rejected",
                        "attempts_exhausted",
                        "lease_expired",
                        "cancelled"
                      ],
                      "type": "string"
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
                      "description": "The task was cancelled while it was worked on: stop."
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
                      "description": "`lease_lost`: the lease is another's by now. `newer_schema`: a newer release of Sluice has changed the task. Nothing was changed."
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
              "cancelled"
            ],
            "type": "string",
            "description": "Why it is rejected."
          },
          "attempt": {
            "type": "integer",
            "minimum": 0,
            "description": "Deliveries so far."
          },
          "charged": {
            "type": "integer",
            "minimum": 0,
            "description": "Those that count towards maxAttempts."
          },
          "lease": {
            "type": "integer",
            "minimum": 0,
            "description": "Number of its latest lease; 0 before the first."
          },
          "requeues": {
            "type": "integer",
            "minimum": 0,
            "description": "How often a holder requeued it."
          },
          "version": {
            "type": "integer",
            "minimum": 0,
            "description": "Rises with every transition but promotion."
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
                    "working",
                    "completed",
                    "rejected",
                    "cancelRequested"
                  ],
                  "type": "string",
                  "description": "`cancelRequested`: it goes on working, and its holder is to stop."
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
            "description": "The last ones since its enqueue, at most 16, the oldest first."
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
            "description": "Who works on it, or did last, where it said so."
          },
          "progress": {
            "description": "As its holder last told it."
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
            "description": "It was cancelled while it was worked on."
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
          "result": {},
          "encoding": {
            "const": "base64",
            "description": "The result is bytes, in base64."
          },
          "error": {},
          "errorEncoding": {
            "const": "base64",
            "description": "The error is bytes, in base64."
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
            "description": "`working`: its holder learns of it at the next extend or settle."
          }
        },
        "required": [
          "id",
          "state"
        ]
      },
      "ListedTask": {
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
              "cancelled"
            ],
            "type": "string",
            "description": "Why it is rejected."
          },
          "attempt": {
            "type": "integer",
            "minimum": 0,
            "description": "Deliveries so far."
          },
          "charged": {
            "type": "integer",
            "minimum": 0,
            "description": "Those that count towards maxAttempts."
          },
          "lease": {
            "type": "integer",
            "minimum": 0,
            "description": "Number of its latest lease; 0 before the first."
          },
          "requeues": {
            "type": "integer",
            "minimum": 0,
            "description": "How often a holder requeued it."
          },
          "version": {
            "type": "integer",
            "minimum": 0,
            "description": "Rises with every transition but promotion."
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
                    "working",
                    "completed",
                    "rejected",
                    "cancelRequested"
                  ],
                  "type": "string",
                  "description": "`cancelRequested`: it goes on working, and its holder is to stop."
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
            "description": "The last ones since its enqueue, at most 16, the oldest first."
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
            "description": "Who works on it, or did last, where it said so."
          },
          "progress": {
            "description": "As its holder last told it."
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
            "description": "It was cancelled while it was worked on."
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
          "payload": {
            "description": "Where payloads were asked for, and the task still has one."
          },
          "payloadEncoding": {
            "const": "base64",
            "description": "The payload is bytes, in base64."
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
          "enqueuedAt"
        ]
      },
      "ListedTasks": {
        "type": "object",
        "properties": {
          "tasks": {
            "type": "array",
            "items": {
              "$ref": "#/components/schemas/ListedTask"
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
            "description": "Where the next page begins; null on the last."
          },
          "unreadable": {
            "type": "integer",
            "minimum": 0,
            "description": "Tasks left out because a newer release of Sluice wrote their records, or because those are broken."
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
      "Redriven": {
        "type": "object",
        "properties": {
          "redriven": {
            "type": "integer",
            "minimum": 0,
            "description": "With `dryRun`, how many would be."
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
            "description": "Of the ids that were given, those that were not redriven."
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
            "description": "Call again with it to go on; null where nothing is left to do."
          },
          "unreadable": {
            "type": "integer",
            "minimum": 0,
            "description": "Tasks left out because a newer release of Sluice wrote their records, or because those are broken."
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
            "description": "Call again with it to go on; null where nothing is left to do."
          },
          "unreadable": {
            "type": "integer",
            "minimum": 0,
            "description": "Tasks left out because a newer release of Sluice wrote their records, or because those are broken."
          }
        },
        "required": [
          "purged",
          "cursor",
          "unreadable"
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
                  "description": "When it was last known to be in use, to some minutes, epoch ms."
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
            "description": "Where the next page begins; null on the last."
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
            "description": "How long ago the task was enqueued that is next in line, ms; null if none is pending. It is the greater age of two: the next task without a group or priority, and the next one with. Tasks that their group's limit holds count only if no other task waits."
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
            "description": "When the next delayed task is due or the next lease ends, epoch ms."
          },
          "broken": {
            "type": "integer",
            "minimum": 0,
            "description": "Entries without a usable record, put aside by a pull; 0 in a sound queue."
          },
          "workers": {
            "type": "integer",
            "minimum": 0,
            "description": "Workers that pull from it and are not silent."
          },
          "paused": {
            "type": "boolean",
            "description": "True while a pull gives nothing."
          }
        },
        "required": [
          "queue",
          "pending",
          "delayed",
          "working",
          "rejected",
          "oldestAge",
          "nextDueAt",
          "broken",
          "workers",
          "paused"
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
            "description": "Most tasks that are worked on at once; null: no limit."
          },
          "rate": {
            "anyOf": [
              {
                "type": "object",
                "properties": {
                  "max": {
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
                  "max",
                  "per"
                ]
              },
              {
                "type": "null"
              }
            ],
            "description": "Most tasks that are pulled in any such period; null: no limit."
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
            "description": "Most tasks that are pending before an enqueue is refused; null: no limit."
          },
          "events": {
            "type": "boolean",
            "description": "Whether what happens to tasks is published."
          },
          "statistics": {
            "type": "boolean",
            "description": "Whether what happens to tasks is counted."
          }
        },
        "required": [
          "paused",
          "maxWorking",
          "rate",
          "maxPending",
          "events",
          "statistics"
        ]
      },
      "GroupSettings": {
        "type": "object",
        "properties": {
          "weight": {
            "type": "integer",
            "minimum": 0,
            "description": "Its share of the queue beside those of other groups."
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
            "description": "Most tasks that are worked on at once; null: no limit."
          },
          "rate": {
            "anyOf": [
              {
                "type": "object",
                "properties": {
                  "max": {
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
                  "max",
                  "per"
                ]
              },
              {
                "type": "null"
              }
            ],
            "description": "Most tasks that are pulled in any such period; null: no limit."
          }
        },
        "required": [
          "weight",
          "maxWorking",
          "rate"
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
          "weight": {
            "type": "integer",
            "minimum": 0,
            "description": "Its share of the queue beside those of other groups."
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
            "description": "Most tasks that are worked on at once; null: no limit."
          },
          "rate": {
            "anyOf": [
              {
                "type": "object",
                "properties": {
                  "max": {
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
                  "max",
                  "per"
                ]
              },
              {
                "type": "null"
              }
            ],
            "description": "Most tasks that are pulled in any such period; null: no limit."
          },
          "ready": {
            "type": "integer",
            "minimum": 0,
            "description": "Tasks that a pull may give."
          },
          "working": {
            "type": "integer",
            "minimum": 0
          },
          "held": {
            "type": "integer",
            "minimum": 0,
            "description": "Tasks that wait for the group's own limits."
          }
        },
        "required": [
          "queue",
          "group",
          "weight",
          "maxWorking",
          "rate",
          "ready",
          "working",
          "held"
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
            "description": "False where the queue keeps no statistics: all counts are then 0."
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
                "deleted": {
                  "type": "integer",
                  "minimum": 0
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
                "deleted"
              ]
            },
            "description": "The last 60, the oldest first; the last one is not over yet."
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
              "deleted"
            ],
            "description": "Tasks a minute, the mean of the last five minutes that are over."
          }
        },
        "required": [
          "queue",
          "on",
          "minutes",
          "perMinute"
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
                  "description": "Milliseconds, as it told; absent: it is never failed."
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
                  "description": "Its last pull or heartbeat, epoch ms; null where it was failed and some of its tasks are still to be taken."
                },
                "silentAt": {
                  "type": "integer",
                  "minimum": 0,
                  "description": "When it is failed, or leaves the list, unless it shows a sign of life before, epoch ms."
                },
                "working": {
                  "type": "integer",
                  "minimum": 0,
                  "description": "How many tasks it has."
                },
                "tasks": {
                  "type": "array",
                  "items": {
                    "$ref": "#/components/schemas/TaskId"
                  },
                  "description": "Their ids, at most 100, the first taken first."
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
            "description": "Redis's time, epoch ms."
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
            "description": "Where the next page begins; null on the last."
          }
        },
        "required": [
          "workers",
          "now",
          "cursor"
        ]
      },
      "HeartbeatAnswer": {
        "type": "object",
        "properties": {
          "leases": {
            "type": "integer",
            "minimum": 0,
            "description": "How many tasks the worker has."
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
            "description": "Until when all their leases last at least, epoch ms; null where it has none."
          },
          "cancelRequested": {
            "type": "array",
            "items": {
              "$ref": "#/components/schemas/TaskId"
            },
            "description": "Those that were cancelled while it works on them: stop with them."
          },
          "lost": {
            "type": "array",
            "items": {
              "$ref": "#/components/schemas/TaskId"
            },
            "description": "If receipts were sent: ids of tasks that are not, or no longer, its own. Stop working on them."
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
            "description": "Tasks that became pending again: at the front, or at the back of their group if they have a group or a priority."
          },
          "rejected": {
            "type": "integer",
            "minimum": 0,
            "description": "Tasks that had no attempt left, or were to be cancelled."
          },
          "more": {
            "type": "boolean",
            "description": "True where the limit was reached: call again for the rest."
          }
        },
        "required": [
          "name",
          "returned",
          "rejected",
          "more"
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
            "description": "Its first occurrence, epoch ms."
          },
          "until": {
            "type": "integer",
            "minimum": 0,
            "description": "After which it does not occur any more, epoch ms."
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
            "description": "Its next occurrence, epoch ms; null while it is paused, and once there is none any more."
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
            "description": "The last occurrence that was enqueued, epoch ms; null before the first."
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
            "description": "Its first occurrence, epoch ms."
          },
          "until": {
            "type": "integer",
            "minimum": 0,
            "description": "After which it does not occur any more, epoch ms."
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
            "description": "Its next occurrence, epoch ms; null while it is paused, and once there is none any more."
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
            "description": "The last occurrence that was enqueued, epoch ms; null before the first."
          },
          "created": {
            "type": "boolean",
            "description": "False where there was a schedule of that name, which is now as told."
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
            "description": "Its first occurrence, epoch ms."
          },
          "until": {
            "type": "integer",
            "minimum": 0,
            "description": "After which it does not occur any more, epoch ms."
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
            "description": "Its next occurrence, epoch ms; null while it is paused, and once there is none any more."
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
            "description": "The last occurrence that was enqueued, epoch ms; null before the first."
          },
          "payload": {},
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
          "payload"
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
            "description": "Where the next page begins; null on the last."
          }
        },
        "required": [
          "schedules",
          "cursor"
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
            "description": "Expired leases whose task had no attempt left."
          },
          "expired": {
            "type": "integer",
            "minimum": 0,
            "description": "Records whose time was over."
          },
          "more": {
            "type": "boolean",
            "description": "Whether the budget ended the sweep with work left: call again."
          },
          "scheduled": {
            "type": "integer",
            "minimum": 0,
            "description": "Occurrences of schedules that were enqueued."
          },
          "woken": {
            "type": "integer",
            "minimum": 0,
            "description": "Queues of which a consumer was woken."
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
            "description": "Queues whose sweep failed, and why; the others were swept."
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
            "description": "Queues that were looked at to their end."
          },
          "entries": {
            "type": "integer",
            "minimum": 0,
            "description": "Entries that were looked at; a task is looked at wherever it stands."
          },
          "faults": {
            "type": "array",
            "items": {
              "type": "object",
              "properties": {
                "queue": {
                  "type": "string"
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
                  "description": "Some of them: of tasks, or names of groups, workers and control fields."
                }
              },
              "required": [
                "queue",
                "fault",
                "count",
                "ids"
              ]
            },
            "description": "What was found and repaired; empty where everything is sound. `record_newer` is left as it is."
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
            "description": "Queues that could not be looked at, or not to their end, and why."
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
            "description": "Where to go on; null where all has been looked at."
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
            "description": "Stable; what a program should look at."
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
            "description": "Names this occurrence in the server's log."
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
          "detail": "The token does not have the scope that the route needs, or is not valid for this queue."
        }
      },
      "not_found": {
        "summary": "Not found",
        "value": {
          "type": "/docs#not_found",
          "title": "Not found",
          "status": 404,
          "code": "not_found",
          "detail": "There is no task with this id, or no schedule with this name. A task is also not found after its record has expired."
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
      "still_working": {
        "summary": "Queue has working tasks",
        "value": {
          "type": "/docs#still_working",
          "title": "Queue has working tasks",
          "status": 409,
          "code": "still_working",
          "detail": "The queue was not deleted because some of its tasks are working. Pause the queue and wait, or delete it with `force=true`."
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
          "detail": "The server has an error of its own. Its log has the details under the same `instance`."
        }
      },
      "unsupported": {
        "summary": "Not supported here",
        "value": {
          "type": "/docs#unsupported",
          "title": "Not supported here",
          "status": 501,
          "code": "unsupported",
          "detail": "The server's connection to Redis cannot subscribe to a channel, so it has no events."
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
      "newer_schema": {
        "summary": "Record of a newer release",
        "value": {
          "type": "/docs#newer_schema",
          "title": "Record of a newer release",
          "status": 503,
          "code": "newer_schema",
          "detail": "A newer release of Sluice wrote this record. Nothing was changed. Deploy that release here too."
        }
      },
      "auth_not_configured": {
        "summary": "No token is configured",
        "value": {
          "type": "/docs#auth_not_configured",
          "title": "No token is configured",
          "status": 503,
          "code": "auth_not_configured",
          "detail": "The server has no SLUICE_TOKENS and, for cron, no CRON_SECRET. It accepts no request until one is set."
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
        "description": "Of a stream: the last `id` of an earlier one, a number, to go on behind it. Browsers send it by themselves. Anything else counts as none.",
        "schema": {
          "type": "string"
        }
      },
      "Idempotency-Key": {
        "name": "Idempotency-Key",
        "in": "header",
        "required": false,
        "description": "Made by you: 1 to 255 visible ASCII characters, a new one for each new request. An enqueue is remembered as long as its tasks are known; the same key with other tasks is refused with `idempotency_key_reused`. A pull with a used key gets again those of its tasks that are still under its lease; if the first found nothing, it stays empty. Pausing, resuming, changing settings, deleting a queue, and changes of its schedules are remembered for five minutes, the last 16 of a queue: a second request with the same key changes nothing, whatever its body. Settlements are known by their receipts; the key only keeps a late copy from replacing newer progress. Other requests ignore the key: a copy of a sweep, redrive or purge goes on where the first stopped.",
        "schema": {
          "type": "string",
          "pattern": "^[!-~]{1,255}$"
        }
      }
    },
    "headers": {
      "Location": {
        "description": "The task; for one task only.",
        "schema": {
          "type": "string"
        }
      },
      "WWW-Authenticate": {
        "description": "That a bearer token is wanted, and why.",
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
        "description": "`forbidden`: The token does not have the scope that the route needs, or is not valid for this queue.",
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
        "description": "`internal`: The server has an error of its own. Its log has the details under the same `instance`.",
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
      "redis_quota-or-newer_schema-or-auth_not_configured-or-misconfigured": {
        "description": "`redis_quota`: The Redis account has used up its quota of requests.\n\n`newer_schema`: A newer release of Sluice wrote this record. Nothing was changed. Deploy that release here too.\n\n`auth_not_configured`: The server has no SLUICE_TOKENS and, for cron, no CRON_SECRET. It accepts no request until one is set.\n\n`misconfigured`: The server's environment is incomplete or invalid. `detail` names the variable.",
        "content": {
          "application/problem+json": {
            "schema": {
              "$ref": "#/components/schemas/Problem"
            },
            "examples": {
              "redis_quota": {
                "$ref": "#/components/examples/redis_quota"
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
      "not_found": {
        "description": "`not_found`: There is no task with this id, or no schedule with this name. A task is also not found after its record has expired.",
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
      "unsupported": {
        "description": "`unsupported`: The server's connection to Redis cannot subscribe to a channel, so it has no events.",
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
      "still_working": {
        "description": "`still_working`: The queue was not deleted because some of its tasks are working. Pause the queue and wait, or delete it with `force=true`.",
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
      "redis_quota-or-misconfigured": {
        "description": "`redis_quota`: The Redis account has used up its quota of requests.\n\n`misconfigured`: The server's environment is incomplete or invalid. `detail` names the variable.",
        "content": {
          "application/problem+json": {
            "schema": {
              "$ref": "#/components/schemas/Problem"
            },
            "examples": {
              "redis_quota": {
                "$ref": "#/components/examples/redis_quota"
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
