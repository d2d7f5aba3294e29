import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";

test.each(["new Error('stray')", "undefined", "{ toString() { throw 1; }, big: 1n }"])(
  "a process outlives the stray rejection %s and says so once",
  (thrown) => {
    const module = new URL("stray-rejection.ts", import.meta.url).href;
    const script = `
      import { surviveStrayRejections } from ${JSON.stringify(module)};
      for (const _ of [1, 2]) surviveStrayRejections({}, (line) => console.log(line));
      process.on("exit", (code) => console.log("ends with", code));
      setImmediate(() => console.log("alive"));
      Promise.reject(${thrown});
    `;
    const { stdout, stderr, status } = spawnSync(process.execPath, ["--input-type=module", "-e", script], {
      encoding: "utf8",
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout).toMatch(/alive[^]*ends with 0/);
    expect(stdout.match(/nobody caught it/g)).toHaveLength(1);
  },
);
