import { randomInt } from "node:crypto";
import { monotonicFactory } from "ulid";

/** Node draws small numbers from a pool; the library's own source asks the system for each character. */
const random = (): number => randomInt(0x1_0000_0000) / 0x1_0000_0000;

/** A ULID: unique, and later than every one that this process made before. */
export const newUlid: () => string = monotonicFactory(random);
