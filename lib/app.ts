import { App, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks } from 'cdk-nag';
import { contextConfiguration } from './config.ts';
import { addStage } from './stage.ts';
import { ConfigurationError } from './stage-files.ts';

/** Makes the CDK app of the stage that the context names, judged by cdk-nag. A wrong stage file ends the program with its message. */
export function makeApp(): void {
  const app = new App();
  try {
    addStage(app, contextConfiguration(app.node.getAllContext()));
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    console.error(error.message);
    process.exit(1);
  }
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
}
