import { expect, it } from "vitest";
import { findSession } from "./find-session.ts";
import { readerOf } from "./store.fixture.ts";

const reader = readerOf(
  ["ses_01AB", "ses_01AC", "ses_01ACD", "ses_02", "ses_03", "ses_04"].map((sessionId) => ({ sessionId })),
);

it.each([
  ["ses_01AB", "ses_01AB"],
  ["ses_02", "ses_02"],
  ["ses_01ACD", "ses_01ACD"],
  // Whole, though others begin so.
  ["ses_01AC", "ses_01AC"],
  ["01ab", "ses_01AB"],
  ["03", "ses_03"],
])("%s is %s", async (given, sessionId) => {
  expect(await findSession(reader, given)).toMatchObject({ sessionId });
});

it.each([
  ["ses_9", "NOT_FOUND", /no session "ses_9"/],
  ["ses_02x", "NOT_FOUND", /no session "ses_02x"/],
  ["%", "NOT_FOUND", /no session "%"/],
  ["ses_01", "BAD_REQUEST", /"ses_01": ses_01AB, ses_01AC, ses_01ACD\.$/],
  ["ses_", "BAD_REQUEST", /: ses_01AB, ses_01AC, ses_01ACD, ses_02, …\.$/],
])("%s is %s", async (given, code, message) => {
  await expect(findSession(reader, given)).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
});
