import type { Draft } from "./draft.ts";
import type { Task } from "./state.ts";
import { working } from "./answer.ts";
import { tasksNote } from "./text.ts";

const MAX_NOTED_IDLE_TASKS = 10;

/** Appends the `[Tasks]` note when what it says has changed (§6.9). */
export function noteTasks(draft: Draft): void {
  const lines = (tasks: readonly Task[]): { taskId: string; tool: string }[] =>
    tasks.map(({ taskId, tool }) => ({ taskId, tool }));
  const idle = Object.values(draft.state.tasks)
    .filter((task) => task.status === "idle")
    .toSorted((a, b) => b.used - a.used)
    .slice(0, MAX_NOTED_IDLE_TASKS);
  const busy = working(draft);
  const key = [...busy.map((task) => `+${task.taskId}`), ...idle.map((task) => `-${task.taskId}`)].join(" ");
  if (key === draft.state.notedTasks) return;
  draft.emit({ public: false, type: "tasks.noted", data: { key, text: tasksNote(lines(busy), lines(idle)) } });
}
