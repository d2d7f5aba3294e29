/** Scripted models for tests; import from `eve/testing`. */
export type { ScriptedCall, ScriptedFailure, ScriptedRequest, ScriptedStep, ScriptEntry } from "./script.ts";
export { scriptedModel, type ScriptedModel, type ScriptedModelOptions } from "./scripted-model.ts";
export { statelessScript } from "./stateless-script.ts";
