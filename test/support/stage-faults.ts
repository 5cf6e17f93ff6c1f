import type { Tables } from '@emissor/cloud/dynamodb/tables';
import type { FaultPlan } from '@emissor/cloud/virtual';

/** Decides the fate of calls; a test sets it. */
export interface Fates {
  fateOf?: NonNullable<FaultPlan['fateOf']> | undefined;
}

/** The tables of a stage. A test may replace what executes commands. */
export type StageTables = { -readonly [Name in keyof Tables]: Tables[Name] };

/** Creates the faults that a test plans for a stage. */
export function makeStageFaults(faults: Fates, tables: StageTables) {
  return { dieAt, justBefore, failOnce };

  /** Has the next process of a function die at its call of this number, from 0, before or after the call has its effect. */
  function dieAt(name: string, call: number, fate: 'dies_before' | 'dies_after' = 'dies_before'): void {
    let calls = 0;
    faults.fateOf = ({ functionName }) => (functionName === name && calls++ === call ? fate : 'fine');
  }

  /** Does something just before the next call of an operation (`Put`) has its effect. It may not take time. */
  function justBefore(wanted: string, act: () => Promise<unknown>): void {
    faults.fateOf = ({ operation }) => {
      if (operation !== wanted) return 'fine';
      faults.fateOf = undefined;
      void act();
      return 'fine';
    };
  }

  /** Has the next call fail that sends such a command, after something has happened. */
  function failOnce(isMeant: (command: object) => boolean, act: () => unknown = () => undefined): void {
    const { execute } = tables;
    tables.execute = command => {
      if (!isMeant(command)) return execute(command);
      tables.execute = execute;
      act();
      throw new Error('the store is down');
    };
  }
}
