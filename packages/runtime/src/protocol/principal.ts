import * as z from "zod";

/**
 * Who a turn runs as (contract §18). `authenticator` and `principalId` together identify somebody; attributes
 * are what the authenticator knew, and never hold a credential.
 */
export const principalSchema = z.object({
  authenticator: z.string().min(1).max(64),
  principalId: z.string().min(1).max(512),
  principalType: z.enum(["user", "service", "anonymous"]),
  attributes: z.record(z.string(), z.unknown()),
});

export type Principal = z.infer<typeof principalSchema>;
