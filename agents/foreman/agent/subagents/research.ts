import { defineWorkspaceAgent } from "eve";

// The description comes from agents/research/agent/agent.ts.
export default defineWorkspaceAgent({ name: "research" });
