export type { Route, ServiceBinding, ServiceConfig, WorkspaceConfig } from "./config.ts";
export { findPeers } from "./find-peers.ts";
export { toMemberName, toPeerVariable, toServiceName } from "./service-name.ts";
export { withEve } from "./with-eve.ts";
export type { WithEveOptions } from "./with-eve.ts";
