import { describeHost } from "../conformance.fixture.ts";
import { createSqliteWorld } from "./world.fixture.ts";

describeHost("sqlite", async () => createSqliteWorld());
