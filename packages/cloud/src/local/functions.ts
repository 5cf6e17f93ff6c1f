/** Exports the parts that run a single function, for programs that measure it or connect it to other emulators. */
export { eventOf } from '../sqs/event-source.ts';
export { makeLocalFunction, makeStartLock } from './lambda/function.ts';
export { type RuntimeContext, writeRuntimeFiles } from './lambda/runtime-context.ts';
