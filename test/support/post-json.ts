import { until } from "./until.ts";

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>>;
}

export async function postJson(
  url: string,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(10_000),
  });
  return { status: response.status, headers: response.headers, body: (await response.json()) as Answer["body"] };
}

/** Sends the same request until it is accepted, as a client does whose server may go away. */
export function postUntilAccepted(url: string, body: unknown, options?: { timeoutMs?: number }): Promise<Answer> {
  return until(
    `POST ${url} is accepted`,
    async () => {
      const answer = await postJson(url, body).catch(() => undefined);
      if (answer === undefined || answer.status >= 500) return undefined;
      if (answer.status !== 202)
        throw new Error(`POST ${url} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
      return answer;
    },
    options,
  );
}
