import { describe } from "vitest";
import { testChildren } from "./conformance/children.fixture.ts";
import { testCommits } from "./conformance/commit.fixture.ts";
import { testDeliveries } from "./conformance/deliver.fixture.ts";
import { testEffects } from "./conformance/effects.fixture.ts";
import { testFaults } from "./conformance/faults.fixture.ts";
import { testLists } from "./conformance/list.fixture.ts";
import { testOutbox } from "./conformance/outbox.fixture.ts";
import { testRecovery } from "./conformance/recovery.fixture.ts";
import { testRemoval } from "./conformance/remove.fixture.ts";
import { testRetention } from "./conformance/retention.fixture.ts";
import { testSnapshots } from "./conformance/snapshots.fixture.ts";
import { testSteering } from "./conformance/steering.fixture.ts";
import { testStops } from "./conformance/stop.fixture.ts";
import { testStreams } from "./conformance/streams.fixture.ts";
import { testTimers } from "./conformance/timers.fixture.ts";
import { createSuite, type World } from "./conformance/world.fixture.ts";

const TOPICS = [
  testDeliveries,
  testStreams,
  testEffects,
  testSteering,
  testCommits,
  testFaults,
  testChildren,
  testOutbox,
  testTimers,
  testRecovery,
  testStops,
  testSnapshots,
  testLists,
  testRetention,
  testRemoval,
];

/** Registers what every host must do, for one implementation of a world. */
export function describeHost(name: string, createWorld: () => Promise<World>): void {
  describe(`host conformance: ${name}`, () => {
    const suite = createSuite(createWorld);
    for (const testTopic of TOPICS) testTopic(suite);
  });
}
