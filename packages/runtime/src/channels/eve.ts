import { brand } from "../define/brand.ts";
import { checkOptions } from "../define/check-options.ts";
import { localDev, type Authenticator } from "./auth.ts";

export interface EveChannelOptions {
  /** Tried in order; the first that returns a principal decides. Default `[localDev()]`: production is closed. */
  readonly auth?: readonly Authenticator[];
}

export interface EveChannelDefinition {
  readonly auth: readonly Authenticator[];
}

/**
 * Configures the HTTP API of a member in `agent/channels/eve.ts` (contract §18).
 *
 * @example
 * export default eveChannel({ auth: [httpBasic({ username: "team", password: process.env.TEAM_PASSWORD })] });
 */
export function eveChannel(options: EveChannelOptions = {}): EveChannelDefinition {
  checkOptions("eveChannel", options, { auth: "functions?" });
  return brand("channel", { auth: Object.freeze([...(options.auth ?? [localDev()])]) });
}
