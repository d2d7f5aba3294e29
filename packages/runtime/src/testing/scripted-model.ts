import type { LanguageModelV4 } from "@ai-sdk/provider";
import { AgentError } from "../errors.ts";
import { createPlayer } from "./play-step.ts";
import type { ScriptEntry, ScriptedRequest } from "./script.ts";
import { describeEntry, toRequest } from "./script.ts";

export interface ScriptedModelOptions {
  readonly modelId?: string;
  /** The hook of the test runner (`onTestFinished` of vitest): the test fails when the script was not played. */
  readonly onTestFinished?: (check: () => void) => void;
}

export interface ScriptedModel extends LanguageModelV4, Disposable {
  /** Every call the model got, in order. */
  readonly requests: readonly ScriptedRequest[];
  /** Steps not played yet. */
  readonly remaining: number;
  /** Throws when steps are left, when the model was called too often, or when an `expect` failed. */
  assertConsumed(): void;
}

/**
 * A model that plays a script, one step a call, and fails the test that does not play all of it: through
 * `onTestFinished`, at the end of a `using` block, or by `assertConsumed()`. A retried call takes the next step.
 *
 * @throws AgentError `CONFIG_INVALID` from a call beyond the script, and from `assertConsumed()`.
 * @example
 * using model = scriptedModel([{ calls: [{ name: "add", input: { a: 1, b: 2 } }] }, { text: "3" }]);
 * const model = scriptedModel([{ text: "hello" }], { onTestFinished });
 */
export function scriptedModel(script: readonly ScriptEntry[], options: ScriptedModelOptions = {}): ScriptedModel {
  const requests: ScriptedRequest[] = [];
  const violations: unknown[] = [];
  const modelId = options.modelId ?? "script";

  const player = createPlayer(
    { provider: "scripted", modelId },
    (callOptions) => {
      const request = toRequest(callOptions, requests.length);
      requests.push(request);
      const entry = script[request.index];
      if (entry !== undefined) return { entry, request };
      throw new AgentError(
        "CONFIG_INVALID",
        `The script of "${modelId}" has ${count(script.length)}, and the model was called again (call ${requests.length}).`,
        {
          fix: "Add a step to the script, or find out why the model is called once more.",
        },
      );
    },
    (error) => violations.push(error),
  );

  const assertConsumed = (): void => {
    if (violations.length > 0) throw violations[0];
    if (requests.length > script.length) {
      throw new AgentError(
        "CONFIG_INVALID",
        `The script of "${modelId}" has ${count(script.length)}, and the model was called ${requests.length} times.`,
        {
          fix: "Add the missing steps, or find out why the model is called so often.",
        },
      );
    }
    if (requests.length === script.length) return;
    const left = script.slice(requests.length).map((entry, at) => describeEntry(entry, requests.length + at));
    throw new AgentError(
      "CONFIG_INVALID",
      `The script of "${modelId}" was not played to its end; left over:\n${left.join("\n")}`,
      {
        fix: "Remove these steps, or find out why the model is not called for them.",
      },
    );
  };
  options.onTestFinished?.(assertConsumed);

  return {
    ...player,
    requests,
    get remaining() {
      return Math.max(0, script.length - requests.length);
    },
    assertConsumed,
    [Symbol.dispose]: assertConsumed,
  };
}

function count(steps: number): string {
  return steps === 1 ? "1 step" : `${steps} steps`;
}
