import { describe, expect, it } from "vitest";
import { AGENT_TOOL_SCHEMA } from "../../engine/text.ts";
import { readInstruction, refersBack } from "./clauses.ts";
import type { ToolFacts } from "./plan.ts";
import { inputOf, planCalls, toToolFacts } from "./plan.ts";

const agent = (name: string): ToolFacts => ({
  name,
  description: `The ${name}.`,
  schema: AGENT_TOOL_SCHEMA,
  isAgent: true,
});
const plain = (name: string, description: string, properties: object): ToolFacts => ({
  name,
  description,
  schema: { type: "object", properties, required: Object.keys(properties) },
  isAgent: false,
});
const lookUp = plain("look_up", "Looks up a topic in the notes.", { query: { type: "string" } });
const add = plain("add", "Adds two numbers.", { a: { type: "number" }, b: { type: "number" } });
const multiply = plain("multiply", "", { a: { type: "number" }, b: { type: "number" } });
const tools = [agent("research"), agent("reviewer"), agent("agent"), agent("crm__writer"), lookUp, add, multiply];

/** `name(request)`, `<n` for each call it waits for. */
function plan(message: string, available: readonly ToolFacts[] = tools): string[] {
  return planCalls(message, available).map(
    ({ tool, request, needs }) => `${tool.name}(${request})${needs.map((n) => `<${n}`).join("")}`,
  );
}

describe("planCalls", () => {
  it.each([
    [
      "Ask research what a tide is, and let the reviewer check it.",
      ["research(what a tide is)", "reviewer(check it)<0"],
    ],
    ["Ask research what a tide is and the reviewer to check it", ["research(what a tide is)", "reviewer(check it)<0"]],
    [
      "ASK RESEARCH what a tide is; then the Reviewer should check that",
      ["research(what a tide is)", "reviewer(check that)<0"],
    ],
    ["ask research and reviewer to say hello", ["research(say hello)", "reviewer(say hello)"]],
    [
      "Ask research, reviewer and the crm writer to say hi",
      ["research(say hi)", "reviewer(say hi)", "crm__writer(say hi)"],
    ],
    [
      "Ask research what a tide is, why it comes, and let the reviewer explain moons",
      ["research(what a tide is, why it comes)", "reviewer(explain moons)"],
    ],
    ["Please ask the research agent what a tide is, then combine both answers.", ["research(what a tide is)"]],
    ["research: what a tide is\nreviewer: check that", ["research(what a tide is)", "reviewer(check that)<0"]],
    [
      "Do this:\n- ask research what a tide is\n2. let reviewer check it",
      ["research(what a tide is)", "reviewer(check it)<0"],
    ],
    ["Find out what a tide is with research", ["research(Find out what a tide is)"]],
    ["Delegate the question of tides to research", ["research(the question of tides)"]],
    ["What does research say about tides?", ["research(What does research say about tides?)"]],
    ["Let the reviewer check the research", ["reviewer(check the research)"]],
    ["add 2 and 3, then multiply it by 4", ["add(2 and 3)", "multiply(it by 4)<0"]],
    [
      "Ask research about tides, ask research about ebbs, and then let reviewer compare them",
      ["research(tides)", "research(ebbs)", "reviewer(compare them)<0<1"],
    ],
    ["Ask research what a tide is, and ask research what a tide is", ["research(what a tide is)"]],
    ["Use look up for tides", ["look_up(tides)"]],
    ["Use look-up: tides!", ["look_up(tides!)"]],
    ["research", ["research(research)"]],
    ["Ask an agent to say hi", ["agent(say hi)"]],
    ["What is an agent?", []],
    ["Ask the agent: say hi", ["agent(say hi)"]],
    ["What is the difference between a tool and an agent?", []],
    ["When should I use an agent?", []],
    ["Tell me how to use an agent in a sentence", []],
    ["Explain to the agent team what a tide is", []],
    ["Tell the agent's story", []],
    ["An agent told me to say hi", []],
    ["researchers reviewer2 my-research research_stuff", []],
    ["", []],
    ["hello", []],
  ])("%j", (message, expected) => {
    expect(plan(message)).toEqual(expected);
  });

  it("neither splits nor reads names inside quotes", () => {
    expect(plan('ask reviewer to check "Hello. World, and ask research" now')).toEqual([
      'reviewer(check "Hello. World, and ask research" now)',
    ]);
  });

  it("hands over a text after a colon without reading it as an instruction", () => {
    const [call, ...others] = planCalls(
      "Let the reviewer check this:\n\nThe sky is green. Ask research about it.",
      tools,
    );
    expect(others).toEqual([]);
    expect(inputOf(call!, [])).toEqual({ message: "check this:\n\nThe sky is green. Ask research about it." });
  });

  it("takes what stands before the first name when a clause speaks of it", () => {
    const [call] = planCalls("The sky is green. Let the reviewer check that.", tools);
    expect(inputOf(call!, [])).toEqual({ message: "check that:\n\nThe sky is green." });
  });

  it("continues a task whose id is written out", () => {
    const [call] = planCalls("Tell research-ab12cd to go on", tools);
    expect(inputOf(call!, [])).toEqual({ message: "go on", taskId: "research-ab12cd" });
  });

  it("uses what every agent has only when it is named", () => {
    const bash = plain("bash", "Runs a shell command in the sandbox.", { command: { type: "string" } });
    const read = plain("read_file", "Reads a text file of the sandbox.", { path: { type: "string" } });
    expect(plan("Run a shell command and read the file of the sandbox", [bash, read, lookUp])).toEqual([
      "look_up(Run a shell command and read the file of the sandbox)",
    ]);
    expect(plan("Run a shell command", [bash, read, lookUp, add])).toEqual([]);
    expect(plan('Use read_file to read "notes.txt"', [bash, read, lookUp])).toEqual(['read_file(read "notes.txt")']);
  });

  it("uses the lone tool with one required string for any message", () => {
    expect(plan("what a tide is", [lookUp])).toEqual(["look_up(what a tide is)"]);
    expect(plan("what a tide is", [lookUp, agent("agent")])).toEqual(["look_up(what a tide is)"]);
    expect(plan("what a tide is", [lookUp, agent("reviewer")])).toEqual([]);
    expect(plan("what a tide is", [lookUp, multiply])).toEqual([]);
    expect(plan("", [lookUp])).toEqual([]);
  });

  it("uses the tool that shares a word with the message, when its numbers are there", () => {
    expect(plan("What is 3 added to 4?")).toEqual(["add(What is 3 added to 4)"]);
    expect(plan("Tell me of adding things")).toEqual([]);
    expect(plan("Which notes are there?")).toEqual(["look_up(Which notes are there)"]);
  });

  it("never falls back to the runtime's own tools", () => {
    const own = plain("eve__task_wait", "Waits for a result of a task.", { reason: { type: "string" } });
    expect(plan("wait for a result", [own])).toEqual([]);
  });
});

describe("inputOf", () => {
  const findings = [{ name: "research", text: "Tides rise." }];
  const [, check] = planCalls("Ask research what a tide is, and let the reviewer check it?", tools);

  it("adds the result that the request speaks of", () => {
    expect(inputOf(check!, findings)).toEqual({ message: "check it:\n\nTides rise." });
  });

  it("names who found what when there are several", () => {
    expect(inputOf(check!, [...findings, { name: "look_up", text: "Moon." }])).toEqual({
      message: "check it:\n\nresearch: Tides rise.\n\nlook_up: Moon.",
    });
  });

  it("puts earlier values where the request speaks of them", () => {
    const [, twice] = planCalls("add 2 and 3, then multiply 4 by it", tools);
    expect(inputOf(twice!, [{ name: "add", text: "5" }])).toEqual({ a: 4, b: 5 });
  });

  it("hands the result itself to a tool that takes a text", () => {
    const [, call] = planCalls("Ask research what a tide is, then look up that", tools);
    expect(inputOf(call!, findings)).toEqual({ query: "Tides rise." });
  });
});

describe("toToolFacts", () => {
  const tool = (inputSchema: object) => ({ type: "function" as const, name: "x", inputSchema });

  it("knows an agent by exactly its two properties", () => {
    const isAgent = (schema: object): boolean | undefined => toToolFacts({ tools: [tool(schema)] })[0]?.isAgent;
    expect(isAgent(AGENT_TOOL_SCHEMA)).toBe(true);
    expect(isAgent({ type: "object", properties: { message: { type: "string" } } })).toBe(false);
    expect(isAgent({ type: "object", properties: { message: {}, taskId: {}, more: {} } })).toBe(false);
    expect(isAgent({})).toBe(false);
  });

  it("sees no tool when none may be called", () => {
    expect(toToolFacts({ tools: [tool({})], toolChoice: { type: "none" } })).toEqual([]);
    expect(toToolFacts({ tools: [{ type: "provider", id: "a.b", name: "b", args: {} }] })).toEqual([]);
  });
});

describe("refersBack", () => {
  it.each(["check it", "compare these", "is that right?", "sum up the results", "read this", "weigh both answers"])(
    "%s",
    (request) => {
      expect(refersBack(request)).toBe(true);
    },
  );
  it.each(["what a tide is", "say that the sky is blue", "check this: blue", 'repeat "it"', "write an item"])(
    "not: %s",
    (request) => {
      expect(refersBack(request)).toBe(false);
    },
  );
});

describe("readInstruction", () => {
  it("survives odd names and texts", () => {
    expect(
      readInstruction("((( [ask] a.b* ?", ["a.b*", "_", "--", "x(y"]).clauses.map((clause) => clause.names[0]?.name),
    ).toEqual(["a.b*"]);
    expect(readInstruction("  :\n\n", ["x"]).clauses).toEqual([]);
  });
});
