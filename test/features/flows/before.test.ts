import { beforeEach, expect, test } from "vitest";
import { Queue } from "../../../src/index.ts";
import { encryption } from "../../../src/features/encryption/aes-gcm.ts";
import { addFlow, type FlowQueue } from "../../../src/features/flows/add-flow.ts";
import { readBefore } from "../../../src/features/flows/before.ts";
import { flow } from "../../../src/features/flows/index.ts";
import { flowQueue } from "../../../src/features/flows/flow-queue.ts";
import { linked } from "../../../src/features/linked/index.ts";
import { useRig } from "../../support/rig.ts";
