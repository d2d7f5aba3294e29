/**
 * Preloaded (`node --import`) into every process that a development supervisor starts with an IPC channel: the
 * channel closes when the supervisor is gone, however it ended, and then nothing of it must stay behind. Production
 * code never loads this.
 */
const GRACE_MS = 3000;

process.once("disconnect", () => {
  process.kill(process.pid, "SIGTERM");
  setTimeout(() => process.exit(1), GRACE_MS).unref();
});
// Listening must not keep a process alive that is otherwise done.
process.channel?.unref();
