import { AgentError } from "../errors.ts";

/** What the platform accepts as the name of a service. */
const SERVICE_NAME = /^[a-z]([a-z_-]*[a-z])?$/;
const MAX_LENGTH = 64;

/**
 * The platform's service of a member (contract §2.2). Service names take no digits and end in a letter; member
 * names have no `_`, so `_` escapes: `_a` … `_j` for 0 … 9, and `_z` for a hyphen at the end.
 *
 * @throws AgentError `CONFIG_INVALID` when the result is longer than the platform allows.
 * @example
 * toServiceName("gpt-4"); // "gpt-_e"
 */
export function toServiceName(member: string): string {
  const name = member.replace(/[0-9]/g, (digit) => `_${String.fromCharCode(A + Number(digit))}`).replace(/-$/, "_z");
  if (name.length > MAX_LENGTH || !SERVICE_NAME.test(name)) {
    throw new AgentError("CONFIG_INVALID", `agents/${member}: the platform has no service name for it.`, {
      fix: "Give the folder a shorter name with fewer digits.",
      data: { member },
    });
  }
  return name;
}

/** The member a service name was derived from, or `undefined` when it names none of ours. */
export function toMemberName(service: string): string | undefined {
  const member = service
    .replace(/_z$/, "-")
    .replace(/_([a-j])/g, (_, letter: string) => String(letter.charCodeAt(0) - A));
  return /^[a-z][a-z0-9-]{0,47}$/.test(member) && service.length <= MAX_LENGTH && toServiceName(member) === service
    ? member
    : undefined;
}

/** The variable that holds the address of a peer (contract §10.4). */
export function toPeerVariable(member: string): string {
  return `EVE_PEER_${member.toUpperCase().replaceAll("-", "_")}_URL`;
}

const A = "a".charCodeAt(0);
