/** Exports functions without a cloud, for programs that measure a function or run it on another engine. */
export { eventOf } from '../sqs/event-source.ts';
export { makeLocalFunction, makeStartLock } from './lambda/function.ts';
export { type RuntimeContext, writeRuntimeFiles } from './lambda/runtime-context.ts';
