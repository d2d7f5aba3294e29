import { describe, expect, it } from "vitest";
import { toPage } from "./unavailable.ts";

describe("toPage", () => {
  it("shows every diagnostic, and nothing in it as markup", () => {
    const page = toPage({
      error: "agents/a does not build.",
      diagnostics: [
        {
          severity: "error",
          code: "SYNTAX_ERROR",
          path: `agents/a/agent/tools/"<img src=x onerror=alert(1)>'.ts`,
          line: 7,
          message: "Expected </li><script>alert(1)</script> & more",
          fix: "Correct the <syntax>.",
        },
      ],
    });
    expect(page).toContain("<code>agents/a/agent/tools/&quot;&lt;img src=x onerror=alert(1)&gt;&#39;.ts:7</code>");
    expect(page).toContain("Expected &lt;/li&gt;&lt;script&gt;alert(1)&lt;/script&gt; &amp; more");
    expect(page).toContain("Correct the &lt;syntax&gt;.");
    expect(page).not.toMatch(/<script|<img/);
  });
});
