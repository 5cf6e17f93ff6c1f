import { InvalidArgumentError, Option } from 'commander';
import { ConfigurationError, knownStage, type StageName } from '../../lib/stage-files.ts';

/** Returns the option of a program that works on one stage, which is deployed or is to be. */
export function stageOption(description: string): Option {
  return new Option('--stage <name>', description).makeOptionMandatory().argParser(deployableStage);
}

function deployableStage(name: string): StageName {
  if (name === 'local') throw new InvalidArgumentError('Stage local is what "npm start" runs: it is not deployed.');
  try {
    return knownStage(name);
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    throw new InvalidArgumentError(error.message);
  }
}
