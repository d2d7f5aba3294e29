export { compileMember } from "./compile-member.ts";
export type { CompileOptions, CompileResult } from "./compile-member.ts";
