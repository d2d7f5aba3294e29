/** What files at `agent/sandbox.ts` import from `eve/sandbox`. */
export { defineSandbox } from "../define/define-sandbox.ts";
export type {
  RunOptions,
  RunResult,
  Sandbox,
  SandboxDefinition,
  SandboxEntry,
  SandboxOptions,
  SandboxProvider,
  SandboxRequest,
  SeedFile,
} from "../define/define-sandbox.ts";
export { localProvider } from "./local-provider.ts";
