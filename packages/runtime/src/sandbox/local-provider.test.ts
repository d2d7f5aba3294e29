import { testSandboxProvider } from "./conformance.fixture.ts";
import { localProvider } from "./local-provider.ts";

testSandboxProvider("local", localProvider);
