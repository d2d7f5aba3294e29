/** Version of the runtime, as `session.started` names it; a test holds it equal to package.json. */
export const VERSION = "0.1.0";
