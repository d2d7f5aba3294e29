export { compileMember } from "./compile-member.ts";
export { isDefaultTool } from "./default-tools.ts";
export type { CompileOptions, CompileResult } from "./compile-member.ts";
