/**
 * Import directions of packages/runtime/src (AGENTS.md, "Layers"). A folder may import the folders it lists, itself,
 * and the contract (`protocol/`, `errors.ts`, `version.ts`); tests may import anything.
 */
const SRC = "^packages/runtime/src";

const MAY_IMPORT = {
  // Build time: never inside a function.
  define: [],
  discover: ["define"],
  compile: ["define", "discover"],
  vercel: ["discover"],
  // `eve sessions` uses the store of a member, and serves one that does not run.
  cli: ["define", "discover", "compile", "engine", "host", "http"],
  // Run time, left to right. `engine` is pure and stands first: its own rule lets it import nothing.
  engine: ["protocol"],
  registry: ["define", "engine"],
  host: ["engine", "registry"],
  transport: ["define", "engine", "registry", "host"],
  sandbox: ["define", "engine", "registry", "host", "transport"],
  effects: ["define", "engine", "registry", "host", "transport", "sandbox", "models"],
  http: ["define", "engine", "registry", "host", "transport", "sandbox", "effects", "models", "channels"],
  // Entries that authors import.
  channels: ["define"],
  tools: ["define"],
  models: ["define", "engine"],
  testing: ["define", "engine", "models"],
  // Runs in pages: its own rule lets it import nothing.
  client: [],
};

/** Tests, and what only they import. */
const TESTS = "\\.(test|test-d|fixture)\\.ts$";

const RUN_TIME = ["engine", "registry", "host", "transport", "sandbox", "effects", "http", "models", "channels"];

const layer = (name) => ({
  name: `layer-${name}`,
  comment: `${name}/ imports only ${[...MAY_IMPORT[name], name, "protocol", "errors.ts"].join(", ")}: data flows one way.`,
  severity: "error",
  from: { path: `${SRC}/${name}/`, pathNot: TESTS },
  to: {
    path: `${SRC}/`,
    pathNot: [...MAY_IMPORT[name], name, "protocol"]
      .map((folder) => `${SRC}/${folder}/`)
      .concat(`${SRC}/(errors|version)\\.ts$`),
  },
});

/** @type {import("dependency-cruiser").IConfiguration} */
export default {
  forbidden: [
    ...Object.keys(MAY_IMPORT).map(layer),
    {
      name: "layer-unknown",
      comment: "A new folder needs a place among the layers: add it to MAY_IMPORT.",
      severity: "error",
      from: {
        path: `${SRC}/`,
        pathNot: `${SRC}/(${[...Object.keys(MAY_IMPORT), "protocol"].join("|")})/|${SRC}/[^/]+\\.ts$`,
      },
      to: {},
    },
    {
      name: "engine-is-pure",
      comment: "engine/ imports nothing outside itself at run time: it also runs in a bare vm context.",
      severity: "error",
      from: { path: `${SRC}/engine/`, pathNot: TESTS },
      to: { pathNot: `${SRC}/engine/`, dependencyTypesNot: ["type-only"] },
    },
    {
      name: "client-is-alone",
      comment: "client/ imports nothing outside itself at run time: it is bundled into pages.",
      severity: "error",
      from: { path: `${SRC}/client/`, pathNot: TESTS },
      to: { pathNot: `${SRC}/client/`, dependencyTypesNot: ["type-only"] },
    },
    {
      name: "protocol-is-the-contract",
      comment: "protocol/ and errors.ts are imported by all and import none of the layers.",
      severity: "error",
      from: { path: `${SRC}/(protocol/|errors\\.ts$|version\\.ts$)`, pathNot: TESTS },
      to: { path: `${SRC}/`, pathNot: `${SRC}/(protocol/|errors\\.ts$)` },
    },
    {
      name: "no-compiler-at-run-time",
      comment: "Nothing that runs inside a function may reach the compiler: manifests are data.",
      severity: "error",
      from: { path: `${SRC}/(${RUN_TIME.join("|")})/`, pathNot: TESTS },
      to: { path: `${SRC}/(discover|compile|cli|vercel)/|/esbuild/`, reachable: true },
    },
    {
      name: "no-tests-in-code",
      comment: "Only tests import tests and their fixtures.",
      severity: "error",
      from: { pathNot: TESTS },
      to: { path: TESTS },
    },
    {
      name: "no-cycle",
      comment: "Two modules that import each other are one module.",
      severity: "error",
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ["type-only"] } },
    },
    {
      name: "not-resolved",
      comment: "Every import exists.",
      severity: "error",
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.base.json" },
    enhancedResolveOptions: { exportsFields: ["exports"], conditionNames: ["import", "types", "node", "default"] },
  },
};
