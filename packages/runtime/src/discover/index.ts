export { DIAGNOSTIC_CODES, formatDiagnostic, sortDiagnostics } from "./diagnostic.ts";
export type { Diagnostic, DiagnosticCode } from "./diagnostic.ts";
export { discoverMember } from "./discover-member.ts";
export type { DiscoveredMember, DiscoverOptions } from "./discover-member.ts";
export type { DiscoveredModule, DiscoveredNode, NamedModule } from "./discover-node.ts";
export { discoverWorkspace } from "./discover-workspace.ts";
export type { Workspace, WorkspaceMember } from "./discover-workspace.ts";
export { relativeTo, reportTo } from "./report.ts";
export type { Report } from "./report.ts";
