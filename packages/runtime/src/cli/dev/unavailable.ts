import type { IncomingMessage, ServerResponse } from "node:http";
import type { Diagnostic } from "../../discover/index.ts";
import { ERROR_CODES } from "../../errors.ts";

/** Why a member can not answer. */
export interface Unavailable {
  readonly error: string;
  readonly diagnostics: readonly Diagnostic[];
}

/** Answers 503 with the reason: JSON, or a page for a browser. */
export function answerUnavailable(request: IncomingMessage, response: ServerResponse, reason: Unavailable): void {
  if (response.headersSent || response.destroyed) return;
  // Not read: the connection ends with the answer.
  request.resume();
  const isBrowser = /\btext\/html\b/.test(request.headers.accept ?? "");
  response.writeHead(ERROR_CODES.MEMBER_UNAVAILABLE.status, {
    "content-type": `${isBrowser ? "text/html" : "application/json"}; charset=utf-8`,
    "cache-control": "no-store",
    "retry-after": "1",
    ...(isBrowser ? { "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'" } : {}),
  });
  response.end(isBrowser ? toPage(reason) : JSON.stringify(toProblem(reason)));
}

function toProblem({ error, diagnostics }: Unavailable): Readonly<Record<string, unknown>> {
  return { ok: false, error, code: "MEMBER_UNAVAILABLE", diagnostics };
}

/** A page that asks again by itself, so that it goes away when the member is repaired. */
export function toPage({ error, diagnostics }: Unavailable): string {
  const items = diagnostics.map(
    ({ path, line, code, message, fix }) =>
      `<li><code>${escape(path)}:${line}</code> <b>${escape(code)}</b><p>${escape(message)}</p><p class="fix">${escape(fix)}</p></li>`,
  );
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="refresh" content="2">
<title>${escape(error)}</title>
<style>${STYLE}</style>
<h1>${escape(error)}</h1>
${items.length === 0 ? "" : `<ol>\n${items.join("\n")}\n</ol>\n`}<footer>This page asks again every two seconds.</footer>
</html>
`;
}

const STYLE = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 46rem; margin: 3rem auto; padding: 0 1rem; }
h1 { font-size: 1.25rem; }
ol { padding: 0; list-style: none; }
li { border-left: 3px solid #d33; margin: 1rem 0; padding: .25rem 1rem; }
code { font: .95rem ui-monospace, monospace; overflow-wrap: anywhere; }
b { font-size: .75rem; opacity: .7; }
p { margin: .25rem 0; white-space: pre-wrap; overflow-wrap: anywhere; }
.fix { opacity: .8; }
footer { font-size: .85rem; opacity: .6; }
`;

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (char) => ESCAPES[char]!);
}
