import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { scriptedModel } from "../testing/index.ts";
import { offlineModel } from "./offline-model.ts";
import { describeModel, resolveModel } from "./resolve-model.ts";

const ID = "anthropic/claude-opus-5.5";
const OFFLINE = { modelId: "eve/offline", offline: true };

describe("resolveModel", () => {
  it.each([
    [undefined, {}],
    [undefined, { AI_GATEWAY_API_KEY: "key" }],
    [ID, {}],
    [ID, { AI_GATEWAY_API_KEY: "" }],
  ])("answers %s with %j by the offline model", async (model, env) => {
    const { model: instance, ...facts } = await resolveModel(model, env);
    expect(facts).toEqual(OFFLINE);
    expect(instance).toMatchObject({ provider: "eve", modelId: "offline" });
    expect(describeModel(model, env)).toEqual(OFFLINE);
  });

  it.each([{ AI_GATEWAY_API_KEY: "key" }, { VERCEL_OIDC_TOKEN: "token" }])(
    "gives an id to the gateway with %j",
    async (env) => {
      const { model, ...facts } = await resolveModel(ID, env);
      expect(facts).toEqual({ modelId: ID, offline: false });
      expect(model).toMatchObject({ provider: "gateway", modelId: ID });
      expect(describeModel(ID, env)).toEqual(facts);
    },
  );

  it("keeps an instance as it is", async () => {
    const model = scriptedModel([]);
    expect(await resolveModel(model, {})).toEqual({ model, modelId: "scripted/script", offline: false });
    expect(describeModel(offlineModel(), { AI_GATEWAY_API_KEY: "key" })).toEqual(OFFLINE);
  });

  it("does not load `ai` without a gateway call", () => {
    const file = fileURLToPath(new URL("./resolve-model.ts", import.meta.url));
    const script = `
      import { registerHooks } from "node:module";
      const loaded = [];
      registerHooks({ resolve(name, context, next) { loaded.push(name); return next(name, context); } });
      const { resolveModel } = await import(${JSON.stringify(file)});
      await resolveModel("a/b", {});
      console.log(JSON.stringify(loaded.filter((name) => !name.startsWith(".") && !name.startsWith("/"))));`;
    const output = execFileSync(process.execPath, ["--input-type=module", "--experimental-strip-types", "-e", script], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    expect(JSON.parse(output)).toEqual([]);
  });
});
